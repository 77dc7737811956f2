"""Changing a setting so that the record says so.

Owns that an edit of the settings is a sealed step. Must not know which settings there are.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.errors import FormatError
from tallystick.journal.home import Home
from tallystick.operations import config
from tallystick.operations.config_change import Settings, changes, settings_now
from tallystick.operations.live import RECORDER
from tallystick.operations.scribe import Scribe


def set_setting(home: Home, key: str, text: str) -> config.Set:
    """Set a key to what a person typed, and seal that it was. Raises what config.set_setting raises."""
    return _recorded(home, lambda: config.set_setting(home, key, text))


def unset_setting(home: Home, key: str) -> config.Set:
    """Give a key its default back, and seal that it was. Raises what config.unset_setting raises."""
    return _recorded(home, lambda: config.unset_setting(home, key))


def _recorded(home: Home, change: Callable[[], config.Set]) -> config.Set:
    before = _before(home)
    changed = change()
    if before is not None and home.exists:  # where nothing is recorded, this need not be either
        steps = list(changes(home, before, settings_now(home)))
        if steps:
            with Scribe(home) as scribe:
                scribe.take(RECORDER, steps)
    return changed


def _before(home: Home) -> Settings | None:
    """The settings before the change; None where a value that is no value is about to be mended."""
    try:
        return settings_now(home)
    except FormatError:
        return None

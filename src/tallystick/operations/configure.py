"""Changing a setting so that the record says so.

Owns that an edit of the settings is a sealed step. Must not know which settings there are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from tallystick.journal.durable import one_writer
from tallystick.journal.home import Home
from tallystick.operations import config
from tallystick.operations.config_change import changes
from tallystick.operations.own_session import RECORDER
from tallystick.operations.scribe import Scribe


def set_setting(home: Home, key: str, text: str) -> config.Set:
    """Set a key to what a person typed, and seal that it was. Raises what config.set_setting raises."""
    return _recorded(home, key, lambda: config.set_setting(home, key, text))


def unset_setting(home: Home, key: str) -> config.Set:
    """Give a key its default back, and seal that it was. Raises what config.unset_setting raises."""
    return _recorded(home, key, lambda: config.unset_setting(home, key))


def _recorded(home: Home, key: str, change: Callable[[], config.Set]) -> config.Set:
    # Several at once would each write the file without what the others set.
    with one_writer(home.folder) if home.folder.is_dir() else nullcontext():
        before = config.standing_value(home, key)
        changed = change()
        steps = list(changes(home, {key: before}, {key: changed.value}))
    if steps and home.exists:  # where nothing is recorded, this need not be either
        with Scribe(home) as scribe:
            scribe.take(RECORDER, steps)
    return changed

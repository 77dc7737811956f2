"""Changing a setting so that the record says so.

Owns that an edit of the settings is a sealed step. Must not know which settings there are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from tallystick.journal.durable import one_writer
from tallystick.journal.home import Home
from tallystick.recording.own_session import RECORDER
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.settings_change import changes
from tallystick.workspace import settings


def set_setting(home: Home, key: str, text: str) -> settings.Set:
    """Set a key to what a person typed, and seal that it was. Raises what config.set_setting raises."""
    return _recorded(home, key, lambda: settings.set_setting(home, key, text))


def unset_setting(home: Home, key: str) -> settings.Set:
    """Give a key its default back, and seal that it was. Raises what config.unset_setting raises."""
    return _recorded(home, key, lambda: settings.unset_setting(home, key))


def _recorded(home: Home, key: str, change: Callable[[], settings.Set]) -> settings.Set:
    # Several at once would each write the file without what the others set.
    with one_writer(home.folder) if home.folder.is_dir() else nullcontext():
        before = settings.standing_value(home, key)
        changed = change()
        steps = list(changes(home, {key: before}, {key: changed.value}))
    if steps and home.exists:  # where nothing is recorded, this need not be either
        with SessionWriter(home) as session_writer:
            session_writer.take(RECORDER, steps)
    return changed

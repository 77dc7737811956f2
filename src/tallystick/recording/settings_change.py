"""That a setting came to mean something else: the step that it becomes, and noticing what was written by hand.

Owns the form, and that one change is one step anyone who notices it: its id is the moment at which the file was
written. Must not know what a setting does, nor who records the step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tallystick.errors import FormatError
from tallystick.journal.home import Home
from tallystick.model.step import Json, Source, Step
from tallystick.recording.own_session import SESSION
from tallystick.workspace.settings import Value, read_settings

Settings = Mapping[str, Value]
"""The values in force, by key."""


def settings_now(home: Home) -> Settings:
    """All settings as they are in force. Raises what `read_settings` raises."""
    return {entry.setting.key: entry.value for entry in read_settings(home)[0]}


def changes(home: Home, before: Settings, after: Settings) -> Iterator[Step]:
    """What the recorder's own session says of settings that changed with the last writing of the file."""
    written = _written(home)
    for key in sorted(after.keys() & before.keys()):
        if before[key] != after[key]:
            said = {"content.before": _json(before[key]), "content.after": _json(after[key])}
            yield Step(
                session=SESSION,
                type="config_change",
                source=Source.WATCH,
                source_id=f"config/{written}/{key}",
                meta={"key": key},
                values=said,
            )


class SettingsWatch:
    """Notices that the file of a store's settings was written, by whomever."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._written = _written(home)
        self._known = self._read()

    def _read(self) -> Settings | None:
        try:
            return settings_now(self._home)
        except FormatError:
            return None

    def changed(self) -> list[Step]:
        """What changed since the last time. Of a file that cannot be read nothing is said until it can."""
        written = _written(self._home)
        if written == self._written:
            return []
        now = self._read()
        if now is None:
            return []
        before, self._known, self._written = self._known, now, written
        if before is not None:
            return list(changes(self._home, before, now))
        return []


def _written(home: Home) -> int:
    """When the file was written, in nanoseconds since 1970; 0 where none exists."""
    try:
        return home.config.stat().st_mtime_ns
    except OSError:
        return 0


def _json(value: Value) -> Json:
    if isinstance(value, tuple):
        return list(value)
    return value

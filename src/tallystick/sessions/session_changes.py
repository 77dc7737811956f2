"""What a program has changed of a session: the members that differ from how it got them.

Owns the comparison, in maps key by key, and putting it into what is kept by now, which others may have changed too. Must
not know how a store keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.model.step import Json
from tallystick.sessions.session_log import Log

MAPS = ("inputs", "state", "outputs")
_TEXTS = ("status", "result", "error")


class _MapChange(msgspec.Struct, frozen=True):
    """Keys of a map that were set, and those that were removed."""

    put: Mapping[str, Json]
    removed: frozenset[str]

    def apply(self, there: Mapping[str, Json]) -> dict[str, Json]:
        """A map with this change in it."""
        return {key: value for key, value in there.items() if key not in self.removed} | dict(self.put)


class Changes(msgspec.Struct, frozen=True):
    """What was changed; nothing, if that is empty."""

    texts: Mapping[str, str]
    maps: Mapping[str, _MapChange]

    def __bool__(self) -> bool:
        return bool(self.texts or self.maps)

    def apply(self, there: Log) -> Log:
        """A session as it is kept, with the changes in it."""
        maps = {name: change.apply(getattr(there, name)) for name, change in self.maps.items()}
        return msgspec.structs.replace(there, **self.texts, **maps)


def changes(before: Log, now: Log) -> Changes:
    """What differs between two states of one session."""
    texts = {name: str(getattr(now, name)) for name in _TEXTS if getattr(now, name) != getattr(before, name)}
    maps = {name: _change(getattr(before, name), getattr(now, name)) for name in MAPS}
    return Changes(texts, {name: change for name, change in maps.items() if change is not None})


def _change(before: Mapping[str, Json], now: Mapping[str, Json]) -> _MapChange | None:
    if before == now:
        return None
    put = {key: value for key, value in now.items() if key not in before or before[key] != value}
    return _MapChange(put, frozenset(before.keys() - now.keys()))

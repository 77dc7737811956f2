"""A mapping that is a value: what is put into it gives another one, and the one before stays as it was.

Owns keeping the newest entries at a cost that does not grow with how many there are: small changes are copied, and the
large part is shared by all tables made from it. Must not know what is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

import msgspec

_FRESH = 64
"""So many entries are copied with each change."""

_Value = TypeVar("_Value")


class Table(msgspec.Struct, Generic[_Value], frozen=True):
    """Values by text, in three layers: the newest first. In a layer, None hides what the ones below it have."""

    fresh: dict[str, _Value | None] = {}
    kept: dict[str, _Value | None] = {}
    old: dict[str, _Value | None] = {}

    def __bool__(self) -> bool:
        """Whether anything was put into it; all of that may be taken out again."""
        return bool(self.fresh or self.kept or self.old)

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def get(self, key: str) -> _Value | None:
        """The value of a key, None without one."""
        for layer in (self.fresh, self.kept):
            if key in layer:
                return layer[key]
        return self.old.get(key)

    def all(self) -> dict[str, _Value]:
        """All that is in it, what was put in last at the end. This takes as long as there is much of it."""
        found = self.old.copy()
        for layer in (self.kept, self.fresh):
            for key in layer:
                found.pop(key, None)
            found.update(layer)
        return {key: value for key, value in found.items() if value is not None}

    def put(self, changes: Mapping[str, _Value | None], most: int) -> Table[_Value]:
        """The same with some values set; None takes a key out.

        Args:
            most: so many of the entries that were put in last are kept, and twice as many at most.
        """
        if not changes:
            return self
        fresh = {key: value for key, value in self.fresh.items() if key not in changes}
        fresh.update(changes)
        if len(fresh) <= _FRESH:
            return Table(fresh, self.kept, self.old)
        kept = self.kept.copy()
        kept.update(fresh)
        if len(kept) <= most:
            return Table({}, kept, self.old)
        return Table({}, {}, kept)

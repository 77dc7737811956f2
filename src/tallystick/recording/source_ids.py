"""The source ids of one journal's entries, compactly: which entry has an id, and which id an entry has.

Owns how they lie in memory: about 60 bytes an entry, where a dictionary and its strings take 180. Must not know what an id
stands for, nor which entries tell one event.
"""

from __future__ import annotations

from array import array

_LEAST = 16
_HELD = b"\1"
"""Goes before each id, so that an empty one is not taken for none."""


class SourceIds:
    """Ids by number of entry, and numbers by id. Entries are added in order; an id that comes again names the newest one."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._ends = array("Q")
        self._slots = array("I", bytes(_LEAST * array("I").itemsize))
        """A hash table of entry numbers plus one; 0 is free. At most half of it is taken."""
        self._taken = 0
        self._aliases: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ends)

    def add(self, source_id: str | None) -> None:
        """Take the id of the next entry; None if it has none."""
        n = len(self._ends)
        if source_id is not None:
            self._text += _HELD + _bytes(source_id)
        self._ends.append(len(self._text))
        if source_id is not None:
            self._aliases.pop(source_id, None)
            self._put(n)

    def also(self, source_id: str, n: int) -> None:
        """Have an id name entry `n`, unless it names one already: what another source calls the same event."""
        if self.find(source_id) is None:
            self._aliases[source_id] = n

    def find(self, source_id: str) -> int | None:
        """The newest entry with an id."""
        slot = self._slot_of(_HELD + _bytes(source_id))
        if self._slots[slot]:
            return self._slots[slot] - 1
        return self._aliases.get(source_id)

    def of(self, n: int) -> str | None:
        """The id of entry `n`."""
        held = self._held(n)
        if held:
            return held[1:].decode("utf-8", "surrogatepass")
        return None

    def _held(self, n: int) -> bytes:
        return bytes(self._text[self._ends[n - 1] if n else 0 : self._ends[n]])

    def _slot_of(self, held: bytes) -> int:
        """Where an id is in the table, or would go."""
        last = len(self._slots) - 1
        slot = hash(held) & last
        while self._slots[slot] and self._held(self._slots[slot] - 1) != held:
            slot = (slot + 1) & last
        return slot

    def _put(self, n: int) -> None:
        if 2 * (self._taken + 1) > len(self._slots):
            self._grow()
        slot = self._slot_of(self._held(n))
        self._taken += not self._slots[slot]
        self._slots[slot] = n + 1

    def _grow(self) -> None:
        kept = [number for number in self._slots if number]
        self._slots = array("I", bytes(2 * len(self._slots) * self._slots.itemsize))
        for number in kept:
            self._slots[self._slot_of(self._held(number - 1))] = number


def _bytes(source_id: str) -> bytes:
    return source_id.encode("utf-8", "surrogatepass")

"""The events of a session log in the order in which they happened, each once.

Owns what is done about events that were written twice, late, or under a number that another has. Memory grows by eight
bytes an event. Must not know what events mean.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator
from hashlib import blake2b

import msgspec

from tallystick.agents.headless.event import Happening

_MOST_HELD = 64
_MOST_GAP = 1 << 16


class Duplicates:
    """Which events were seen, by number and digest."""

    def __init__(self) -> None:
        self._dense = array("Q", [0])
        self._sparse: dict[int, int] = {}
        self._others: dict[int, list[int]] = {}

    def place(self, event: Happening) -> Happening | None:
        """The event, marked if its number was taken by a different one; None if it is an exact copy of one before.

        An event without a number is never a copy: nothing tells a repetition from a second event that says the same.
        """
        if not event.seq or event.seq < 0:
            return event
        own = int.from_bytes(blake2b(_content(event), digest_size=8).digest(), "big") or 1
        first = self._first(event.seq)
        if first == 0:
            self._remember(event.seq, own)
            return event
        others = self._others.setdefault(event.seq, [])
        if own == first or own in others:
            return None
        others.append(own)
        return msgspec.structs.replace(event, copy=1 + len(others))

    def _first(self, seq: int) -> int:
        if seq < len(self._dense):
            return self._dense[seq]
        return self._sparse.get(seq, 0)

    def _remember(self, seq: int, digest: int) -> None:
        if seq < len(self._dense):
            self._dense[seq] = digest
        elif seq < len(self._dense) + _MOST_GAP:
            self._dense.extend([0] * (seq - len(self._dense)))
            self._dense.append(digest)
        else:
            self._sparse[seq] = digest


def _content(event: Happening) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(event, place=0))


class InOrder:
    """Puts events that come up to 64 places late where they belong; what comes later still stands where it comes."""

    def __init__(self) -> None:
        self._next = 1
        self._held: list[tuple[int, int, Happening]] = []

    def take(self, event: Happening) -> Iterator[Happening]:
        """The events whose turn it is, now that `event` has come."""
        if event.seq is None or event.seq <= self._next:
            yield from self._let_go(event)
        else:
            heapq.heappush(self._held, (event.seq, event.place, event))
            if len(self._held) > _MOST_HELD:
                yield from self._let_go(heapq.heappop(self._held)[2])

    def finish(self) -> Iterator[Happening]:
        """The events that waited for others that never came."""
        while self._held:
            yield heapq.heappop(self._held)[2]

    def _let_go(self, event: Happening) -> Iterator[Happening]:
        yield event
        self._next = max(self._next, (event.seq or 0) + 1)
        while self._held and self._held[0][0] <= self._next:
            due = heapq.heappop(self._held)[2]
            yield due
            self._next = max(self._next, (due.seq or 0) + 1)

"""The events of a session as a sequence, which reads those that are asked for and keeps none of them.

Owns what such a sequence is to a program: as long as the session was when it was got, compared by what is in it. Must not
know where events are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, overload

from tallystick.sessions.session_log import Event


class EventSource(Protocol):
    """What keeps the events of one session, in the order of their numbers."""

    def read(self, places: range) -> Iterator[Event]:
        """The events at some places, the first of the session being at place 0."""


class Events(Sequence[Event]):
    """The events of a session up to one moment. Getting some, or going through all, reads them from where they are kept."""

    def __init__(self, kept: EventSource, places: range) -> None:
        """The events at some places."""
        self._kept = kept
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Event: ...

    @overload
    def __getitem__(self, place: slice) -> Events: ...

    def __getitem__(self, place: int | slice) -> Event | Events:
        if isinstance(place, slice):
            return Events(self._kept, self._places[place])
        at = self._places[place]
        return next(self._kept.read(range(at, at + 1)))

    def __iter__(self) -> Iterator[Event]:
        return self._kept.read(self._places)

    def __reversed__(self) -> Iterator[Event]:
        return self._kept.read(self._places[::-1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} events>"


class Listed:
    """Events that are in memory."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events

    def read(self, places: range) -> Iterator[Event]:
        """The events at some places."""
        return (self._events[place] for place in places)

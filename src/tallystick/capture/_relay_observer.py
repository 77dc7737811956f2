"""The one that looks on: copies of lines, on a thread of its own behind a bounded queue.

Owns that anyone who gives a line never waits and never fails. Must not know what is done with a line.
"""

from __future__ import annotations

import enum
import threading
import time
from collections import deque
from collections.abc import Callable

import msgspec

_LINE_BYTES = 200  # what a waiting line costs beside its bytes
_MOST_FAULTS = 10


class Way(enum.StrEnum):
    """Which way a line goes."""

    TO_CHILD = "to-child"
    FROM_CHILD = "from-child"


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line that was read, and what was made of it."""

    way: Way
    data: bytes
    """With its newline, if it has one; of a line too long to gather, the first bytes."""
    size: int
    """Bytes of the whole line."""
    at_ns: int
    """When it was read: the clock of `time.time_ns`."""
    sent: tuple[bytes, ...] | None = None
    """What went on in its place; None: the line as it is."""
    replies: tuple[bytes, ...] = ()
    """What its sender was answered by us."""
    missed: int = 0
    """Lines before this one, of either way, that found no room in the queue."""


class Observer:
    """The queue and its thread. `close` gives the observer a while to come to the end."""

    def __init__(self, observe: Callable[[Line], None], queue_bytes: int) -> None:
        self.missed = 0
        self.faults: list[str] = []
        self._observe = observe
        self._room = queue_bytes
        self._gap = 0
        self._queue: deque[Line] = deque()
        self._ready = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="relay-observer", daemon=True)
        self._thread.start()

    def give(self, line: Line) -> None:
        """Queue a line, or count it as missed. Lines over all the room there is are taken by an empty queue."""
        cost = len(line.data) + _LINE_BYTES
        with self._ready:
            if cost > self._room and self._queue:
                self._gap += 1
                self.missed += 1
                return
            if self._gap:
                line, self._gap = msgspec.structs.replace(line, missed=self._gap), 0
            self._queue.append(line)
            self._room -= cost
            self._ready.notify()

    def _run(self) -> None:
        while (line := self._next()) is not None:
            try:
                self._observe(line)
            except Exception as error:
                if len(self.faults) < _MOST_FAULTS:
                    self.faults.append(f"{type(error).__name__}: {error}")

    def _next(self) -> Line | None:
        with self._ready:
            while not self._queue:
                if self._closed:
                    return None
                self._ready.wait()
            line = self._queue.popleft()
            self._room += len(line.data) + _LINE_BYTES
            return line

    def close(self, seconds: float) -> None:
        """Wait at most so long until every line given so far was looked at. What was not is missed."""
        with self._ready:
            self._closed = True
            self._ready.notify()
        until = time.monotonic() + seconds
        self._thread.join(max(0.0, until - time.monotonic()))
        with self._ready:
            if self._thread.is_alive():
                self.missed += len(self._queue)
                self._queue.clear()

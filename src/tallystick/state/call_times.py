"""When the newest calls of a kind were made.

Owns keeping so many of these times that how many there were in the last minute can be said. Must not know calls.
"""

from __future__ import annotations

import msgspec

_MINUTE_US = 60_000_000
_PART = 64
_MOST_PARTS = 32


class CallTimes(msgspec.Struct, frozen=True):
    """Times in microseconds since 1970, in the order in which they came: whole parts, and the newest."""

    parts: tuple[tuple[int, ...], ...] = ()
    newest: tuple[int, ...] = ()

    def add(self, at_us: int) -> CallTimes:
        """The same with one more."""
        newest = (*self.newest, at_us)
        if len(newest) < _PART:
            return CallTimes(self.parts, newest)
        return CallTimes((*self.parts, newest)[-_MOST_PARTS:], ())

    def recent(self, now_us: int) -> int:
        """How many there are from the first on that is not earlier than a minute ago: 2,000 at most are known."""
        since_us = now_us - _MINUTE_US
        times = [at_us for part in (*self.parts, self.newest) for at_us in part]
        first = next((number for number, at_us in enumerate(times) if at_us >= since_us), len(times))
        return len(times) - first

"""Calls that an agent got no decision on within the last hour.

Owns which ones count: those that the setting `hooks.on_error` answered. Must not know why.
"""

from __future__ import annotations

from collections import deque

from tallystick.guard.fallback_decision import is_undecided
from tallystick.live.delivery import Delivery
from tallystick.model.decision import Decision
from tallystick.recording.alert_chain import milliseconds_of

_HOUR_MS = 3_600_000
_MOST = 10_000


class Undecided:
    """When these calls were made."""

    def __init__(self) -> None:
        self._at_ms: deque[int] = deque(maxlen=_MOST)

    def saw(self, delivery: Delivery, decision: Decision) -> None:
        """A call was decided on, as far as it was."""
        if is_undecided(decision.rules):
            self._at_ms.append(milliseconds_of(delivery.received))

    def add(self, number: int, now: str) -> None:
        """So many calls more had got none, as their hooks say by now."""
        self._at_ms.extend([milliseconds_of(now)] * number)

    def count(self, now: str) -> int:
        """How many there were within the hour before a time, RFC 3339."""
        since = milliseconds_of(now) - _HOUR_MS
        return sum(at > since for at in self._at_ms)

"""Calls that were denied, counted as the statistics count them, for who counts steps one after the other.

Owns adding them to the counts of a session: also calls of which only the refused result is on record, and calls that a
check refused though their result only says that they failed. Which result is of which call is pairing.py's.
"""

from __future__ import annotations

import msgspec

from tallystick.model.recorded import Recorded
from tallystick.sessions.figures import Figure, figure_of
from tallystick.sessions.pairing import CALL_TYPES, exchanges
from tallystick.sessions.timeline import Counts


class DeniedCalls:
    """Takes the steps of several sessions in order."""

    def __init__(self) -> None:
        self._calls: dict[str, list[Figure]] = {}

    def note(self, step: Recorded) -> None:
        """Take one more step."""
        if step.type in CALL_TYPES:
            self._calls.setdefault(step.session, []).append(figure_of(step))

    def with_denied(self, session: str, counts: Counts) -> Counts:
        """The counts of a session's steps, with its denied calls."""
        refused = [exchange for exchange in exchanges(self._calls.get(session, ())) if exchange.is_refused]
        return msgspec.structs.replace(
            counts,
            tool_calls=counts.tool_calls + sum(exchange.call is None for exchange in refused),
            refusals=counts.refusals + len(refused),
        )

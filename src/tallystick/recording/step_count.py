"""How events fared when they were recorded, counted by outcome."""

from __future__ import annotations

import msgspec

from tallystick.recording.event_dedup import Outcome


class StepCount(msgspec.Struct):
    """How events fared, by outcome."""

    recorded: int = 0
    known: int = 0
    revised: int = 0
    corroborated: int = 0
    extended: int = 0
    contradicted: int = 0

    def count(self, outcome: Outcome) -> None:
        """Count one event."""
        setattr(self, outcome.value, getattr(self, outcome.value) + 1)

"""Broad looks: whole home folders or file systems searched or packed, the environment printed."""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.policy.reading import CallReading
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {}


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    yield from ()

"""A value of a step as tests look into it.

Owns one cast: tests know what they have recorded. Must not know any step.
"""

from __future__ import annotations

from tallystick.model.raw import Raw
from tallystick.model.step import Json


def shown(value: Raw) -> Json:
    """The value, whose members are reached without asking what it is."""
    return value

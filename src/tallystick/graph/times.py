"""Times as the index keeps them: whole numbers since 1970, for order and for the SQL that people write.

Owns turning the record's times into numbers. Must not read a clock.
"""

from __future__ import annotations

from tallystick.errors import UsageError
from tallystick.model.moments import microseconds


def milliseconds(at_us: int) -> int:
    """The same moment in whole milliseconds."""
    return at_us // 1000


def asked_time(text: str) -> int:
    """Microseconds since 1970 of a time that someone asks about.

    Raises: UsageError: it is not a time as the record writes it.
    """
    at_us = microseconds(text)
    if at_us is None:
        raise UsageError(f"{text!r} is no time", hint="write UTC with six digits: 2026-01-02T03:04:05.000000Z")
    return at_us

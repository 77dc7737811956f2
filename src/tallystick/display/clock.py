"""Times as they are shown: in UTC, or in the time zone of a person.

Owns the notation. Must not know which zone a machine is in: that arrives as an argument.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo


def shown_time(moment: datetime, zone: tzinfo | None) -> str:
    """`2026-11-21T10:30:00.000000`, in UTC where no zone is given."""
    return moment.astimezone(zone or UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


def shown_text(text: str | None, zone: tzinfo | None) -> str:
    """A time in the record's notation, as `shown_time` writes it; unchanged if it is not a time, empty if none is given."""
    if not text:
        return ""
    try:
        return shown_time(datetime.fromisoformat(text), zone)
    except (ValueError, OverflowError):
        return text


def zone_name(zone: tzinfo | None) -> str:
    """What stands beside times: `UTC`, or `local time`."""
    if zone is None:
        return "UTC"
    return "local time"

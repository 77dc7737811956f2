"""Times of events of a session log: now, and what a program gives instead.

Owns the spelling that the agent's readers take: RFC 3339 with a zone. They refuse a whole file for one time that is none.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

import msgspec

from tallystick.sessions.session_log import Event

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


def now_text() -> str:
    """Now, as the agent writes times: in UTC, to the nanosecond, without zeros at the end."""
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    fraction = f".{rest:09d}".rstrip("0").rstrip(".")
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + fraction + "Z"


def timed(event: Event) -> Event:
    """The event with a time; the very same object if it has one. What was given and is none is kept beside it."""
    given: object = event.timestamp
    if isinstance(given, str) and _TIME.fullmatch(given):
        return event
    if not given:
        return msgspec.structs.replace(event, timestamp=now_text())
    try:
        if isinstance(given, datetime):
            moment = given
        else:
            moment = datetime.fromisoformat(str(given))
        told = moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        extra = {**event.extra, "timestamp_text": str(given)[:200]}
        return msgspec.structs.replace(event, timestamp=now_text(), extra=extra)
    return msgspec.structs.replace(event, timestamp=told)

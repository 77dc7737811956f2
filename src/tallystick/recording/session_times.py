"""Times of events of a session log: now, and what a program gives instead.

Owns the spelling that the agent's readers take: RFC 3339 with a zone. They refuse a whole file for one time that is not one;
which texts are times is session_spelling.py's.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

import msgspec

from tallystick.sessions.session_log import Event
from tallystick.sessions.session_spelling import event_time, is_written_time


def now_text() -> str:
    """Now, as the agent writes times: in UTC, to the nanosecond, without zeros at the end."""
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    fraction = f".{rest:09d}".rstrip("0").rstrip(".")
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + fraction + "Z"


def timed(event: Event) -> Event:
    """The event with a time; the very same object if it has one. Raises ValueError: what it was given is not a time."""
    given: object = event_time(event.timestamp)
    if isinstance(given, str) and is_written_time(given):
        return event
    if not given:
        return msgspec.structs.replace(event, timestamp=now_text())
    if isinstance(given, datetime):
        moment = given
    else:
        moment = datetime.fromisoformat(str(given))
    told = moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return msgspec.structs.replace(event, timestamp=told)

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from tallystick.recording.session_times import now_text, timed
from tallystick.sessions.session_log import Event


def test_now_is_written_as_the_agent_writes_times() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,8}[1-9])?Z", now_text())


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("2026-03-25T09:00:00.00534492Z", "2026-03-25T09:00:00.00534492Z"),
        ("2026-03-25T09:00:00+01:00", "2026-03-25T09:00:00+01:00"),
        (datetime(2026, 3, 25, 9, tzinfo=UTC), "2026-03-25T09:00:00Z"),
        ("2026-03-25 09:00:00+00:00", "2026-03-25T09:00:00Z"),
    ],
)
def test_a_time_is_kept_as_the_agents_readers_take_it(given_: Any, kept: str) -> None:
    assert timed(Event(type="user", timestamp=given_)).timestamp == kept


def test_an_event_with_a_time_stays_the_same_object_and_one_without_gets_one() -> None:
    event = Event(type="user", timestamp="2026-03-25T09:00:00Z")
    assert timed(event) is event
    assert timed(Event(type="user")).timestamp[:2] == "20"

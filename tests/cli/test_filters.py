"""Times as people type them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.cli.filters import read_moment, read_seconds
from tallystick.seal.names import is_time

NOW = datetime(2026, 11, 21, 15, 30, 45, 123456, UTC)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2026-11-21", "2026-11-21T00:00:00.000000Z"),
        ("2026-11-21T10:30", "2026-11-21T10:30:00.000000Z"),
        ("2026-11-21 10:30", "2026-11-21T10:30:00.000000Z"),
        ("2026-11-21T10:30:15.5", "2026-11-21T10:30:15.500000Z"),
        ("2026-11-21T10:30:15+02:00", "2026-11-21T08:30:15.000000Z"),
        ("today", "2026-11-21T00:00:00.000000Z"),
        ("yesterday", "2026-11-20T00:00:00.000000Z"),
        ("90min", "2026-11-21T14:00:45.123456Z"),
        ("3h", "2026-11-21T12:30:45.123456Z"),
        ("2 d", "2026-11-19T15:30:45.123456Z"),
        ("1w", "2026-11-14T15:30:45.123456Z"),
    ],
)
def test_a_time_is_read_as_it_is_meant(typed: str, meant: str) -> None:
    assert read_moment(typed, NOW) == meant


@pytest.mark.parametrize("typed", ["", "soon", "2026-13-01", "2026-02-31", "11/21/2026", "999999w", "-3h", "3 y", "٣h"])
def test_what_says_no_time_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="time"):
        read_moment(typed, NOW)


@pytest.mark.parametrize(
    ("typed", "seconds"), [("90min", 5_400), ("1h", 3_600), ("7d", 604_800), ("5 s", 5), ("1", None), ("-1h", None)]
)
def test_a_length_of_time_is_read_as_it_is_meant(typed: str, seconds: int | None) -> None:
    assert read_seconds(typed) == seconds


@given(st.text(max_size=30))
def test_whatever_is_typed_is_a_time_of_the_record_or_refused(typed: str) -> None:
    try:
        found = read_moment(typed, NOW)
    except ValueError:
        return
    assert is_time(found)

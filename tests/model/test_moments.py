"""Times: the spellings that sources use, and the one that the format has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.moments import epoch_time, is_time, microseconds, normal_time, write_time
from tests.support.cases import each, each_case

BERLIN = timezone(timedelta(hours=1))


@each_case("text, expected")
def test_a_time_with_its_zone_is_written_in_utc(text: str, expected: str) -> None:
    assert normal_time(text, BERLIN) == (expected, False)
    assert is_time(expected)


@each_case("text, expected")
def test_a_time_without_zone_is_taken_for_the_recorders_own_and_marked(text: str, expected: str) -> None:
    assert normal_time(text, BERLIN) == (expected, True)


@each(
    "text",
    [
        *("", "yesterday", "2026-01-02", "03:04:05", "2026-01-02T03:04", "2026-1-2T03:04:05Z", "2026-01-02T03:04:05z"),
        *("2026-13-02T03:04:05Z", "2026-00-02T03:04:05Z", "2026-01-32T03:04:05Z", "2026-01-00T03:04:05Z"),
        *("2026-02-29T03:04:05Z", "2026-02-30T03:04:05Z", "2026-04-31T03:04:05Z", "2026-01-02T24:00:00Z"),
        *("2026-01-02T03:60:05Z", "2026-01-02T03:04:60Z", "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05.1234567890Z"),
        *("0001-01-01T00:00:00Z", "0001-01-01T00:00:00", "1969-12-31T23:59:59", "2026-01-02T03:04:05+25:00"),
        *(
            "2026-01-02T03:04:05Z\n",
            " 2026-01-02T03:04:05Z",
            "٢026-01-02T03:04:05Z",
            "2026-01-02T03:04:05+1:00",
            "0001-01-01T00:00:00+05:00",
        ),
        *("2026-01-02T03:04:05Zulu", "2026-01-29T25:00:00Z", "2026-01-29T03:04:60Z", "2026-01-30T03:60:04Z"),
    ],
)
def test_what_says_no_time_says_none(text: str) -> None:
    assert normal_time(text, UTC) is None


@given(st.datetimes(datetime(1971, 1, 1), datetime(9998, 1, 1)))
def test_a_time_that_was_written_reads_back(naive: datetime) -> None:
    moment = naive.replace(tzinfo=UTC)
    text = write_time(moment)
    assert is_time(text)
    assert normal_time(text, BERLIN) == (text, False)
    assert datetime.fromisoformat(text) == moment
    assert write_time(moment.astimezone(BERLIN)) == text


@each(
    "seconds, expected",
    [
        (0, "1970-01-01T00:00:00.000000Z"),
        (1767323045.000006, "2026-01-02T03:04:05.000006Z"),
        (1.5, "1970-01-01T00:00:01.500000Z"),
        (253402300799, "9999-12-31T23:59:59.000000Z"),
        (-1, None),
        (-0.000001, None),
        (253402300800, None),
        (1e30, None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_seconds_since_1970_become_a_time_or_none(seconds: float, expected: str | None) -> None:
    assert epoch_time(seconds) == expected


@given(st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31), timezones=st.just(UTC)))
def test_a_time_is_as_many_microseconds_as_lie_between(moment: datetime) -> None:
    found = microseconds(write_time(moment).rjust(27, "0"))
    assert found == (moment - datetime(1970, 1, 1, tzinfo=UTC)) // datetime.resolution


@each("text", [None, 5, "", "yesterday", "2026-01-02", "2026-01-02T03:04:05Z", "2026-02-31T03:04:05.000000Z"])
def test_anything_else_is_no_number_of_microseconds(text: object) -> None:
    assert microseconds(text) is None

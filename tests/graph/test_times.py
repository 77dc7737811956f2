from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.graph.times import asked_time, microseconds, milliseconds
from tallystick.model.moments import write_time
from tests.support.cases import each


@given(st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31), timezones=st.just(UTC)))
def test_a_time_is_as_many_microseconds_as_lie_between(moment: datetime) -> None:
    found = microseconds(write_time(moment).rjust(27, "0"))
    assert found == (moment - datetime(1970, 1, 1, tzinfo=UTC)) // datetime.resolution
    assert milliseconds(found) * 1000 <= found < milliseconds(found) * 1000 + 1000


@each("text", [None, 5, "", "yesterday", "2026-01-02", "2026-01-02T03:04:05Z", "2026-02-31T03:04:05.000000Z"])
def test_anything_else_is_no_time(text: object) -> None:
    assert microseconds(text) is None


def test_whoever_asks_for_no_time_is_told_how_to_write_one() -> None:
    assert asked_time("1970-01-01T00:00:01.000000Z") == 1_000_000
    with pytest.raises(UsageError, match="yesterday") as error:
        asked_time("yesterday")
    assert "2026-01-02T03:04:05.000000Z" in str(error.value.hint)

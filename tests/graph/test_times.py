from __future__ import annotations

import pytest

from tallystick.errors import UsageError
from tallystick.graph.times import asked_time, milliseconds


def test_whoever_asks_for_no_time_is_told_how_to_write_one() -> None:
    assert asked_time("1970-01-01T00:00:01.000000Z") == 1_000_000
    with pytest.raises(UsageError, match="yesterday") as error:
        asked_time("yesterday")
    assert "2026-01-02T03:04:05.000000Z" in str(error.value.hint)


def test_a_moment_is_in_whole_milliseconds() -> None:
    assert [milliseconds(at_us) for at_us in (0, 999, 1_000, -1)] == [0, 0, 1, -1]

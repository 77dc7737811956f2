from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tallystick.state.call_times import CallTimes

MINUTE = 60_000_000


def times_of(moments: Sequence[int]) -> CallTimes:
    times = CallTimes()
    for at_us in moments:
        times = times.add(at_us)
    return times


@given(st.lists(st.integers(0, 10 * MINUTE), max_size=200).map(sorted), st.integers(0, 11 * MINUTE))
def test_it_counts_those_of_the_last_minute(moments: list[int], now: int) -> None:
    expected = sum(at_us >= now - MINUTE for at_us in moments)
    assert times_of(moments).recent(now) == expected


def test_of_very_many_the_newest_are_known() -> None:
    times = times_of(range(5_000))
    assert times.recent(0) == 32 * 64 + 5_000 % 64
    assert times.recent(MINUTE + 4_998) == 2


def test_one_more_leaves_the_others_as_they_were() -> None:
    times = times_of(range(63))
    assert times.add(63) != times
    assert times == times_of(range(63))

from __future__ import annotations

import random
import sys
from itertools import pairwise
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.sessions.alignment import align
from tests.support.cases import each, each_case

FEW = st.lists(st.sampled_from("abcd"), max_size=30)


@each_case("left, right, together")
def test_what_is_in_both_in_the_same_order_goes_together(left: str, right: str, together: str) -> None:
    pairs = align(list(left), list(right))
    assert len(pairs) == len(together)
    assert sorted(left[i] for i, _ in pairs) == sorted(together)


@given(FEW, FEW)
def test_pairs_are_equal_ascend_on_both_sides_and_are_no_others_when_swapped(left: list[str], right: list[str]) -> None:
    pairs = align(left, right)
    assert all(left[i] == right[j] for i, j in pairs)
    for side in (0, 1):
        places = [pair[side] for pair in pairs]
        assert places == sorted(set(places))
    assert align(right, left) == [(j, i) for i, j in pairs]


@given(FEW)
def test_a_sequence_goes_with_itself(items: list[str]) -> None:
    assert align(items, list(items)) == [(n, n) for n in range(len(items))]


@given(FEW, FEW)
def test_what_is_left_between_pairs_has_nothing_in_common(left: list[str], right: list[str]) -> None:
    edges = [(-1, -1), *align(left, right), (len(left), len(right))]
    for (i, j), (next_i, next_j) in pairwise(edges):
        assert not set(left[i + 1 : next_i]) & set(right[j + 1 : next_j])


@given(st.lists(st.integers(0, 10_000), unique=True, max_size=60), st.data())
def test_what_was_left_out_of_a_sequence_without_repeats_is_all_that_is_missing(
    items: list[int], data: st.DataObject
) -> None:
    left = [str(item) for item in items]
    kept = [item for item in left if data.draw(st.booleans())]
    assert len(align(left, kept)) == len(kept)


def _steps_of(left: list[str], right: list[str]) -> int:
    """How many lines of the module run while two sequences are lined up."""
    lines = 0

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    sys.settrace(count)
    try:
        align(left, right)
    finally:
        sys.settrace(None)
    return lines


@each(
    "make",
    [
        lambda chance, n: [chance.choice("ab") for _ in range(n)],
        lambda chance, n: [str(chance.randrange(50)) for _ in range(n)],
        lambda chance, n: [str(chance.randrange(n * 10)) for _ in range(n)],
        lambda chance, n: chance.sample([str(number) for number in range(n)], n),
    ],
    ids=["two words", "fifty words", "hardly any repeats", "shuffled"],
)
def test_ten_times_as_much_takes_no_more_than_some_twenty_times_as_long(make: object) -> None:
    chance = random.Random(5)
    small = _steps_of(make(chance, 200), make(chance, 200))  # type: ignore[operator]
    large = _steps_of(make(chance, 2_000), make(chance, 2_000))  # type: ignore[operator]
    assert large < 25 * small

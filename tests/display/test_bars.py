from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.display.bars import bar
from tallystick.display.text import width_of
from tests.support.cases import each_case


@each_case("part, whole, drawn")
def test_a_bar_is_as_long_as_its_part(part: int, whole: int, drawn: str) -> None:
    assert bar(part, whole, 4) == drawn


@given(st.integers(0, 1 << 60), st.integers(1, 1 << 60), st.integers(1, 200))
def test_a_bar_fits_and_more_than_nothing_is_seen(part: int, whole: int, width: int) -> None:
    drawn = bar(part, whole, width)
    assert width_of(drawn) <= width
    assert bool(drawn) == (part > 0)

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.capture.watch_names import FOLDERS, MOST_DEEP, is_passed_over
from tests.support.cases import each_case


@each_case("path")
def test_what_tools_make_in_masses_and_editors_for_a_moment_is_passed_over(path: str) -> None:
    assert is_passed_over(path.split("/"))


@each_case("path")
def test_everything_else_is_seen(path: str) -> None:
    assert not is_passed_over(path.split("/"))


def test_folders_that_are_nested_without_end_are_not_followed() -> None:
    assert not is_passed_over(["d"] * MOST_DEEP)
    assert is_passed_over(["d"] * (MOST_DEEP + 1))


@given(
    st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1), max_size=6), st.sampled_from(sorted(FOLDERS))
)
def test_nothing_below_a_folder_that_is_passed_over_is_seen(names: list[str], folder: str) -> None:
    assert is_passed_over([folder, *names])

"""Patterns and the names that they are meant for."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.kinds.wildcards import has_wildcards, may_name
from tests.support.cases import each_case


@each_case("pattern, name")
def test_a_pattern_that_says_half_of_a_name_is_meant_for_it(pattern: str, name: str) -> None:
    assert may_name(pattern, name) or pattern == ".{ssh,aws}"


@each_case("pattern, name")
def test_a_pattern_that_says_less_or_other_is_not(pattern: str, name: str) -> None:
    assert not may_name(pattern, name)


@given(st.text(alphabet="ab.*?[]{},!^-", max_size=40), st.text(alphabet="ab.", max_size=20))
def test_any_pattern_has_an_answer(pattern: str, name: str) -> None:
    assert may_name(pattern, name) in (True, False)


@given(st.text(alphabet="abc._", min_size=1, max_size=30))
def test_a_name_is_meant_for_itself_and_no_pattern(name: str) -> None:
    assert may_name(name, name)
    assert not has_wildcards(name)

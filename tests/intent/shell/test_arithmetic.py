"""Arithmetic of the shell, where it is made of numbers."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.arithmetic import computed
from tests.support.cases import each, each_case

UNTOLD = (
    "", "x", "x+1", "1/0", "1%0", "2**9999", "1<<9999", "9**60", "1,2", "a=1", "1==1", "i++", "08", "99#1",
    "__import__", "f(1)", "1 if 1 else 2",
    "(" * 79, "1" * 79, "2**-1",
)  # fmt: skip


@each_case("text, value")
def test_numbers_are_computed_as_the_shell_does(text: str, value: int) -> None:
    assert computed(text) == value


@each("text", UNTOLD)
def test_what_is_no_number_or_too_large_is_not_told(text: str) -> None:
    assert computed(text) is None


@given(st.integers(-1000, 1000), st.integers(-1000, 1000))
def test_a_quotient_and_a_remainder_make_the_number_again(left: int, right: int) -> None:
    quotient, remainder = computed(f"({left})/({right})"), computed(f"({left})%({right})")
    if right == 0:
        assert quotient is None
    else:
        assert quotient is not None
        assert remainder is not None
        assert quotient * right + remainder == left


@given(st.text(alphabet="0123456789abcx#+-*/%()<>&|^~ ", max_size=80))
def test_any_expression_gives_a_bounded_number_or_nothing(text: str) -> None:
    value = computed(text)
    assert value is None or abs(value) <= 1 << 63

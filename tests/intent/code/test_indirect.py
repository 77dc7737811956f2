from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code.indirect import plain_members, plain_names, plain_sends
from tests.support.cases import each_case


@each_case("text, plain")
def test_members_that_a_text_names_are_members(text: str, plain: str) -> None:
    assert plain_members(text) == plain


@each_case("text, plain")
def test_what_is_sent_by_name_is_called(text: str, plain: str) -> None:
    assert plain_sends(text) == plain


@each_case("text, plain")
def test_functions_that_are_called_by_name_are_called(text: str, plain: str) -> None:
    assert plain_names(text) == plain


@given(st.text(alphabet="[]'\"ab+.(){}$=;: \nimportsend,>", max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    for plain in (plain_members, plain_sends, plain_names):
        assert isinstance(plain(text), str)

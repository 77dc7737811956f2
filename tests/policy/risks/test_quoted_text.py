"""Words in quotes that are only said."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.quoted_text import without_talk
from tests.support.cases import each_case


@each_case("text")
def test_what_is_only_said_is_left_out(text: str) -> None:
    assert "New-Service" not in without_talk(text)


@each_case("text")
def test_what_is_done_stays(text: str) -> None:
    assert "New-Service" in without_talk(text)


@given(st.text(alphabet="ab;|{\n ", max_size=100))
def test_a_text_without_quotes_stays_as_it_is(text: str) -> None:
    assert without_talk(text) == text

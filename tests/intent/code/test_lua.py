"""Lua → what it does."""

from tests.intent.code.cases import done
from tests.support.cases import each_case


@each_case("text, expected")
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("lua", text) == expected

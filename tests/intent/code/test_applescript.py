"""AppleScript → what it does."""

from tests.intent.code.cases import done
from tests.support.cases import each_case


@each_case("text, expected")
def test_a_script_does_what_its_text_says(text: str, expected: list[str]) -> None:
    found = done("applescript", text)
    assert sorted({line for line in found if line != "unknown"}) == expected

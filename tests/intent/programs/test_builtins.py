from __future__ import annotations

from tests.intent.programs.acting import acted, does
from tests.support.cases import each_case


@each_case("text")
def test_what_a_shell_has_built_in_touches_no_file(text: str) -> None:
    assert does(text) == []
    assert not acted(text).is_unknown


@each_case("text, expected")
def test_some_of_it_does(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_the_clipboard_takes_what_it_is_fed() -> None:
    assert acted("pbcopy").reads_input

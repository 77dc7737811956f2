from __future__ import annotations

from tests.intent.programs.acting import acted, does
from tests.support.cases import each_case


@each_case("text, expected")
def test_the_kinds_of_subcommands(text: str, expected: list[str]) -> None:
    assert does(text) == expected
    assert not acted(text).is_unknown


def test_another_subcommand_is_unknown() -> None:
    assert acted("svn frobnicate").is_unknown

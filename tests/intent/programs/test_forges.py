from __future__ import annotations

from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_what_goes_to_a_forge_and_comes_from_it(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_files_go_with_what_is_sent_and_answers_are_printed() -> None:
    assert flows("gh release create v1 a") == ["a -> https://github.com"]
    assert acted("gh pr view 1").prints == (0,)
    assert flows("gh release download -D d") == ["https://github.com -> d"]


def test_what_others_added_is_unknown() -> None:
    assert acted("gh extension exec x").is_unknown

from __future__ import annotations

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does
from tests.support.cases import each_case


@each_case("text, expected")
def test_an_editor_may_change_what_it_opens(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_commands_of_an_editor_are_code() -> None:
    assert [(code.language, code.text) for code in acted("vim -c wq a").codes] == [("vim", Word("wq"))]
    assert [(code.language, code.text) for code in acted("ed a", fed="w").codes] == [("ed", Word("w"))]
    assert acted("ed a", reads="f").is_unknown

from __future__ import annotations

import pytest

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vim +3 -O a b", ["edit a", "edit b"]),
        ("vim -R a", ["read a"]),
        ("view a", ["read a"]),
        ("vim -S s a", ["edit a", "execute s"]),
        ("vim", []),
        ("emacs --batch -l a b", ["execute a", "edit b"]),
        ("nano -Y sh a", ["edit a"]),
        ("code -g a", ["edit* a"]),
        ("open -a Safari a", ["read a"]),
        ("vim -c 'w b' a", ["edit a", "write b"]),
        ("vim -es -c 'wq! /x/b' a", ["edit a", "write /x/b"]),
        ("vim -c '%s/a/b/ | saveas c' a", ["edit a", "write c"]),
        ("ex -s a", ["edit a"]),
        ("ed -s a", ["edit a"]),
        ("vim -c 'w !sh' a", ["edit a"]),
        ("gio trash a b", ["delete* a", "delete* b"]),
        ("gio remove a", ["delete a"]),
        ("gio copy a b", ["copy_source* a", "copy_dest* b"]),
        ("gio move a b", ["rename* a", "copy_dest* b"]),
        ("gio info a", ["list a"]),
        ("gio cat a", ["read a"]),
        ("gio", []),
    ],
)
def test_an_editor_may_change_what_it_opens(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_commands_of_an_editor_are_code() -> None:
    assert [(code.language, code.text) for code in acted("vim -c wq a").codes] == [("vim", Word("wq"))]
    assert [(code.language, code.text) for code in acted("ed a", fed="w").codes] == [("ed", Word("w"))]
    assert acted("ed a", reads="f").is_unknown

from __future__ import annotations

import pytest

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git clone --bare h:u/y.git", ["fetch h:u/y.git", "write* y.git"]),
        ("git clone -b x /a/y", ["read* /a/y", "write* y"]),
        ("git -C d init", ["create* d/.git"]),
        ("git push -n", []),
        ("git push", ["send origin"]),
        ("git add -u", ["read* ."]),
        ("git add a.c src", ["read a.c", "read* src"]),
        ("git config get a.b", ["read .git/config"]),
        ("git config set a.b c", ["edit .git/config"]),
        ("git config --system a.b c", ["edit /etc/gitconfig"]),
        ("git remote show", ["fetch origin"]),
        ("git worktree move a b", ["rename a", "copy_dest* b"]),
        ("git bundle verify b", ["read b"]),
        ("git lfs push up", ["send up"]),
        ("git submodule foreach 'rm a'", []),
        ("git send-email a", ["send a"]),
    ],
)
def test_repositories_settings_and_files_are_told_apart(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_subcommand_that_is_not_gits_is_unknown() -> None:
    assert acted("git frobnicate").is_unknown
    assert not acted("git status").is_unknown
    assert not acted("git --version").is_unknown


def test_programs_among_the_settings_are_run() -> None:
    assert [code.text for code in acted("git -c core.sshCommand=x fetch").codes] == [Word("x")]
    assert [code.text for code in acted("git -c alias.a=!x a").codes] == [Word("x")]
    assert [code.text for code in acted("git bisect run sh 'a b'").codes] == [Word("sh 'a b'")]
    assert [code.text for code in acted("git rebase -x x main").codes] == [Word("x")]


def test_what_is_fetched_goes_into_the_tree() -> None:
    assert flows("git clone a.b:c d") == ["a.b:c -> d"]
    assert flows("git pull") == ["origin -> ."]

"""git, Subversion and Mercurial: what they do to the working tree, to their settings and to other repositories."""

from __future__ import annotations

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_the_kinds_of_subcommands(text: str, expected: list[str]) -> None:
    assert does(text) == expected
    assert not acted(text).is_unknown


def test_another_subcommand_is_unknown() -> None:
    assert acted("svn frobnicate").is_unknown


@each_case("text, expected")
def test_repositories_settings_and_files_are_told_apart(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_subcommand_that_is_not_gits_is_unknown() -> None:
    assert acted("git frobnicate").is_unknown
    assert not acted("git status").is_unknown
    assert not acted("git --version").is_unknown


def test_programs_among_the_words_are_run() -> None:
    assert [code.text for code in acted("git bisect run sh 'a b'").codes] == [Word("sh 'a b'")]
    assert [code.text for code in acted("git rebase -x x main").codes] == [Word("x")]


def test_what_is_fetched_goes_into_the_tree() -> None:
    assert flows("git clone a.b:c d") == ["a.b:c -> d"]
    assert flows("git pull") == ["origin -> ."]

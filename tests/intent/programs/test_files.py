from __future__ import annotations

from tallystick.intent.programs.files import finding_of
from tallystick.model.script import STAR, Command, Word
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_files_are_made_marked_and_listed(text: str, expected: list[str]) -> None:
    assert does(text) == expected


@each_case("text, expected")
def test_find_deletes_what_has_the_names_that_are_asked_for(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_pattern_of_find_is_one_of_files() -> None:
    action = acted("find a -name '*.o' -delete").actions[1]
    assert action.target == Word(f"a/{STAR}{STAR}/{STAR}.o")
    assert action.words == (Word("a"), Word("*.o"))


def test_a_default_comes_from_the_programs_own_word() -> None:
    assert acted("ls").actions[0].words == (Word("ls"),)


def test_what_fd_runs_is_unknown_unless_it_is_harmless() -> None:
    assert acted("fd x -x sh").is_unknown
    assert not acted("fd x -x wc -l").is_unknown


def test_dd_copies() -> None:
    assert flows("dd if=a of=b") == ["a -> b"]
    assert acted("dd if=a").prints == (0,)
    assert acted("dd").reads_input


@each_case("text, starts, names")
def test_what_a_search_acts_on_is_told_by_start_and_name(text: str, starts: list[str], names: tuple[str, ...]) -> None:
    found = finding_of(Command(words=tuple(map(Word, text.split()))))
    assert found is not None
    assert ([word.text for word in found.starts], found.names) == (starts, names)


@each_case("text, picks, is_without_content")
def test_what_is_told_of_the_files_that_a_search_takes(text: str, picks: bool, is_without_content: bool) -> None:
    found = finding_of(Command(words=tuple(map(Word, text.split()))))
    assert found is not None
    assert (found.picks, found.is_without_content) == (picks, is_without_content)


def test_what_a_search_runs_ends_where_its_words_end() -> None:
    text = "find -name a ! -path b -exec cp x {} ; -print"
    found = finding_of(Command(words=tuple(map(Word, text.split()))))
    assert found is not None
    assert [[word.text for word in run] for run in found.runs] == [["cp", "x", "{}"]]
    assert (found.asked, found.paths, found.is_by_path) == (("a",), (), False)


def test_a_search_that_only_looks_acts_on_nothing() -> None:
    assert finding_of(Command(words=tuple(map(Word, ("find", "a", "-name", "x"))))) is None
    assert finding_of(Command(words=(Word("ls"),))) is None

from __future__ import annotations

import pytest

from tallystick.intent.programs.files import finding_of
from tallystick.model.script import STAR, Command, Word
from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("chmod -R -w d", ["metadata* d"]),
        ("chmod -R 644 d", ["metadata* d"]),
        ("chown --reference=r a", ["metadata a"]),
        ("chattr -R -i a", ["metadata* a"]),
        ("dd of=a seek=1", ["edit< a"]),
        ("truncate --size=0 a", ["write a"]),
        ("touch -h a", ["metadata a"]),
        ("mktemp -u", []),
        ("mktemp -t x.XXXX", ["create /tmp/x.*"]),
        ("find -L a b -type f", ["list* a", "list* b"]),
        ("find a -maxdepth 1", ["list a"]),
        ("find a -fls f", ["list* a", "write f"]),
        ("fd x -x rm", ["list* .", "delete ./**/*x*"]),
        ("fd -e o . a -X rm -f", ["list* a", "delete a/**/*.o"]),
        ("fd . a -x rm", ["list* a", "delete a/**/*"]),
        ("ls -I x", ["list ."]),
    ],
)
def test_files_are_made_marked_and_listed(text: str, expected: list[str]) -> None:
    assert does(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("find a -delete", ["list* a", "delete* a"]),
        ("find a -name '*.o' -delete", ["list* a", "delete a/**/*.o"]),
        ("find a ! -name '*.o' -delete", ["list* a", "delete* a"]),
        ("find a -mtime +3 -delete", ["list* a", "delete a/"]),
        ("find a -type d -empty -delete", ["list* a"]),
        ("find a -name '*.o' -o -name x -delete", ["list* a", "delete a/**/x"]),
        ("find / -name '[ab]?' -delete", ["list* /", "delete /**/[ab]?"]),
    ],
)
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


@pytest.mark.parametrize(
    ("text", "starts", "names"),
    [
        ("find a -name x -delete", ["a"], ("x",)),
        ("find -delete", ["."], ()),
        ("find a b -name x -o -name y -delete", ["a", "b"], ("y",)),
        ("find a ( -name x -o -name y ) -exec rm {} +", ["a"], ("x", "y")),
        ("find a -not -name x -delete", ["a"], ()),
        ("find a -not -path p -name x -delete", ["a"], ("x",)),
    ],
)
def test_what_a_search_acts_on_is_told_by_start_and_name(text: str, starts: list[str], names: tuple[str, ...]) -> None:
    found = finding_of(Command(words=tuple(map(Word, text.split()))))
    assert found is not None
    assert ([word.text for word in found.starts], found.names) == (starts, names)


@pytest.mark.parametrize(
    ("text", "picks", "is_without_content"),
    [
        ("find -type f -delete", False, False),
        ("find -mtime +3 -delete", True, False),
        ("find -name x -o -delete", False, False),
        ("find -name x -prune -o -size +1M -delete", True, False),
        ("find ( -size +1M ) -delete", False, False),
        ("find -empty -delete", True, True),
        ("find ! -empty -delete", False, False),
        ("find -type d -exec chmod 755 {} ;", False, True),
        ("find -type d -o -exec rm {} ;", False, False),
    ],
)
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

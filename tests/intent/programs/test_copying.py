from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.programs import actions_of
from tallystick.intent.programs.copying import is_remote
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case

names = st.text(st.sampled_from("abc"), min_size=1, max_size=4)


@given(st.lists(names, min_size=2, max_size=8), names, st.sampled_from(["cp", "mv", "install", "rsync"]))
def test_each_of_several_sources_goes_into_the_folder_under_its_name(
    sources: list[str], folder: str, program: str
) -> None:
    done = actions_of(Command(words=(Word(program), *map(Word, sources), Word(folder))))
    pairs = [(done.actions[a].target.text, done.actions[b].target.text) for a, b in done.flows]
    assert pairs == [(source, f"{folder}/{source}") for source in sources]


@given(names, names)
def test_one_source_goes_where_the_words_say(source: str, target: str) -> None:
    done = actions_of(Command(words=(Word("cp"), Word(source), Word(target))))
    assert [action.target.text for action in done.actions] == [source, target]


@each_case("text, expected")
def test_copies_go_where_the_words_say(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_copy_comes_from_both_of_its_words() -> None:
    assert acted("cp a d/").actions[1].words == (Word("a"), Word("d/"))


def test_a_remote_path_is_a_host_and_a_colon() -> None:
    remote = ["h:", "u@h:p", "h::m", "scp://h/p", "[::1]:p"]
    assert [is_remote(Word(path)) for path in remote] == [True] * 5
    assert [is_remote(Word(path)) for path in ("a", "./a:b", "d/a:b", ":a")] == [False] * 4


def test_what_goes_to_a_host_is_sent() -> None:
    assert flows("scp -r a b h:d") == ["a -> h:d", "b -> h:d"]
    assert acted("scp h:a .").actions[0].operation is Operation.FETCH

from __future__ import annotations

from tallystick.intent.programs import actions_of
from tallystick.intent.programs.transfer import url_of
from tallystick.model.script import HOLE, Command, Word
from tests.intent.programs.acting import acted, does, flows, lines
from tests.support.cases import each_case


@each_case("text, expected")
def test_a_url_has_a_scheme(text: str, expected: str) -> None:
    assert url_of(Word(text)) == Word(expected)


@each_case("text, expected")
def test_what_is_fetched_and_sent(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_an_answer_goes_into_the_file_of_its_own_url() -> None:
    assert flows("curl -o x a/1 -o y a/2") == ["http://a/1 -> x", "http://a/2 -> y"]
    assert acted("curl a").prints == (0,)


def test_a_body_goes_to_the_url() -> None:
    assert flows("curl -T f a") == ["f -> http://a"]


def test_a_url_that_is_not_known_keeps_its_hole() -> None:
    done = actions_of(Command(words=(Word("wget"), Word(HOLE, "x", (3,)))))
    assert [action.target.is_known for action in done.actions] == [False, False]
    assert done.actions[0].target.commands == (3,)
    known = actions_of(Command(words=(Word("wget"), Word(f"{HOLE}/a.tgz"))))
    assert lines(known)[1] == "write a.tgz"


def test_lists_of_urls_are_unknown() -> None:
    assert acted("wget -i list").is_unknown
    assert acted("curl -K conf").is_unknown
    assert not acted("curl -K conf a").is_unknown


def test_a_configuration_on_the_input_is_read() -> None:
    assert does("curl -K -", fed='# x\nurl = "http://a/b"\noutput: c\n-d @d\n') == [
        "read d",
        "send http://a/b",
        "write c",
    ]
    assert does("wget -i - -O c", fed="http://a/b\n") == ["fetch http://a/b", "write c"]

"""What is said of a step besides its values."""

from typing import Any

from tallystick.display.facts import facts, members, reference, short, value_lines, value_names
from tallystick.model.recorded import Recorded
from tests.support.cases import each

SESSION = "0123456789abcdef0123456789abcdef"


def step(**more: Any) -> Recorded:
    return Recorded(**{"session": SESSION, "n": 7, "hash": "ab" * 32, "prev": "", "parents": (), "meta": {}, **more})


def test_a_session_is_shown_by_the_beginning_of_its_id_and_a_step_by_its_number() -> None:
    assert short(SESSION) == "01234567"
    assert reference(step()) == "01234567:7"


@each(
    "more, name, text",
    [
        ({"meta": {"ts": "2026-01-02T03:04:05.000000Z"}}, "happened", "2026-01-02 03:04:05.000000 UTC"),
        ({"meta": {"duration_ms": 1200}}, "took", "1.2 s"),
        ({"meta": {"type": "tool_result", "success": False}}, "result", "failed"),
        ({"meta": {"request": 3}}, "prompt", "01234567:3"),
        ({"meta": {"parent": 4}}, "part of", "01234567:4"),
        ({}, "previous step", "01234567:6, the step before it"),
        ({"n": 0}, "previous step", "nothing: it is the first step"),
        ({"parents": ("cd" * 32,)}, "previous step", "cd" * 6),
        ({"parents": (f"{'e' * 32}#{'f' * 64}",)}, "previous step", "eeeeeeee#ffffffffffff, another session's"),
        ({"meta": {"input": "not-visible"}}, "input", "not visible from this source"),
        ({"meta": {"input": {"path": []}}}, "input", "`tally show 01234567:7 --input`"),
        ({"meta": {"source": "hook", "source_id": "x"}}, "source", "hook x"),
        ({"meta": {"source": "\x1b[31m"}}, "source", "␛[31m"),
        ({"meta": {"ts": 5, "request": "7", "parent": None}}, "happened", ""),
    ],
)
def test_each_fact_in_words(more: dict[str, Any], name: str, text: str) -> None:
    assert dict(facts(step(**more)))[name] == text


def test_the_other_members_are_listed_and_no_fact_twice() -> None:
    found = step(meta={"type": "note", "ts": "x", "zeta": True, "alpha": "\x1b]0;t\x07"})
    assert members(found) == [("alpha", "␛]0;t␇"), ("zeta", "true")]


def test_values_that_are_not_here_have_names_too() -> None:
    found = step(values={"b": 1}, raw={"a": b""}, unloaded={"d": 5}, withheld=("c",))
    assert value_names(found) == ["a", "b", "c", "d"]


def test_a_value_is_text_as_it_stands_and_all_else_indented() -> None:
    assert list(value_lines("one\n\x1b[2Jtwo\n")) == ["one", "␛[2Jtwo"]
    assert list(value_lines({"a": [1]})) == ["{", '  "a": [', "    1", "  ]", "}"]

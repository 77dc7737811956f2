from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.step import Json, Source, Step
from tallystick.recording.corroboration import (
    Corroboration,
    Told,
    Waiting,
    corroboration,
    is_unnamed,
    join_key,
    normal,
    seconds_apart,
    told_already,
)
from tests.support.cases import each, each_case

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["content.output", "content.args", "content.text", "content.result"])
TOLD = st.builds(
    Told,
    st.dictionaries(NAMES, JSON, max_size=3),
    st.dictionaries(st.just("content.part_0"), st.binary(max_size=3)),
    st.none() | st.just({"output": 3}),
    st.none() | st.booleans(),
)


def call(args: Json, **rest: Any) -> Step:
    return Step(session="s", type="tool_call", meta={"tool": "Bash"}, values={"content.args": args}, **rest)


@given(TOLD)
def test_what_is_told_agrees_with_itself(told: Told) -> None:
    assert corroboration(told, told) is Corroboration.SAME
    assert told_already(told, told) == told.names()


@given(TOLD, TOLD)
def test_whether_two_contradict_each_other_does_not_depend_on_who_came_first(first: Told, second: Told) -> None:
    one, other = corroboration(first, second), corroboration(second, first)
    assert (one is Corroboration.OTHER) == (other is Corroboration.OTHER)
    if one is Corroboration.SAME:
        assert told_already(first, second) == second.names()


@given(TOLD, st.dictionaries(NAMES, JSON, min_size=1))
def test_more_is_said_exactly_where_a_value_is_new(told: Told, more: dict[str, Json]) -> None:
    both = Told({**more, **told.values}, told.raw, told.tokens, told.success)
    expected = Corroboration.MORE if both.names() > told.names() else Corroboration.SAME
    assert corroboration(told, both) is expected
    assert corroboration(both, told) is Corroboration.SAME


@each_case("name, one, other")
def test_the_same_in_another_shape_is_the_same(name: str, one: Json, other: Json) -> None:
    assert corroboration(Told({name: one}), Told({name: other})) is Corroboration.SAME
    assert corroboration(Told({name: other}), Told({name: one})) in (Corroboration.SAME, Corroboration.MORE)
    assert (normal(name, one) == normal(name, other)) == (name != "content.result")


@each_case("name, one, other")
def test_what_says_something_else_is_not_the_same(name: str, one: Json, other: Json) -> None:
    assert corroboration(Told({name: one}), Told({name: other})) is Corroboration.OTHER


def test_success_and_tokens_are_compared_only_where_both_say_them() -> None:
    said = {"content.output": "x"}
    assert corroboration(Told(said, success=True), Told(said)) is Corroboration.SAME
    assert corroboration(Told(said, success=True), Told(said, success=False)) is Corroboration.OTHER
    assert corroboration(Told(said), Told(said, tokens={"output": 1})) is Corroboration.MORE
    assert corroboration(Told(said, tokens={"output": 2}), Told(said, tokens={"output": 1})) is Corroboration.OTHER


def test_an_event_is_looked_for_by_type_tool_and_what_was_asked_or_said() -> None:
    bash = call({"command": "ls"})
    assert join_key(bash, bash.values) == join_key(call({"cmd": "ls "}, source=Source.HOOK), {"content.args": "ls"})
    read = Step(session="s", type="tool_call", meta={"tool": "Read"}, values=bash.values)
    assert join_key(read, read.values) != join_key(bash, bash.values)
    asked = Step(session="s", type="permission", meta={"tool": "Bash"}, values=bash.values)
    assert join_key(asked, asked.values) != join_key(bash, bash.values)


@each("kind", ["tool_result", "subagent_start"])
def test_results_and_events_that_say_nothing_are_not_looked_for(kind: str) -> None:
    step = Step(session="s", type=kind, values={"content.output": "x"})
    assert join_key(step, step.values) is None


@each("kind", ["compaction", "session_end"])
def test_what_a_session_does_once_is_found_whatever_is_said_of_it(kind: str) -> None:
    told = Step(session="s", type=kind, values={"content.text": "in short"})
    assert join_key(told, told.values) == join_key(Step(session="s", type=kind), {}) is not None


def test_an_id_of_ours_is_known_by_its_beginning() -> None:
    assert is_unnamed("hook/3")
    assert not is_unnamed("toolu_1/hook/")
    assert not is_unnamed(None)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 20))))
def test_who_waits_longest_is_offered_first(moves: list[tuple[bool, int, int]]) -> None:
    waiting, model = Waiting(), dict[int, bytes]()
    for is_add, key, n in moves:
        if is_add and n not in model:
            waiting.add(bytes([key]), n)
            model[n] = bytes([key])
        elif not is_add:
            waiting.remove(n)
            model.pop(n, None)
    assert len(waiting) == len(model)
    for key in range(4):
        assert waiting.candidates(bytes([key])) == tuple(n for n, at in model.items() if at == bytes([key]))


def test_of_very_many_the_oldest_waits_no_longer() -> None:
    waiting = Waiting()
    for n in range(10_001):
        waiting.add(b"same", n)
    assert len(waiting) == 10_000
    assert waiting.candidates(b"same")[0] == 1


def test_times_are_apart_only_where_both_are_known() -> None:
    assert seconds_apart("2026-01-01T00:00:00Z", "2026-01-01T02:00:01+01:00") == 3601
    assert seconds_apart("2026-01-01T00:00:02Z", "2026-01-01T00:00:00Z") == -2
    assert seconds_apart("2026-01-01T00:00:00", "2026-01-01T00:00:00Z") is None
    assert seconds_apart(None, "2026-01-01T00:00:00Z") is None
    assert seconds_apart("2026-01-01T00:00:00Z", "soon") is None

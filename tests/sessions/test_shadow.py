"""The shadow of a live record: families as agents told of them, live and imported, and each kind of difference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tallystick.ask.shadow import explained
from tallystick.model.step import Event, Opening, Ref, SessionKind, Step
from tallystick.sessions.shadow import Account, Aspect, Occurrence, differences, recorded, told
from tallystick.sessions.states import Status
from tests.support.cases import each
from tests.support.families import NAMES, Replay, journals

STILL_THERE = frozenset(("qwen",))
"""Agents that report no end: without their process no one knows that they are gone."""


@pytest.mark.parametrize("agent", NAMES)
def test_what_is_recorded_live_is_what_an_import_gives(agent: str, tmp_path: Path) -> None:
    replay = Replay(agent, tmp_path)
    live, imported = recorded(journals(replay.run())), recorded(journals(replay.imported()))
    found = [one for one in differences(live, imported) if not explained(agent, one)]
    if agent in STILL_THERE:
        found = [one for one in found if one.aspect is not Aspect.STATUS]
    assert found == []
    assert len(live) == len(imported)


@pytest.mark.parametrize("agent", ["claude-code"])
def test_what_the_files_say_is_what_their_import_records(agent: str, tmp_path: Path) -> None:
    replay = Replay(agent, tmp_path)
    imported = recorded(journals(replay.run()))
    assert differences(imported, told(replay.read())) == []


CALL = Occurrence(type="tool_call", names=frozenset(("c",)), tool="Bash")
RESULT = Occurrence(type="tool_result", names=frozenset(("c/result",)), tool="Bash", success=True, exit_code=0)
ASKED = Occurrence(type="user", names=frozenset(("p",)), text="do it")
USED = Occurrence(type="model_call", names=frozenset(("m",)), tokens={"input": 1, "output": 2})
TOLD = Account(session="s", kind="root", parent=None, status=Status.COMPLETED, events=(ASKED, USED, CALL, RESULT))


def _with(**members: object) -> Account:
    return replace(TOLD, **members)


@each(
    "record, aspect",
    [
        (_with(kind="child", parent="r"), Aspect.TREE),
        (_with(kind="fork"), Aspect.TREE),
        (_with(status=Status.FAILED), Aspect.STATUS),
        (_with(status=Status.ACTIVE), Aspect.STATUS),
        (_with(events=(replace(ASKED, text="do that"), USED, CALL, RESULT)), Aspect.PROMPT),
        (_with(events=(USED, CALL, RESULT)), Aspect.PROMPT),
        (_with(events=(ASKED, USED, RESULT)), Aspect.CALL),
        (_with(events=(ASKED, USED, CALL, RESULT, replace(CALL, names=frozenset(("d",))))), Aspect.CALL),
        (_with(events=(ASKED, USED, CALL)), Aspect.OUTCOME),
        (_with(events=(ASKED, USED, CALL, replace(RESULT, success=None))), Aspect.OUTCOME),
        (_with(events=(ASKED, USED, CALL, replace(RESULT, exit_code=1))), Aspect.OUTCOME),
        (_with(events=(ASKED, replace(USED, tokens={"input": 1}), CALL, RESULT)), Aspect.TOKENS),
        (_with(events=(ASKED, CALL, RESULT)), Aspect.TOKENS),
        (_with(events=(CALL, ASKED, USED, RESULT)), Aspect.ORDER),
    ],
)
def test_each_kind_of_difference_is_found(record: Account, aspect: Aspect) -> None:
    assert [one.aspect for one in differences({"s": record}, {"s": TOLD})] == [aspect]


MORE = replace(CALL, names=frozenset(("d",)))


@each(
    "told_first, recorded_first, aspects",
    [
        ((ASKED, CALL, MORE, RESULT), (ASKED, MORE, CALL, RESULT), []),
        ((ASKED, CALL, RESULT, MORE), (ASKED, MORE, CALL, RESULT), [Aspect.ORDER]),
        ((CALL, ASKED, MORE, RESULT), (MORE, ASKED, CALL, RESULT), [Aspect.ORDER]),
    ],
)
def test_calls_that_are_made_at_once_have_no_order(
    told_first: tuple[Occurrence, ...], recorded_first: tuple[Occurrence, ...], aspects: list[Aspect]
) -> None:
    found = differences({"s": _with(events=recorded_first)}, {"s": _with(events=told_first)})
    assert [one.aspect for one in found] == aspects


def test_sessions_that_one_side_has_alone_are_differences() -> None:
    assert [one.aspect for one in differences({"s": TOLD}, {})] == [Aspect.TREE]
    assert [one.aspect for one in differences({}, {"s": TOLD})] == [Aspect.TREE]
    assert differences({"s": TOLD}, {"s": TOLD}) == []


def test_an_end_of_which_the_files_say_nothing_is_what_the_record_says() -> None:
    silent = _with(status=None)
    assert differences({"s": _with(status=Status.FAILED)}, {"s": silent}) == []
    assert [one.aspect for one in differences({"s": _with(status=Status.ACTIVE)}, {"s": silent})] == [Aspect.STATUS]


def step(session: str, name: str, kind: str = "assistant") -> Step:
    return Step(session=session, type=kind, source_id=name)


def test_a_history_that_two_files_share_is_that_of_the_first_and_the_second_is_a_fork() -> None:
    openings = [Opening(session=name, agent="a") for name in ("s", "f")]
    events: list[Event] = [
        openings[0],
        step("s", "1"),
        step("s", "2"),
        openings[1],
        step("f", "1"),
        step("f", "2"),
        step("f", "3"),
    ]
    accounts = told(events)
    assert (accounts["f"].kind, accounts["f"].parent) == ("fork", "s")
    assert (accounts["s"].kind, accounts["s"].parent) == ("root", None)


def test_of_ids_that_hold_for_one_session_alone_a_copy_is_told_by_each() -> None:
    events: list[Event] = [
        Opening(session="f", agent="a", kind=SessionKind.FORK, parent=Ref(session="s")),
        step("f", "1"),
        Opening(session="s", agent="a"),
        step("s", "1"),
    ]
    accounts = told(events, shared=lambda _: "f", are_ids_global=False)
    assert {name: each.kind for name, each in accounts.items()} == {"s": "root", "f": "fork"}


def test_what_hangs_on_a_step_hangs_on_the_continuation_that_has_it() -> None:
    child = Opening(session="s/c", agent="a", kind=SessionKind.CHILD, parent=Ref("call", "s"))
    events: list[Event] = [Opening(session="s", agent="a"), step("s", "1"), step("s~1", "call", "tool_call"), child]
    assert told(events)["s/c"].parent == "s~1"


@each("shared, sessions", [(lambda _: "s", []), (lambda _: None, ["f"])])
def test_a_file_without_anything_of_its_own_is_no_session(
    shared: Callable[[str], str | None], sessions: list[str]
) -> None:
    events: list[Event] = [Opening(session="f", agent="a"), step("f", "1")]
    assert list(told(events, shared=shared)) == sessions


def test_what_a_file_says_of_its_parent_is_the_tree() -> None:
    child = Opening(session="c", agent="a", kind=SessionKind.CHILD, parent=Ref("call", "s"))
    assert (told([child])["c"].kind, told([child])["c"].parent) == ("child", "s")

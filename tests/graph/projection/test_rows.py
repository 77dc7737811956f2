from __future__ import annotations

import json
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tallystick.graph.projection.rows import (
    LEFT_OUT,
    LONGEST,
    edge_rows,
    known_time,
    other_members,
    step_row,
    text_or_none,
    whole_or_none,
    written_for_an_hour,
)
from tallystick.graph.tables import SessionState, StepRow
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tests.graph.making import Session
from tests.support.cases import cases, each, each_case

ODD = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
)
MEMBERS = cases(__file__, "members", list[str])


def recorded(meta: Mapping[str, Json], *, n: int = 3, parents: tuple[str, ...] = (), **values: Json) -> Recorded:
    named = {name.replace("_", ".", 1): value for name, value in values.items()}
    return Recorded(session="s" * 32, n=n, hash="h", prev="p", parents=parents, meta=meta, values=named)


def row_of(meta: Mapping[str, Json], **values: Json) -> StepRow:
    return step_row(
        recorded(meta, **values), SessionState("s", first_id=100, agent_id="demo"), at_us=7, request=2, offset=55
    )


def test_a_row_has_what_the_step_says() -> None:
    meta: dict[str, Json] = {
        "type": "model_call",
        "ts": "2026-01-02T03:04:05.000000Z",
        "recorded": "2026-01-02T03:04:06.000000Z",
        "source": "hook",
        "source_id": "m1/usage",
        "corr": "c1",
        "parent": 1,
        "request": 2,
        "tool": "Bash",
        "success": False,
        "duration_ms": 12,
        "model": "m",
        "tokens": {"input": 1, "output": 2, "cache_read": 3, "cache_write": 4, "reasoning": 5},
        "agent_role": "planner",
        "revises": 0,
        "corroborates": 1,
    }
    row = row_of(meta)
    assert row == StepRow(
        id=103,
        session_id="s" * 32,
        n=3,
        hash="h",
        type="model_call",
        agent_id="demo",
        at_us=7,
        ts=meta["ts"],
        recorded=meta["recorded"],
        source="hook",
        source_id="m1/usage",
        corr="c1",
        parent=1,
        request=2,
        tool="Bash",
        success=0,
        duration_ms=12,
        model="m",
        tokens_input=1,
        tokens_output=2,
        tokens_cache_read=3,
        tokens_cache_write=4,
        tokens_reasoning=5,
        agent_role="planner",
        revises=0,
        revised_by=None,
        corroborates=1,
        offset=55,
        meta=None,
    )


def test_a_name_that_does_not_fit_meta_is_found_beside_it() -> None:
    row = row_of({"type": "tool_call", "source_id": "c1"}, content_meta={"tool": "Ask Joe", "source_id": "other"})
    assert (row.tool, row.source_id) == ("Ask Joe", "c1")


@given(st.dictionaries(st.sampled_from(MEMBERS), ODD), ODD)
def test_members_of_any_other_type_count_as_absent(meta: dict[str, Json], rest: Json) -> None:
    step = recorded(meta, n=0, content_meta=rest)
    row = step_row(step, SessionState("s", first_id=100, agent_id="demo"), at_us=7, request=None, offset=0)
    assert row.tokens_input is None
    for text in (row.ts, row.source_id, row.corr, row.tool, row.model, row.agent_role):
        assert text is None or type(text) is str
    for number in (row.parent, row.duration_ms, row.revises, row.corroborates):
        assert number is None or abs(number) < 1 << 53
    assert edge_rows(step) == []
    known_time(step)


@each("count", [-1, 1 << 60, True, 1.5, "5", None])
def test_a_count_of_tokens_that_is_none_is_not_counted(count: Json) -> None:
    assert row_of({"type": "model_call", "tokens": {"input": count}}).tokens_input is None


def test_numbers_and_texts_are_told_from_what_looks_like_them() -> None:
    assert [whole_or_none(value) for value in (0, -5, (1 << 53) - 1, 1 << 53, True, 1.0, "1", None)] == [
        0,
        -5,
        (1 << 53) - 1,
        None,
        None,
        None,
        None,
        None,
    ]
    assert [text_or_none(value) for value in ("", "a", 1, None, b"a")] == ["", "a", None, None, None]


TS, RECORDED = "2026-01-02T03:04:05.000000Z", "2027-01-02T03:04:05.000000Z"


@each(
    "meta, known",
    [
        ({"ts": TS, "recorded": RECORDED, "source": "transcript"}, TS),
        ({"ts": TS, "recorded": RECORDED, "source": "hook"}, TS),
        ({"recorded": RECORDED, "source": "sdk"}, RECORDED),
        ({"ts": "soon", "recorded": RECORDED, "source": "acp"}, RECORDED),
        ({"recorded": RECORDED, "source": "transcript"}, None),
        ({"recorded": RECORDED, "source": "import"}, None),
        ({"recorded": RECORDED}, None),
    ],
)
def test_a_step_is_timed_by_its_source_or_by_a_recorder_that_saw_it_happen(meta: dict[str, str], known: str) -> None:
    found = known_time(recorded(meta))
    assert (found and found[1]) == known


def test_parents_in_other_sessions_are_edges() -> None:
    parents = ("a" * 64, f"{'b' * 32}#{'c' * 64}", f"{'d' * 32}#{'e' * 64}")
    edges = edge_rows(recorded({"type": "merge"}, parents=parents))
    assert [(edge.n, edge.position, edge.kind, edge.parent_session, edge.parent_step) for edge in edges] == [
        (3, 1, "merge", "b" * 32, "c" * 64),
        (3, 2, "merge", "d" * 32, "e" * 64),
    ]


def test_the_first_entry_says_how_its_session_hangs() -> None:
    sealed = edge_rows(recorded({"type": "session_start", "kind": "child"}, n=0, parents=("b#c",)))
    assert [(edge.kind, edge.parent_session, edge.claimed_session) for edge in sealed] == [("child", "b", None)]
    claim = {"type": "session_start", "kind": "fork", "parent_source": {"session": "own id", "step": "m1"}}
    assert [
        (edge.kind, edge.parent_session, edge.claimed_session, edge.claimed_step)
        for edge in edge_rows(recorded(claim, n=0))
    ] == [("fork", None, "own id", "m1")]
    assert edge_rows(recorded(claim, n=4)) == []


@each_case("meta, kept")
def test_tokens_that_stay_in_a_cache_for_an_hour_are_told_apart(meta: dict[str, Json], kept: int) -> None:
    assert written_for_an_hour(row_of(meta)) == kept


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def test_what_has_a_column_is_not_kept_twice() -> None:
    assert other_members({"type": "user", "ts": "t", "tokens": {"input": 1}, "tool": "Bash", "parent": 3}) is None
    assert json.loads(other_members({"type": "user", "check": "triage", "flags": ["a"]}) or "") == {
        "check": "triage",
        "flags": ["a"],
    }


@given(st.dictionaries(st.text(), VALUES))
def test_whatever_the_members_are_the_text_is_short_and_tells_how_many_are_not_in_it(names: dict[str, object]) -> None:
    text = other_members(names)
    if text is None:
        return
    assert len(text.encode()) <= LONGEST
    found = json.loads(text)
    others = {key for key in names if other_members({key: names[key]}) is not None}
    if LEFT_OUT not in others:
        assert len(found.keys() - {LEFT_OUT}) + found.get(LEFT_OUT, 0) == len(others)
    assert found.keys() <= {*others, LEFT_OUT}


def test_of_members_that_do_not_fit_the_short_ones_stay() -> None:
    found = json.loads(other_members({"note": "x" * 5000, "check": "static", "number": 1 << 70}) or "")
    assert found == {"check": "static", LEFT_OUT: 2}


def test_a_row_has_them_with_those_that_do_not_fit_the_format() -> None:
    bare = Session().add("security_block", {"trust": "untrusted"})
    step = replace(bare, values={"content.meta": {"entropy": 4.5, "trust": "from content"}})
    row = step_row(step, SessionState("s", first_id=1, agent_id="demo"), at_us=0, request=None, offset=0)
    assert json.loads(row.meta or "") == {"entropy": 4.5, "trust": "untrusted"}

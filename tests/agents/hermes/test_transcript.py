from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents import SourceFile
from tallystick.agents.hermes import transcript as hermes
from tallystick.capture.sqlite_rows import read_rows
from tallystick.model.step import Event, Input, Loss, Opening, Ref, SessionKind
from tests.agents.conftest import ReadEvents
from tests.agents.damage import JSON
from tests.agents.hermes_rows import (
    BANNER,
    SHARED,
    Row,
    asked,
    fed,
    find,
    losses,
    of_type,
    openings,
    said,
    session,
    steps,
    twice_in_place,
)
from tests.support.laws import examples
from tests.support.shown import shown

RECORDING = Path(__file__).parents[2] / "recordings" / "hermes" / "0.19.0" / ".hermes" / "state.db"

CHAIN = ("21511ee8-a8f0-4dbd-a825-da85930c520b", "20261121_203915_ae293e", "20261121_203918_639673")
IN_PLACE = "a9c31a77-965f-4f81-bb6d-7e687d734c73"


# The recorded database ----------------------------------------------------------------------------------------------


@pytest.fixture
def recorded(read_events: ReadEvents) -> list[Event]:
    return read_events(hermes, RECORDING)


def test_the_recording_gives_these_events(recorded: list[Event]) -> None:
    assert Counter(event.kind.value for event in recorded if isinstance(event, Opening)) == {
        "root": 5,
        "child": 1,
        "continuation": 3,
        "fork": 2,
    }
    assert Counter(step.type for step in steps(recorded)) == {
        "user": 21,
        "model_call": 27,
        "assistant": 24,
        "tool_call": 7,
        "tool_result": 6,
        "usage": 9,
        "compaction": 3,
        "session_end": 3,
        "subagent_start": 1,
        "subagent_end": 1,
        "system": 1,
    }
    assert losses(recorded) == {"repeated_message": 20, "state_meta": 2, "schema_version": 1}


def test_no_source_id_stands_twice_in_a_session(recorded: list[Event]) -> None:
    counted = Counter((step.session, step.source_id) for step in steps(recorded))
    assert [key for key, count in counted.items() if count > 1] == []


def test_each_message_of_the_recording_is_recorded_once_or_counted(recorded: list[Event]) -> None:
    with closing(sqlite3.connect(f"file:{RECORDING}?mode=ro&immutable=1", uri=True)) as database:
        rows = {f"m{key}": call for key, call in database.execute("SELECT id, tool_call_id FROM messages")}
    found = Counter(str(step.source_id).split("/")[0] for step in steps(recorded) if step.type != "compaction")
    repeated = {event.detail.split()[1] for event in recorded if isinstance(event, Loss) and event.detail}
    unseen = {key for key, call in rows.items() if not found[key] and not found[str(call)] and key not in repeated}
    assert unseen == set()
    assert not repeated & {key for key in rows if found[key]}


def test_a_call_is_paired_with_its_result(recorded: list[Event]) -> None:
    call, result = find(recorded, "call_1_0"), find(recorded, "call_1_0/result")
    assert call.meta == {"tool": "terminal", "corr": "call_1_0"}
    assert call.values["content.args"] == {"command": "echo provenance-$((6*7)) | tee out.txt"}
    assert result.meta["success"] is True
    assert result.meta["exit_code"] == 0
    assert result.after == (Ref("call_1_0"),)
    assert json.loads(shown(result.values["content.output"]))["output"] == "provenance-42"


def test_a_sub_agent_hangs_on_the_call_that_gave_its_goal(recorded: list[Event]) -> None:
    child = openings(recorded)["20261121_203846_b78416"]
    assert child.kind is SessionKind.CHILD
    assert child.parent == Ref("call_3_0", "20261121_203843_ae9717")
    [prompt] = [step for step in steps(recorded, child.session) if step.type == "user"]
    assert prompt.meta["origin"] == "parent"
    assert not prompt.opens_request


def test_a_compaction_that_changes_the_id_is_a_continuation(recorded: list[Event]) -> None:
    first, second, third = (openings(recorded)[name] for name in CHAIN)
    assert (first.kind, second.kind, third.kind) == (SessionKind.ROOT, *[SessionKind.CONTINUATION] * 2)
    assert second.parent == Ref("compaction@2026-11-21T20:39:15.640494Z", first.session)
    assert [step.type for step in steps(recorded, first.session)][-2:] == ["compaction", "session_end"]
    assert steps(recorded, first.session)[-1].meta["reason"] == "compression"
    assert steps(recorded, third.session)[-1].type == "usage"


def test_what_a_compaction_kept_is_not_recorded_again(recorded: list[Event]) -> None:
    summary = steps(recorded, CHAIN[2])[0]
    assert summary.meta == {"origin": "summary", "kept": 4}
    assert summary.values["content.kept"] == ["m52", "call_22_0", "call_22_0/result", "m55/0"]
    following = steps(recorded, CHAIN[2])[1]
    assert following.source_id == "m61"
    assert following.after == (Ref("m56"), Ref("m55/0", CHAIN[1]))
    assert sum(step.source_id == "call_22_0" for step in steps(recorded)) == 1


def test_a_call_after_kept_messages_does_not_claim_to_show_its_input(recorded: list[Event]) -> None:
    assert {step.input for step in of_type(steps(recorded, CHAIN[0]), "model_call")} == {Input.PATH}
    assert {step.input for step in of_type(steps(recorded, CHAIN[1]), "model_call")} == {Input.HIDDEN}


def test_a_compaction_in_place_goes_on_in_a_session_of_its_own(recorded: list[Event]) -> None:
    compaction = find(recorded, "m73/compaction")
    assert compaction.meta == {"mode": "in-place", "kept": 2, "summarized": 6}
    assert compaction.values == {"content.kept": ["m71", "m72/0"]}
    after = openings(recorded)[f"{IN_PLACE}~1"]
    assert after.kind is SessionKind.CONTINUATION
    assert after.parent == Ref("m73/compaction", IN_PLACE)
    assert [step.source_id for step in steps(recorded, after.session)] == ["m73", "m76", "m77/usage", "m77/0"]


def test_a_branch_and_an_editors_fork_begin_where_the_copies_end(recorded: list[Event]) -> None:
    branch = openings(recorded)["20260101_000000_branch"]
    assert (branch.kind, branch.parent) == (SessionKind.FORK, Ref("m62/0", CHAIN[2]))
    fork = openings(recorded)["b8224ee1-2df1-469b-a17c-5d158d1ae7b3"]
    assert (fork.kind, fork.parent) == (SessionKind.FORK, Ref("m18/0", "bd8175fc-181d-4647-97b8-e802beb89893"))
    assert fork.meta["relation_by"] == "copies"


def test_the_tokens_are_those_of_the_usage_table(recorded: list[Event]) -> None:
    with closing(sqlite3.connect(f"file:{RECORDING}?mode=ro&immutable=1", uri=True)) as database:
        [wanted] = database.execute("SELECT sum(input_tokens), sum(output_tokens) FROM session_model_usage")
    tokens = [step.meta["tokens"] for step in steps(recorded) if "tokens" in step.meta]
    assert (sum(item["input"] for item in tokens), sum(item["output"] for item in tokens)) == wanted
    assert {step.meta["task"] for step in of_type(recorded, "usage")} == {"main", "title_generation"}


def test_reading_twice_gives_the_same(recorded: list[Event], read_events: ReadEvents) -> None:
    assert read_events(hermes, RECORDING) == recorded


@pytest.mark.parametrize("length", range(0, 147, 7))
def test_more_rows_do_not_change_what_was_read_before(recorded: list[Event], length: int) -> None:
    """What the first rows give is among the final events, but for the last session, which was still growing."""
    reader = hermes.reader(SourceFile("state.db"))
    events: list[Event] = []
    for row, ordinal in list(read_rows(RECORDING, hermes.TABLES))[:length]:
        events += reader.feed(row, ordinal)
    assert events == recorded[: len(events)]


def test_a_hermes_database_is_known_by_its_tables_or_its_place() -> None:
    head = RECORDING.read_bytes()[: 64 * 1024]
    assert hermes.recognises("/home/dev/copy.db", head)
    assert hermes.recognises("/home/dev/.hermes/state.db", head[:4096])
    assert not hermes.recognises("/home/dev/state.db", head[:100])
    assert not hermes.recognises("/home/dev/.hermes/state.db", b"{}")


# Relations ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parent", "child", "kind", "named"),
    [
        ({"end_reason": "compression"}, {}, SessionKind.CONTINUATION, "compression"),
        ({"end_reason": "turn_boundary_rollover"}, {}, SessionKind.CONTINUATION, "rollover"),
        ({}, {"config": {"_branched_from": "p"}}, SessionKind.FORK, "branch"),
        ({"end_reason": "compression"}, {"config": {"_branched_from": "p"}}, SessionKind.FORK, "branch"),
        ({"end_reason": "branched", "ended_at": 1e9 + 50}, {}, SessionKind.FORK, "branch"),
        ({"end_reason": "branched", "ended_at": 1e9 + 500}, {}, SessionKind.CHILD, "other"),
        ({}, {"config": {"_delegate_from": "p"}}, SessionKind.CHILD, "delegate"),
        ({"end_reason": "compression"}, {"config": {"_delegate_from": "p"}}, SessionKind.CHILD, "delegate"),
        ({"end_reason": "compression"}, {"config": {"_delegate_from": "q"}}, SessionKind.CONTINUATION, "compression"),
        ({"end_reason": "compression"}, {"source": "tool"}, SessionKind.CHILD, "tool"),
        ({}, {}, SessionKind.CHILD, "other"),
    ],
)
def test_the_parent_column_has_four_meanings(parent: Row, child: Row, kind: SessionKind, named: str) -> None:
    row = {"parent_session_id": "p", **child}
    events = fed([session("p", **parent), *SHARED, session("c", 1e9 + 60, **row), said(4, "c", "user", "four")])
    opened = openings(events)["c"]
    assert (opened.kind, opened.meta["relation"]) == (kind, named)
    assert opened.parent is not None
    assert opened.parent.session == "p"


@pytest.mark.parametrize(
    ("child", "kind", "parent"),
    [
        ({"parent_session_id": "gone"}, SessionKind.CHILD, Ref(None, "gone")),
        ({"parent_session_id": "c"}, SessionKind.ROOT, None),
        ({"config": {"_delegate_from": "gone"}}, SessionKind.CHILD, Ref(None, "gone")),
        ({"config": {"_branched_from": "gone"}}, SessionKind.FORK, Ref(None, "gone")),
        ({"config": {"_delegate_from": "__orphaned__"}}, SessionKind.CHILD, None),
        ({}, SessionKind.ROOT, None),
    ],
)
def test_a_missing_parent_is_claimed_by_name(child: Row, kind: SessionKind, parent: Ref | None) -> None:
    opened = openings(fed([session("c", **child), said(1, "c", "user", "hello")]))["c"]
    assert (opened.kind, opened.parent) == (kind, parent)


def test_two_sessions_that_name_each_other_are_both_read() -> None:
    events = fed([session("a", parent_session_id="b"), session("b", parent_session_id="a")])
    assert {name: opened.parent for name, opened in openings(events).items()} == {
        "a": Ref(None, "b"),
        "b": Ref(None, "a"),
    }


def test_each_sub_agent_of_a_batch_hangs_on_the_call_with_its_goal() -> None:
    tasks = {"tasks": [{"goal": "count the files"}, {"goal": "read the log"}]}
    marked = {"parent_session_id": "p", "config": {"_delegate_from": "p"}, "source": "subagent"}
    events = fed(
        [
            session("p"),
            said(1, "p", "user", "go"),
            asked(2, "p", ("a", "delegate_task", {"goal": "other"}), ("b", "delegate_task", tasks)),
            session("x", 1e9 + 5, **marked),
            said(3, "x", "user", "read the log"),
            session("y", 1e9 + 6, **marked),
            said(4, "y", "user", "something that no call said"),
        ]
    )
    assert openings(events)["x"].parent == Ref("b", "p")
    assert openings(events)["y"].parent == Ref("b", "p")


def test_a_branch_that_copied_nothing_hangs_on_the_last_step() -> None:
    branched = {"parent_session_id": "p", "config": {"_branched_from": "p"}}
    events = fed([session("p"), *SHARED, session("c", 1e9 + 60, **branched), said(4, "c", "user", "new")])
    assert openings(events)["c"].parent == Ref(None, "p")


def test_a_branch_goes_on_after_its_copies() -> None:
    branched = {"parent_session_id": "p", "config": {"_branched_from": "p"}}
    events = fed(
        [
            session("p"),
            *SHARED,
            session("c", 1e9 + 60, **branched),
            said(4, "c", "user", "one", at=1e9 + 60.01),
            said(5, "c", "assistant", "two", at=1e9 + 60.02),
            said(6, "c", "user", "one", at=1e9 + 90),
        ]
    )
    assert openings(events)["c"].parent == Ref("m2/0", "p")
    assert [step.source_id for step in steps(events, "c")] == ["m6"]
    assert losses(events)["repeated_message"] == 2


def test_an_editors_session_that_begins_like_another_is_no_fork() -> None:
    rows = [session("p", source="acp"), *SHARED, session("c", 1e9 + 60, source="acp"), said(4, "c", "user", "one")]
    rows += [said(5, "c", "assistant", "two", at=1e9 + 70)]
    events = fed(rows)
    assert openings(events)["c"].kind is SessionKind.ROOT
    assert [step.source_id for step in steps(events, "c")] == ["m4", "m5/usage", "m5/0"]


# Usage, ends, what is left over -------------------------------------------------------------------------------------


def used(name: str, task: str, **tokens: int) -> tuple[str, Row]:
    return "session_model_usage", {"session_id": name, "model": "m-1", "task": task, **tokens}


def test_counters_beyond_the_usage_rows_are_counted_once() -> None:
    row = {"input_tokens": 100, "output_tokens": 7}
    events = fed(
        [session("s", model="m-1", **row), used("s", "", input_tokens=80), used("s", "vision", input_tokens=5)]
    )
    assert {step.source_id: step.meta["tokens"] for step in of_type(events, "usage")} == {
        "usage/0": {"input": 80},
        "usage/1": {"input": 5},
        "usage/session": {"input": 20, "output": 7},
    }


def test_money_is_in_millionths() -> None:
    row = {"session_id": "s", "model": "m", "estimated_cost_usd": 0.0123456, "actual_cost_usd": 0.0}
    [usage] = of_type(fed([session("s"), ("session_model_usage", row)]), "usage")
    assert usage.meta["cost_microusd"] == 12346


def test_a_session_that_ends_again_has_another_end() -> None:
    first = of_type(fed([session("s", end_reason="cli_close", ended_at=1e9 + 5)]), "session_end")
    second = of_type(fed([session("s", end_reason="agent_close", ended_at=1e9 + 9)]), "session_end")
    assert [step.meta["reason"] for step in first + second] == ["cli_close", "agent_close"]
    assert first[0].source_id != second[0].source_id


def test_the_opening_says_who_and_where() -> None:
    row = session("s", cwd="/home/dev/project", git_branch="main", title="Fix", user_id="u7", model="m-1")
    opened = openings(fed([("schema_version", {"version": 22}), row]))["s"]
    assert opened.values["personal.cwd"] == "/home/dev/project"
    assert opened.values["personal.origin"] == {"user_id": "u7"}
    assert opened.values["content.branch"] == "main"
    assert opened.meta == {"surface": "cli", "model": "m-1", "schema": 22}
    assert opened.ts == "2001-09-09T01:46:40.000000Z"


def test_rows_of_no_session_are_recorded_or_reported() -> None:
    events = fed(
        [
            said(1, "lost", "user", "hello"),
            used("lost2", "", input_tokens=1),
            ("async_delegations", {"delegation_id": "d", "parent_session_id": None, "origin_session": "nowhere"}),
            ("sqlite_master", {"type": "table", "name": "brand_new"}),
            ("sqlite_master", {"type": "table", "name": "messages_fts_data"}),
            ("gateway_routing", {"scope": ""}),
        ]
    )
    assert find(events, "m1").session == "lost"
    assert losses(events) == {
        "usage_of_no_session": 1,
        "delegation_of_no_session": 1,
        "unknown_table": 1,
        "gateway_routing": 1,
    }


def test_a_delegation_is_a_start_and_an_end() -> None:
    announced = said(2, "s", "tool", '{"delegation_id": "d1"}', tool_call_id="c", tool_name="delegate_task")
    row = {"delegation_id": "d1", "parent_session_id": "s", "dispatched_at": 1e9, "completed_at": 1e9 + 9}
    row |= {"state": "completed", "result_json": '{"summary": "done"}', "owner_pid": 1}
    events = fed([session("s"), asked(1, "s", ("c", "delegate_task", {})), announced, ("async_delegations", row)])
    assert (find(events, "d1").type, find(events, "d1/end").type) == ("subagent_start", "subagent_end")
    assert find(events, "d1").after == (Ref("c/result"),)
    assert find(events, "d1/end").values == {"content.result": {"summary": "done"}}
    assert find(events, "d1/end").meta["state"] == "completed"


# Anything at all ----------------------------------------------------------------------------------------------------

NAMES = ("s", "p", "c")
COLUMNS = (
    "id", "session_id", "role", "content", "tool_calls", "tool_call_id", "timestamp", "active", "compacted", "source",
    "parent_session_id", "end_reason", "started_at", "ended_at", "model_config", "system_prompt", "task", "tool_name",
    "reasoning", "delegation_id", "completed_at", "observed", "input_tokens", "title", "name", "type", "version",
)  # fmt: skip
LIKELY = st.sampled_from(
    (*NAMES, "user", "assistant", "tool", "compression", "acp", "subagent", 0, 1, 1e9, BANNER, "one", '[{"id": "c1"}]',
     '{"_delegate_from": "p"}', '{"_branched_from": "p"}', "\0json:[1, {\"type\": \"text\"}]", "table", "delegate_task")
)  # fmt: skip
ROWS = st.tuples(
    st.sampled_from(
        ("sessions", "messages", "session_model_usage", "async_delegations", "sqlite_master", "state_meta")
    ),
    st.dictionaries(st.sampled_from(COLUMNS), LIKELY | JSON, max_size=10),
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(ROWS, max_size=25))
def test_no_row_makes_the_reader_fail(rows: list[tuple[str, Row]]) -> None:
    events = fed(rows)
    assert events == fed(rows)
    assert len(events) >= len({row.get("id") for table, row in rows if table == "sessions" and row.get("id") == "s"})


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_a_damaged_row_takes_no_other_with_it(data: st.DataObject) -> None:
    rows = [(table, dict(row)) for table, row in twice_in_place()]
    place = data.draw(st.integers(0, len(rows) - 1))
    rows[place][1][data.draw(st.sampled_from(sorted(rows[place][1])))] = data.draw(JSON)
    events = fed(rows)
    texts = [step.values.get("content.text") for step in steps(events)]
    repeated = {str(event.detail).split()[1] for event in events if isinstance(event, Loss) and event.detail}
    whole = [row for at, (table, row) in enumerate(rows) if at != place and row.get("role") in ("user", "assistant")]
    assert [row for row in whole if row["content"] not in ("", *texts) and f"m{row['id']}" not in repeated] == []


@settings(max_examples=examples(100), deadline=None)
@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_a_line_that_is_no_row_is_reported(data: bytes) -> None:
    events = [*(reader := hermes.reader(SourceFile("x"))).feed(data, 0), *reader.finish()]
    assert [type(event) for event in events] == [Loss]

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents import SourceFile
from tallystick.agents.opencode import transcript as opencode
from tallystick.capture.sqlite_rows import read_rows
from tallystick.model.step import Event, Input, Loss, Opening, Ref, SessionKind, Step
from tests.agents.conftest import ReadEvents
from tests.agents.damage import JSON, spoilt
from tests.support import shown as looked
from tests.support.laws import examples

RECORDING = Path(__file__).parents[2] / "recordings/opencode/1.18.33/.local/share/opencode/opencode.db"
MAIN, CHILD = "ses_dffb6cb0dffeAtSzwskHjliQha", "ses_dffb6c127ffeu054tHmNUokxnO"
NOON = 1_795_300_000_000

Row = Mapping[str, Any]


def openings(events: Sequence[Event]) -> dict[str, Opening]:
    return {event.session: event for event in events if isinstance(event, Opening)}


def steps(events: Sequence[Event], session: str | None = None) -> list[Step]:
    return [event for event in events if isinstance(event, Step) and session in (None, event.session)]


def losses(events: Sequence[Event]) -> Counter[str]:
    return Counter(event.kind for event in events if isinstance(event, Loss))


def find(events: Sequence[Event], source_id: str) -> Step:
    [found] = [step for step in steps(events) if step.source_id == source_id]
    return found


def ids(events: Sequence[Event], session: str) -> list[str | None]:
    return [step.source_id for step in steps(events, session)]


def fed(*rows: tuple[str, Row]) -> list[Event]:
    reader = opencode.reader(SourceFile("opencode.db"))
    events: list[Event] = []
    for ordinal, (table, row) in enumerate(rows):
        events += reader.feed(json.dumps({"table": table, "row": row}).encode(), ordinal)
    return [*events, *reader.finish()]


def session(key: str = "ses_a", at: int = 0, **row: Any) -> tuple[str, Row]:
    return "session", {"id": key, "time_created": NOON + at, "title": "", **row}


def message(key: str, role: str, at: int, session: str = "ses_a", **data: Any) -> tuple[str, Row]:
    data = {"role": role, "time": {"created": NOON + at}, **data}
    return "message", {"id": key, "session_id": session, "time_created": NOON + at, "data": json.dumps(data)}


def part(key: str, message: str, type: str, **data: Any) -> tuple[str, Row]:
    row = {"id": key, "message_id": message, "time_created": NOON, "data": json.dumps({"type": type, **data})}
    return "part", row


def tool(key: str, message: str, call: str, **state: Any) -> tuple[str, Row]:
    state = {"status": "completed", "input": {"command": "ls"}, "output": "a\n", **state}
    return part(key, message, "tool", tool="bash", callID=call, state=state)


def turn(session: str = "ses_a", prefix: str = "", at: int = 0) -> list[tuple[str, Row]]:
    """A prompt, an answer, and times by which a copy is known."""
    ask, answer = f"{prefix}m1", f"{prefix}m2"
    return [
        message(ask, "user", at + 1, session),
        part(f"{prefix}p1", ask, "text", text="do it"),
        message(answer, "assistant", at + 2, session, parentID=ask, finish="stop", tokens={"input": 5, "output": 2}),
        part(f"{prefix}p2", answer, "text", text="done"),
    ]


# The recorded database ----------------------------------------------------------------------------------------------


@pytest.fixture
def recorded(read_events: ReadEvents) -> list[Event]:
    return read_events(opencode, RECORDING)


def test_the_recording_gives_these_events(recorded: list[Event]) -> None:
    assert Counter(step.type for step in steps(recorded)) == {
        "user": 2,
        "model_call": 10,
        "assistant": 6,
        "tool_call": 8,
        "tool_result": 8,
        "file_effect": 3,
        "system": 2,
    }
    assert losses(recorded) == {}
    counted = Counter((step.session, step.source_id) for step in steps(recorded))
    assert [key for key, count in counted.items() if count > 1] == []


def test_tokens_and_cost_are_those_of_the_session_rows(recorded: list[Event]) -> None:
    rows = [json.loads(text) for text, _ in read_rows(RECORDING, opencode.TABLES)]
    for row in (value["row"] for value in rows if value["table"] == "session"):
        calls = [step.meta for step in steps(recorded, row["id"]) if step.type == "model_call"]
        assert sum(call["tokens"]["input"] for call in calls) == row["tokens_input"]
        assert sum(call["tokens"]["cache_read"] for call in calls) == row["tokens_cache_read"]
        assert sum(call["cost_microusd"] for call in calls) == pytest.approx(row["cost"] * 1e6, abs=len(calls))


def test_a_sub_agent_hangs_on_the_call_that_started_it(recorded: list[Event]) -> None:
    child = openings(recorded)[CHILD]
    assert (child.kind, child.parent) == (SessionKind.CHILD, Ref("call_c79c768ebf524941bc8a4874", MAIN))
    prompt = steps(recorded, CHILD)[0]
    assert (prompt.meta["origin"], prompt.opens_request) == ("parent", False)


def test_a_refused_and_a_failing_command_did_not_succeed(recorded: list[Event]) -> None:
    failed = {str(step.source_id): step for step in steps(recorded) if step.meta.get("success") is False}
    refused = failed.pop("call_0671474b92b54188bd5f39f8/result")
    assert looked.shown(refused.values["content.error"]).startswith("Forced pushes to main are not allowed")
    [(_, failing)] = failed.items()
    assert failing.meta["exit_code"] == 1
    assert "ModuleNotFoundError" in looked.shown(failing.values["content.output"])


def test_what_a_request_changed_is_said_at_its_end(recorded: list[Event]) -> None:
    changes = find(recorded, "msg_20049357f001aCnOjeaBhoxOy5/changes")
    assert changes.values["content.paths"] == ["receipts/render.py", "tests/test_render.py"]
    assert ids(recorded, MAIN)[-2:] == [changes.source_id, "title"]


def test_the_opening_says_version_and_place(recorded: list[Event]) -> None:
    opened = openings(recorded)[MAIN]
    assert opened.meta["agent_version"] == "1.18.33"
    assert opened.values["personal.cwd"] == "/home/dev/project"
    assert opened.values["content.title"] == "Leave out free items"


def test_reading_twice_gives_the_same(recorded: list[Event], read_events: ReadEvents) -> None:
    assert read_events(opencode, RECORDING) == recorded


def test_the_database_is_known_by_its_tables_or_its_place() -> None:
    head = RECORDING.read_bytes()[: 64 * 1024]
    assert opencode.recognises("/home/dev/copy.db", head)
    assert opencode.recognises("/home/dev/.local/share/opencode/opencode.db", head[:4096])
    assert not opencode.recognises("/home/dev/copy.db", head[:64])
    assert not opencode.recognises("/home/dev/.local/share/opencode/opencode.db", b"{}")


def test_tables_with_secrets_are_not_read() -> None:
    def names(tables: Any) -> set[str]:
        return {name for table in tables for name in (table.name, *names(table.below))}

    assert names(opencode.TABLES) == {"sqlite_master", "session", "message", "part", "session_message"}


# Sessions -----------------------------------------------------------------------------------------------------------


def test_a_fork_begins_where_its_copies_end() -> None:
    copies = [*turn(), session("ses_b", 100), *turn("ses_b", "x", 0)]
    new = [message("n1", "user", 200, "ses_b"), part("n2", "n1", "text", text="other way")]
    answer = [message("n3", "assistant", 201, "ses_b"), part("n4", "n3", "text", text="yes")]
    events = fed(session(), *copies, *new, *answer)
    assert (openings(events)["ses_b"].kind, openings(events)["ses_b"].parent) == (SessionKind.FORK, Ref("p2", "ses_a"))
    assert ids(events, "ses_b") == ["n1", "n3/usage", "n4"]
    assert find(events, "n3/usage").input is Input.HIDDEN
    assert losses(events) == {"repeated_message": 4}
    assert sum(step.meta["tokens"]["input"] for step in steps(events) if "tokens" in step.meta) == 5


def test_an_old_message_that_no_session_has_is_recorded() -> None:
    events = fed(session("ses_b", 100), *turn("ses_b"))
    assert openings(events)["ses_b"].kind is SessionKind.ROOT
    assert ids(events, "ses_b") == ["m1", "m2/usage", "p2"]


def compacted(**summary: Any) -> list[tuple[str, Row]]:
    answer = {"parentID": "m3", "summary": True, "finish": "stop", "agent": "compaction", **summary}
    return [
        *turn(),
        message("m3", "user", 10),
        part("p3", "m3", "compaction", auto=True, tail_start_id="m2"),
        message("m4", "assistant", 11, **answer),
        part("p4", "m4", "text", text="what happened"),
        message("m5", "user", 12),
        part("p5", "m5", "text", text="go on", synthetic=True),
        message("m6", "assistant", 13),
        part("p6", "m6", "text", text="going on"),
    ]


def test_a_compaction_goes_on_in_a_session_of_its_own() -> None:
    events = fed(session(title="T"), *compacted())
    assert ids(events, "ses_a") == ["m1", "m2/usage", "p2", "m4/usage", "p3", "title", "end"]
    assert find(events, "p3").meta == {"trigger": "auto", "success": True, "kept_from": "m2"}
    assert openings(events)["ses_a~1"].parent == Ref("p3", "ses_a")
    assert ids(events, "ses_a~1") == ["p4", "p5", "m6/usage", "p6"]
    assert find(events, "p4").meta == {"origin": "summary"}
    assert find(events, "p5").meta == {"origin": "injected"}
    assert find(events, "m4/usage").input is Input.PATH
    assert find(events, "m6/usage").input is Input.HIDDEN  # messages from m2 on were kept, and are not there again


@pytest.mark.parametrize("summary", [{"error": {"name": "APIError"}}, {"finish": None}, {"parentID": "m1"}])
def test_a_compaction_that_came_to_nothing_changes_nothing(summary: Row) -> None:
    events = fed(session(), *compacted(**summary))
    assert list(openings(events)) == ["ses_a"]
    assert find(events, "p3").meta["success"] is False
    assert find(events, "p4").session == "ses_a"


def test_a_session_that_was_reverted_says_from_where() -> None:
    events = fed(session(revert=json.dumps({"messageID": "m1", "diff": "--- a"})), *turn())
    discard = find(events, "m1/discard")
    assert (discard.meta, discard.values) == ({"reason": "revert", "from": "m1"}, {"content.diff": "--- a"})


@pytest.mark.parametrize(
    ("row", "kind", "parent"),
    [
        ({"parent_id": "gone"}, SessionKind.CHILD, Ref(None, "gone")),
        ({"parent_id": "ses_a"}, SessionKind.ROOT, None),
        ({}, SessionKind.ROOT, None),
    ],
)
def test_a_parent_that_is_not_known_is_claimed(row: Row, kind: SessionKind, parent: Ref | None) -> None:
    opened = openings(fed(session(**row), *turn()))["ses_a"]
    assert (opened.kind, opened.parent) == (kind, parent)


# Messages -----------------------------------------------------------------------------------------------------------


def test_a_message_with_several_model_calls_is_cut_where_each_begins() -> None:
    finish = {"reason": "stop", "cost": 0.002}
    events = fed(
        session(),
        message("m", "assistant", 1, tokens={"input": 999}),
        part("a1", "m", "step-start"),
        tool("a2", "m", "c1"),
        part("a3", "m", "step-finish", tokens={"input": 10, "output": 1, "cache": {"read": 7}}, **finish),
        part("b1", "m", "step-start"),
        part("b2", "m", "text", text="done"),
        part("b3", "m", "step-finish", tokens={"input": 20, "output": 2, "reasoning": 1}, **finish),
    )
    assert ids(events, "ses_a") == ["m/usage", "c1", "c1/result", "m/usage/1", "b2"]
    assert find(events, "m/usage").meta["tokens"] == {"input": 10, "output": 1, "cache_read": 7}
    assert find(events, "m/usage/1").meta["tokens"] == {"input": 20, "output": 2, "reasoning": 1}
    assert find(events, "m/usage").meta["cost_microusd"] == 2000


@pytest.mark.parametrize(("total", "output"), [(36, 11), (33, 8), (None, 8)])
def test_reasoning_that_is_counted_beside_the_output_is_a_part_of_it(total: int | None, output: int) -> None:
    tokens: dict[str, Any] = {"input": 20, "output": 8, "reasoning": 3, "cache": {"read": 5, "write": 0}}
    said = tokens if total is None else {**tokens, "total": total}
    call = find(fed(session(), message("m", "assistant", 1, tokens=said, error={"name": "E"})), "m/usage")
    assert (call.meta["tokens"]["output"], call.meta["tokens"]["reasoning"]) == (output, 3)


def test_a_message_that_broke_off_has_its_own_tokens_and_error() -> None:
    error = {"name": "MessageAbortedError", "data": {"message": "stopped"}}
    call = find(fed(session(), message("m", "assistant", 1, tokens={"input": 9}, error=error)), "m/usage")
    assert (call.meta["tokens"], call.meta["error"]) == ({"input": 9}, "MessageAbortedError")
    assert call.values["content.error"] == "stopped"


def test_results_come_after_all_calls_of_a_message() -> None:
    events = fed(session(), message("m", "assistant", 1), tool("a", "m", "c1"), tool("b", "m", "c2"))
    assert ids(events, "ses_a") == ["m/usage", "c1", "c2", "c1/result", "c2/result"]
    assert find(events, "c2/result").after == (Ref("c1/result"), Ref("c2"))


def test_a_call_that_has_not_ended_has_no_result() -> None:
    running = tool("a", "m", "c1", status="running", output=None)
    assert ids(fed(session(), message("m", "assistant", 1), running), "ses_a") == ["m/usage", "c1"]


def test_what_the_model_has_only_begun_to_write_is_not_a_step_yet() -> None:
    begun = [
        tool("a", "m", "c1", status="pending", input={}, output=None),
        part("b", "m", "text", text="", time={"start": 2}),
        part("d", "m", "reasoning", text="", time={"start": 2}),
    ]
    events = fed(session(), message("m", "assistant", 1), *begun)
    assert ids(events, "ses_a") == ["m/usage"]
    assert losses(events) == {"begun_part": 3}
    written = [
        tool("a", "m", "c1", status="running", input={}, output=None),
        part("b", "m", "text", text="I", time={"start": 2}),
        part("d", "m", "reasoning", text="", time={"start": 2, "end": 3}),
    ]
    assert ids(fed(session(), message("m", "assistant", 1), *written), "ses_a") == ["m/usage", "c1", "b", "d"]


def test_a_call_id_that_comes_again_is_another_call() -> None:
    events = fed(session(), message("m", "assistant", 1), tool("a", "m", "c"), tool("b", "m", "c"))
    assert ids(events, "ses_a") == ["m/usage", "c", "b", "c/result", "b/result"]
    assert find(events, "b").meta["corr"] == "c"


def test_files_become_raw_values() -> None:
    url = "data:image/png;base64," + base64.b64encode(b"picture").decode()
    shown = {"type": "file", "mime": "image/png", "url": url}
    events = fed(
        session(),
        message("m", "user", 1),
        part("p1", "m", "text", text="look"),
        part("p2", "m", "file", mime="image/png", filename="a.png", url=url),
        message("n", "assistant", 2),
        tool("t", "n", "c", attachments=[shown, "odd"]),
    )
    assert find(events, "m").raw == {"content.part_0": b"picture"}
    assert looked.shown(find(events, "m").values["content.parts"])[0]["filename"] == "a.png"
    assert find(events, "c/result").raw == {"content.part_0": b"picture"}


def test_what_no_model_is_shown_is_beside_the_trail() -> None:
    events = fed(
        session(),
        message("m", "assistant", 1),
        part("a", "m", "text", text="one"),
        part("b", "m", "patch", hash="abc", files=["x.py"]),
        part("c", "m", "retry", attempt=2, error={"data": {"message": "overloaded"}}),
        part("d", "m", "snapshot", snapshot="abc"),
        part("e", "m", "hologram"),
        message("n", "assistant", 2),
    )
    assert find(events, "b").values == {"content.paths": ["x.py"], "content.snapshot": "abc"}
    assert find(events, "c").values == {"content.error": "overloaded"}
    assert find(events, "n/usage").after == (Ref("a"),)
    assert losses(events) == {"snapshot": 1, "unknown_hologram": 1}


def test_rows_that_say_nothing_are_reported() -> None:
    events = fed(
        ("session", {"id": None}),
        ("message", {"id": "m", "session_id": "s", "data": "[1]"}),
        ("message", {"id": "m", "session_id": "s", "data": '{"role": "oracle"}'}),
        ("part", {"id": "p", "message_id": "elsewhere", "data": "{}"}),
        ("part", {"id": 3, "message_id": "m", "data": "{}"}),
        message("q", "user", 1, "s"),
        ("session_message", {"type": "prompt"}),
        ("sqlite_master", {"type": "table", "name": "brand_new"}),
        ("sqlite_master", {"type": "table", "name": "credential"}),
    )
    assert losses(events) == {
        "bad_row": 3,
        "unknown_role": 1,
        "part_of_no_message": 1,
        "empty_message": 1,
        "session_message": 1,
        "unknown_table": 1,
    }


# Anything at all ----------------------------------------------------------------------------------------------------


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_a_damaged_row_does_not_stop_the_reader(data: st.DataObject) -> None:
    rows = [
        session(),
        *compacted(),
        tool("t", "m6", "c"),
        session("ses_b", 100, parent_id="ses_a"),
        *turn("ses_b", "x", 0),
    ]
    place = data.draw(st.integers(0, len(rows) - 1))
    rows[place] = (rows[place][0], spoilt(rows[place][1], data))
    if isinstance(rows[place][1], dict):
        events = fed(*rows)
        assert events == fed(*rows)
        texts = [step.values.get("content.text") for step in steps(events)]
        assert rows[place][0] != "session" or all(text in texts for text in ("do it", "going on"))


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(("session", "message", "part", "x", None)), JSON), max_size=8))
def test_each_row_of_anything_gives_an_event(rows: list[tuple[Any, Any]]) -> None:
    reader = opencode.reader(SourceFile("x"))
    events: list[Event] = []
    for ordinal, (table, row) in enumerate(rows):
        events += reader.feed(json.dumps({"table": table, "row": row}).encode(), ordinal)
    events += reader.finish()
    assert len(events) >= len(rows)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_row_are_reported(data: bytes) -> None:
    assert [type(event) for event in opencode.reader(SourceFile("x")).feed(data, 0)] == [Loss]

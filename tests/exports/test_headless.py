from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.claude_code import transcript as claude_code
from tallystick.agents.gptme import transcript as gptme
from tallystick.agents.headless import legacy as headless_legacy
from tallystick.agents.headless import transcript as headless
from tallystick.exports import headless as export
from tallystick.exports.headless import go_json, go_line
from tallystick.model.raw import NumberText
from tallystick.model.recorded import Recorded
from tallystick.model.step import Event, Json, Step
from tallystick.seal.go_json import sorted_keys
from tallystick.seal.tagged import json_members
from tests.agents.conftest import events_of, events_of_lines
from tests.agents.gptme.test_transcript import RECEIPTS
from tests.agents.headless.test_transcript import GOLDEN, LEGACY, SESSION, event
from tests.agents.mutations import losses_of, steps_of
from tests.exports.conftest import Record
from tests.support.cases import each

CLAUDE = Path(__file__).parents[1] / "recordings" / "claude-code"


def written(steps: Sequence[Recorded], *, with_content: bool = True) -> list[bytes]:
    return list(export.write(steps, session="s1", with_content=with_content))


def events_in(lines: Sequence[bytes]) -> list[dict[str, Json]]:
    return [record for record in map(json.loads, lines) if record["_type"] == "event"]


def test_the_golden_session_comes_out_byte_for_byte_but_for_its_superseded_footers(record: Record) -> None:
    golden = GOLDEN.read_bytes().rstrip(b"\n").split(b"\n")
    footers = [line for line in golden if b'"_type":"footer"' in line]
    lines = written(record(events_of(headless, GOLDEN)))
    assert lines == [line + b"\n" for line in golden if line not in footers[:-1]]


def test_reading_an_export_gives_the_events_that_were_exported(record: Record) -> None:
    before = events_of(headless, GOLDEN)
    after = events_of_lines(headless, written(record(before)), f"/x/{SESSION}.jsonl")
    assert steps_of(after) == steps_of(before)
    assert after[0] == before[0]
    assert losses_of(after) == {}


def test_the_legacy_form_comes_out_with_its_errors(record: Record) -> None:
    document = json.loads(LEGACY.read_bytes())
    events = events_in(written(record(events_of(headless_legacy, LEGACY))))
    bare = [
        {key: value for key, value in event.items() if key not in ("_type", "created_at", "updated_at")}
        for event in events
    ]
    assert bare == document["events"]


@pytest.mark.parametrize("with_content", [False, True])
def test_no_content_leaves_without_leave(record: Record, *, with_content: bool) -> None:
    text = b"".join(written(record(events_of(headless, GOLDEN)), with_content=with_content))
    for content in (
        b"curl -s",
        b"Widget 2.4.0",
        b"changes.example.org",
        b"OUTPUT RULES",
        b"Need the changelog",
        b"2.4.0",
    ):
        assert (content in text) is with_content
    assert b"claude-sonnet-4-20250514" in text
    assert len(text.splitlines()) == 58


def acceptable(record: dict[str, Json]) -> bool:
    """Whether the agent's own strict reader would take an event: known members in order, each of its kind."""
    order = (
        "_type created_at seq type timestamp corr_id parent agent agent_role goal step content tool args success error"
    )
    keys = [*order.split(), "duration_ms", "meta", "updated_at"]
    texts = ("type", "timestamp", "corr_id", "agent", "agent_role", "goal", "step", "content", "tool", "error")
    return (
        list(record) == [key for key in keys if key in record]
        and all(isinstance(record[key], str) for key in texts if key in record)
        and isinstance(record["seq"], int)
        and isinstance(record.get("args", {}), dict)
        and isinstance(record.get("duration_ms", 0), int)
        and isinstance(record.get("success", True), bool)
    )


@pytest.mark.parametrize(
    ("adapter", "path"),
    [(gptme, RECEIPTS), (claude_code, next(CLAUDE.rglob("a42b3437*.jsonl")))],
    ids=["gptme", "claude-code"],
)
def test_sessions_of_other_agents_come_out_as_events_that_its_readers_accept(
    record: Record, adapter: object, path: Path
) -> None:
    session = path.stem if adapter is claude_code else "receipts-currency"
    events: list[Event] = [
        found
        for found in events_of(adapter, path)  # type: ignore[arg-type]
        if getattr(found, "session", session) == session
    ]
    lines = written(record(events))
    assert losses_of(events_of_lines(headless, lines)) in ({}, {"footer": 1})
    found = events_in(lines)
    assert all(acceptable(record) for record in found)
    assert [record["seq"] for record in found] == list(range(1, len(found) + 1))
    answered = {record["corr_id"] for record in found if record["type"] == "tool_result"}
    assert answered == {record["corr_id"] for record in found if record["type"] == "tool_call"} != set()


def test_a_model_call_and_what_the_model_said_are_one_event(record: Record) -> None:
    first = events_in(written(record(events_of(gptme, RECEIPTS))))[3]
    assert (first["type"], first["content"][:16]) == ("assistant", "First I'll see w")
    assert first["meta"] == {"model": "openai/gpt-4o-mini", "tokens_in": 412, "tokens_out": 38}


def test_a_session_that_has_no_end_is_running(record: Record) -> None:
    lines = written(record(events_of_lines(headless, [event(1, "warning", content="x")])))
    assert json.loads(lines[-1])["status"] == "running"
    assert [json.loads(line)["_type"] for line in lines] == ["header", "event", "footer"]


def test_two_events_with_one_number_come_out_under_two(record: Record) -> None:
    lines = [event(1, "system", content="a"), event(1, "system", content="b"), event(2, "user", content="c")]
    events = events_in(written(record(events_of_lines(headless, lines))))
    assert [(found["seq"], found["content"]) for found in events] == [(1, "a"), (2, "b"), (3, "c")]


def test_how_a_running_session_stands_and_what_it_was_given_later_come_out(record: Record) -> None:
    golden = events_of(headless, GOLDEN)
    opening, end = golden[0], steps_of(golden)[-1]
    update = msgspec.structs.replace(
        end,
        type="session_update",
        source_id=None,
        meta={},
        values={"content.inputs": {"v": "2"}, "content.state": {"a": 1}},
    )
    lines = [json.loads(line) for line in written(record([opening, update]))]
    assert [line["_type"] for line in lines] == ["header", "header", "footer"]
    assert (lines[0]["inputs"], lines[1]["inputs"]) == ({"version": "2.4.0"}, {"v": "2"})
    assert {**lines[0], "inputs": 0} == {**lines[1], "inputs": 0}
    assert (lines[2]["status"], lines[2]["state"]) == ("running", {"a": 1})
    ended = [json.loads(line) for line in written(record([opening, end]))][-1]
    assert (ended["status"], ended["state"], sorted(ended["outputs"])) == ("complete", {"a": 1}, ["draft", "review"])


def test_what_stands_beside_the_events_of_the_agent_takes_no_number(record: Record) -> None:
    events = events_of(headless, GOLDEN)
    mark = Step(
        session=SESSION, type="checkpoint", meta={"trigger": "manual", "position": 3}, values={"content.label": "x"}
    )
    gap = Step(session=SESSION, type="gap", meta={"events": 2})
    steps = record([*events[:6], mark, gap, *events[6:]])
    assert [event["seq"] for event in events_in(written(steps))] == list(range(1, 57))
    assert [event["seq"] for event in export.own_events(steps[3:12])] == [3, 4, 5, 6, 7, 8]


def test_members_that_we_do_not_know_come_out_again(record: Record) -> None:
    line = event(1, "warning", host="h", meta={"cache_read": 5, "pass": True})
    [found] = events_in(written(record(events_of_lines(headless, [line]))))
    assert (found["host"], found["meta"]) == ("h", {"pass": True, "cache_read": 5})


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
)
def test_the_quick_way_spells_as_the_thorough_one_does(value: Json) -> None:
    tagged = json_members({"a": value})
    assert go_line(tagged) == go_json(tagged).encode("utf-8", "replace")


@each("value", ["\x7f\x08\x0c", 1.0, 1e-7, 1e16, -0.0, 5e-324, "1e5,1.0]", "\x10tally:nan", "\ud800"])
def test_what_is_spelled_otherwise_is_noticed(value: Json) -> None:
    tagged = json_members({"a": [value]})
    assert go_line(tagged) == go_json(tagged).encode("utf-8", "replace")


@each(
    "value, text",
    [
        ("<a&b>\u2028é\x01\t", '"\\u003ca\\u0026b\\u003e\\u2028é\\u0001\\t"'),
        ([1.0, 0.85, 1e21, 1e-7, -0.0], "[1,0.85,1e+21,1e-7,0]"),
        ({"b": None, "a": True}, '{"b":null,"a":true}'),
        (NumberText("12345678901234567890"), "12345678901234567890"),
        ("\x10tally:nan", '"\\u0010tally:nan"'),
        ("\ud800A", '"\ufffdA"'),
    ],
)
def test_json_is_spelled_as_the_agent_spells_it(value: Json, text: str) -> None:
    assert go_json(value) == text


@given(st.dictionaries(st.text(), st.text() | st.lists(st.integers(-9, 9) | st.booleans())))
def test_the_spelling_is_json_and_says_the_same(value: dict[str, Json]) -> None:
    text = go_json(sorted_keys(value))
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)

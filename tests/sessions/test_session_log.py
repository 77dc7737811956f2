from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.exports.headless import EVENT_MEMBERS, LINEAGE_MEMBERS, META_KINDS
from tallystick.sessions.session_log import (
    Event,
    EventMeta,
    JSONLRecord,
    Log,
    Message,
    TaintNode,
    ToolCall,
    event_from,
    event_members,
    footer_record,
    header_record,
    record_from,
    safe_members,
)
from tests.sessions.session_events import EVENTS
from tests.support.cases import each


def names(struct: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(struct) if field.name != "extra"]


# No member is dropped or renamed -------------------------------------------------------------------------------------


def test_every_member_has_its_own_name_and_place() -> None:
    assert names(EventMeta) == list(META_KINDS)
    assert [name for name in names(Event) if name not in ("seq", "type")] == [
        name for name in EVENT_MEMBERS if name != "type"
    ]
    assert names(TaintNode) == list(LINEAGE_MEMBERS)
    assert set(names(Log)) == {
        *("id", "workflow_name", "inputs", "state", "outputs", "status", "result", "error", "events"),
        *("created_at", "updated_at"),
    }
    assert names(JSONLRecord) == [
        *(
            "_type",
            "id",
            "workflow_name",
            "inputs",
            "created_at",
            "event",
            "status",
            "result",
            "error",
            "outputs",
            "state",
        ),
        "updated_at",
    ]
    assert names(Message) == ["role", "content", "goal", "agent", "timestamp"]
    assert names(ToolCall) == ["id", "name", "args", "result", "error", "duration", "goal", "timestamp"]


def test_the_time_of_a_tool_call_is_in_nanoseconds() -> None:
    written = msgspec.json.decode(msgspec.json.encode(ToolCall(id="c", name="bash", duration=1_500_000_000)))
    assert written["duration"] == 1_500_000_000


@pytest.mark.parametrize(
    ("given_", "renewed"),
    [
        ({"guidance": "slower"}, {"correction": "slower"}),
        ({"human_required": True}, {"human": True}),
        ({"tier": 1}, {"check": "static"}),
        ({"tier": 2}, {"check": "triage"}),
        ({"tier": 3}, {"check": "supervisor"}),
        ({"tier": 4}, {"check": ""}),
        ({"tier": 3, "check": "llm"}, {"check": "llm"}),
        ({"tiers": "static"}, {"check_path": "static"}),
        ({"tier_path": "static→triage", "tiers": "static"}, {"check_path": "static→triage"}),
        ({"check_path": "static", "tier_path": "no"}, {"check_path": "static"}),
    ],
)
def test_deprecated_names_say_what_those_of_today_do_not(given_: dict[str, object], renewed: dict[str, object]) -> None:
    meta = EventMeta(**given_)  # type: ignore[arg-type]
    assert {name: getattr(meta.renewed(), name) for name in renewed} == renewed
    assert {name: getattr(meta.renewed(), name) for name in given_} == given_


# What is written ------------------------------------------------------------------------------------------------------


def test_what_is_empty_is_left_out() -> None:
    event = Event(type="user", timestamp="2026-03-25T09:00:00Z", meta=EventMeta())
    assert event_members(event) == {"seq": 0, "type": "user", "timestamp": "2026-03-25T09:00:00Z", "meta": {}}
    zero = EventMeta(entropy=0 / 1, tokens_in=int("0"))
    assert event_members(msgspec.structs.replace(event, meta=zero))["meta"] == {}
    assert "meta" not in event_members(msgspec.structs.replace(event, meta=None))


@each("success, written", [(None, {}), (True, {"success": True}), (False, {"success": False})])
def test_success_has_three_states(success: bool | None, written: dict[str, bool]) -> None:
    members = event_members(Event(type="subagent_end", success=success))
    assert {key: value for key, value in members.items() if key == "success"} == written
    read = event_from(members)
    assert read is not None
    assert read.success is success


def test_members_come_in_the_order_of_the_agents_writer() -> None:
    meta = EventMeta(thinking="t", phase="COMMIT", pass_=True)
    event = Event(type="tool_call", seq=3, meta=meta, args={"b": 1}, corr_id="c", error="e", goal="g")
    assert list(event_members(event)) == ["seq", "type", "timestamp", "corr_id", "goal", "args", "error", "meta"]
    assert list(event_members(event)["meta"]) == ["phase", "pass", "thinking"]


def test_a_node_of_a_lineage_always_says_which_block_it_is() -> None:
    meta = EventMeta(taint_lineage=(TaintNode(block_id="b1", tainted_by=(TaintNode(block_id="b2", depth=1),)),))
    [node] = event_members(Event(type="security_static", meta=meta))["meta"]["taint_lineage"]
    assert node == {
        "block_id": "b1",
        "trust": "",
        "source": "",
        "tainted_by": [{"block_id": "b2", "trust": "", "source": "", "depth": 1}],
    }


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(EVENTS)
def test_what_is_written_is_read_again(event: Event) -> None:
    members = event_members(event)
    assert event_from(members) == event
    assert event_from({key.upper(): value for key, value in members.items()}) == event


def test_a_session_is_its_header_and_its_footer() -> None:
    log = Log(
        id="s", workflow_name="w", inputs={"a": "b"}, status="failed", error="no", created_at="2026-03-25T09:00:00Z"
    )
    header, footer = record_from(header_record(log)), record_from(footer_record(log))
    assert header == JSONLRecord(
        record_type="header", id="s", workflow_name="w", inputs={"a": "b"}, created_at="2026-03-25T09:00:00Z"
    )
    assert footer == JSONLRecord(record_type="footer", status="failed", error="no")
    assert list(header_record(log)) == ["_type", "id", "workflow_name", "inputs", "created_at", "updated_at"]
    assert list(footer_record(log)) == ["_type", "created_at", "status", "error", "updated_at"]


# What programs put in -------------------------------------------------------------------------------------------------


def test_what_json_cannot_hold_is_a_text_or_named_by_its_class() -> None:
    class Client:
        def __repr__(self) -> str:
            return "Client(key=secret)"

    args: dict[Any, Any] = {
        "nan": math.nan,
        "big": 2**70,
        "lone": "\ud800",
        "at": datetime(2026, 3, 25, tzinfo=UTC),
        "set": {1},
        "client": Client(),
        7: "seven",
    }
    members = safe_members(Event(type="tool_call", args=args))
    assert members["args"] == {
        "nan": "NaN",
        "big": str(2**70),
        "lone": "\ud800",
        "at": "2026-03-25T00:00:00Z",
        "set": [1],
        "client": f"<{__name__}.{Client.__qualname__}>",
        "7": "seven",
    }
    json.dumps(members, allow_nan=False).encode()


def test_arguments_that_cannot_be_written_at_all_are_named_and_the_rest_is_kept() -> None:
    args: dict[Any, int] = {(1, 2): 1}
    members = safe_members(Event(type="tool_call", tool="bash", args=args))
    assert members["tool"] == "bash"
    assert members["args"] == {"unreadable": "<builtins.dict>"}


def test_what_should_be_text_and_is_none_becomes_text() -> None:
    given_: dict[str, Any] = {"content": {"stdout": "é"}, "error": 5, "duration_ms": 1.6, "args": ["ls"]}
    members = safe_members(Event(type="tool_result", **given_))
    assert {name: members[name] for name in given_} == {
        "content": '{"stdout": "é"}',
        "error": "5",
        "duration_ms": 2,
        "args": {"input": ["ls"]},
    }


def test_what_holds_itself_is_named_by_its_class() -> None:
    knot: list[object] = []
    knot.append(knot)
    members = safe_members(Event(type="tool_call", args={"knot": knot}, content="kept"))
    assert members["content"] == "kept"
    json.dumps(members)


# What is read ---------------------------------------------------------------------------------------------------------


def test_members_of_another_kind_and_unknown_ones_are_kept_apart_and_written_again() -> None:
    record = {
        "_type": "event",
        "seq": 4,
        "type": "warning",
        "tool": 5,
        "host": "h",
        "meta": {"pass": "yes", "odd": [1]},
    }
    event = event_from(record)
    assert event is not None
    assert event.extra == {"tool": 5, "host": "h"}
    assert event.meta is not None
    assert event.meta.extra == {"pass": "yes", "odd": [1]}
    written = event_members(event)
    assert (written["tool"], written["host"], written["meta"]) == (5, "h", {"pass": "yes", "odd": [1]})


@each("lineage", [[5], [{"tainted_by": [5]}], [{"block_id": "b"}, {}]])
def test_a_lineage_that_is_none_is_kept_as_it_is(lineage: list[object]) -> None:
    event = event_from({"type": "security_static", "meta": {"taint_lineage": lineage}})
    assert event is not None
    assert event.meta is not None
    assert event.meta.taint_lineage == ()
    assert event.meta.extra == {"taint_lineage": lineage}


def test_a_lineage_that_is_too_deep_is_kept_as_it_is() -> None:
    node: dict[str, object] = {"block_id": "b"}
    for _ in range(200):
        node = {"block_id": "b", "tainted_by": [node]}
    event = event_from({"type": "security_static", "meta": {"taint_lineage": [node]}})
    assert event is not None
    assert event.meta is not None
    assert event.meta.extra["taint_lineage"] == [node]


@each("time", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "0000-12-31T23:00:00Z"])
def test_the_year_1_is_no_time(time: str) -> None:
    event, header = (
        event_from({"type": "user", "timestamp": time}),
        record_from({"_type": "header", "created_at": time}),
    )
    assert event is not None
    assert header is not None
    assert (event.timestamp, header.created_at) == ("", "")


@each("members", [{}, {"_type": "event"}, {"_type": "event", "created_at": "x", "type": None}])
def test_an_event_without_any_member_is_none(members: dict[str, object]) -> None:
    assert event_from(members) is None


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.integers()) | st.booleans()))
def test_no_record_makes_it_raise(members: dict[str, object]) -> None:
    for kind in ("header", "event", "footer", "other"):
        record_from({**members, "_type": kind})
    event_from({"meta": members, "type": "x"})

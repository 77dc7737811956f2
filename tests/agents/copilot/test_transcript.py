from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

from tallystick.agents import Adapter
from tallystick.agents.copilot import transcript as copilot
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, SessionKind, Step
from tests.agents.conftest import events_of_lines
from tests.agents.mutations import lines_of, losses_of, mutated, names_of, pieces_of, steps_of, types_of
from tests.support.shown import shown

ReadEvents = Callable[[Adapter, Path], list[Event]]

ROOT = Path(__file__).resolve().parents[3]
LOG = next((ROOT / "tests" / "recordings" / "copilot-cli").rglob("events.jsonl"))
PUBLIC = ROOT / ".." / "shared" / "data" / "public"

MAIN = "6d0ecb18-e884-4601-80ee-82a5b681072c"
CHILD = f"{MAIN}/6714926c-ad74-4b93-8cff-b16d782feeae"


def line(type_: str, id_: str = "", agent: str | None = None, **data: Json) -> dict[str, Json]:
    """One line of a log."""
    value = {"type": type_, "data": data, "id": id_ or type_, "timestamp": "2026-01-02T03:04:05.000Z"}
    return value if agent is None else {**value, "agentId": agent}


def read(*lines: dict[str, Json]) -> list[Event]:
    start = line("session.start", sessionId="s1", copilotVersion="1.0.0", context={"cwd": "/home/dev"})
    return events_of_lines(copilot, [json.dumps(value).encode() for value in (start, *lines)])


def test_a_session_is_recorded_whole(read_events: ReadEvents) -> None:
    events = read_events(copilot, LOG)
    assert types_of(events) == {
        "user": 2,
        "system": 2,
        "model_call": 10,
        "assistant": 6,
        "tool_call": 8,
        "tool_result": 8,
        "permission": 8,
        "subagent_start": 1,
        "subagent_end": 1,
        "config_change": 1,
        "session_end": 2,
    }
    assert losses_of(events) == {
        "assistant.turn_start": 10,
        "assistant.turn_end": 10,
        "duplicate_event": 8,
        "subagent.configured": 1,
    }
    opening = events[0]
    assert isinstance(opening, Opening)
    assert (opening.session, opening.kind, opening.meta["agent_version"]) == (MAIN, SessionKind.ROOT, "1.0.102")
    assert (opening.values["personal.cwd"], opening.values["content.branch"]) == ("/home/dev/project", "main")


def test_usage_is_counted_once_and_adds_up_to_the_total_at_the_end(read_events: ReadEvents) -> None:
    events = read_events(copilot, LOG)
    total = json.loads(lines_of(LOG)[-1])["data"]["modelMetrics"]["gpt-4.1"]["usage"]
    counts = [step.meta["tokens"] for step in steps_of(events, "model_call")]
    assert sum(count["input"] + count["cache_read"] for count in counts) == total["inputTokens"]
    assert sum(count["output"] for count in counts) == total["outputTokens"]


def test_a_sub_agent_is_a_child_of_the_call_that_started_it(read_events: ReadEvents) -> None:
    events = read_events(copilot, LOG)
    child = next(event for event in events if isinstance(event, Opening) and event.session == CHILD)
    [start], [end] = steps_of(events, "subagent_start"), steps_of(events, "subagent_end")
    assert child.kind is SessionKind.CHILD
    assert child.parent == Ref("call_89808904426b4b0989e9aba4", session=MAIN)
    assert child.meta["agent_role"] == "general-purpose"
    assert (start.session, start.after) == (MAIN, (Ref("call_89808904426b4b0989e9aba4"),))
    assert (end.session, end.after) == (MAIN, (Ref(start.source_id), Ref(session=CHILD)))
    inner = [step for step in steps_of(events) if step.session == CHILD]
    assert [step.type for step in inner if step.type in ("user", "model_call", "tool_call", "session_end")] == [
        "user",
        "model_call",
        "tool_call",
        "model_call",
        "session_end",
    ]
    assert inner[1].meta["origin"] == "parent"


def test_only_the_person_opens_requests(read_events: ReadEvents) -> None:
    prompts = [step for step in steps_of(read_events(copilot, LOG)) if step.opens_request]
    assert [shown(prompt.values["content.text"])[:25] for prompt in prompts] == ["Items without a price sho"]
    events = read(
        line("user.message", "1", content="Go.", source="user"),
        line("user.message", "2", content="Go on.", isAutopilotContinuation=True),
        line("user.message", "3", content="Use it.", source="skill-pdf"),
        line("user.message", "4", content="Done.", source="agent-a1"),
        line("system.notification", "5", content="Ready.", kind={"type": "shell_completed"}),
    )
    origins = [step.meta.get("origin") for step in steps_of(events, "user")]
    assert origins == [None, "injected", "injected", "notification", "notification"]


def test_a_refused_call_says_who_refused_it(read_events: ReadEvents) -> None:
    steps = steps_of(read_events(copilot, LOG))
    refused = next(step for step in steps if step.source_id == "call_871c33c8bb764142a0e33cd2/result")
    assert {"success": False, "decision": "deny", "decided_by": "hook"}.items() <= refused.meta.items()
    hook = next(step for step in steps if step.type == "permission" and step.meta.get("decision") == "deny")
    assert hook.meta["corr"] == "call_871c33c8bb764142a0e33cd2"


def test_a_command_has_failed_that_ended_with_a_code_whatever_the_source_calls_it(read_events: ReadEvents) -> None:
    failed = next(step for step in steps_of(read_events(copilot, LOG), "tool_result") if step.meta.get("exit_code"))
    assert (failed.meta["success"], failed.meta["exit_code"], failed.meta["tool"]) == (False, 1, "bash")
    assert failed.meta["duration_ms"] > 0


def test_hook_runs_are_no_part_of_what_the_model_is_given(read_events: ReadEvents) -> None:
    steps = [step for step in steps_of(read_events(copilot, LOG)) if step.session == MAIN]
    hook = next(index for index, step in enumerate(steps) if step.type == "permission")
    assert steps[hook + 1].type == "tool_result"
    assert steps[hook + 1].after == (Ref(steps[hook - 1].source_id),)


def test_a_hook_run_without_end_is_recorded_at_the_end() -> None:
    events = read(line("hook.start", hookInvocationId="h1", hookType="preToolUse", input={"toolCalls": [{"id": "c"}]}))
    assert [step.meta for step in steps_of(events, "permission")] == [{"hook": "preToolUse", "corr": "c"}]


def test_without_usage_records_the_message_tells_what_it_knows() -> None:
    events = read(
        line("assistant.message", messageId="m1", model="a", outputTokens=7, content="Hi.", apiCallId="r1"),
        line("assistant.usage", apiCallId="r1", model="a", inputTokens=9, outputTokens=7, cacheReadTokens=4),
        line("session.usage_record", usage={"apiCallId": "r1", "inputTokens": 9}),
    )
    first, second = steps_of(events, "model_call")
    assert first.source_id == second.source_id == "r1/usage"
    assert first.meta["tokens"] == {"output": 7}
    assert second.meta["tokens"] == {"input": 5, "output": 7, "cache_read": 4}
    assert losses_of(events) == {"duplicate_event": 1}


def test_a_compaction_begins_a_continuation_whose_input_is_not_visible() -> None:
    events = read(
        line("user.message", "u1", content="Go."),
        line("session.compaction_start"),
        line("session.compaction_complete", "c1", success=True, summaryContent="So far.", preCompactionTokens=9),
        line("assistant.message", messageId="m1", model="a", content="Hi."),
    )
    _, later = [event for event in events if isinstance(event, Opening)]
    assert (later.session, later.kind) == ("s1~1", SessionKind.CONTINUATION)
    assert later.parent == Ref("c1", session="s1")
    [compaction], [call] = steps_of(events, "compaction"), steps_of(events, "model_call")
    assert (compaction.session, compaction.values) == ("s1", {"content.text": "So far."})
    assert (call.session, call.input) == ("s1~1", Input.HIDDEN)


def test_a_failed_compaction_changes_nothing() -> None:
    events = read(line("session.compaction_complete", "c1", success=False, error="too long"))
    assert types_of(events) == {"warning": 1}


def test_a_rewound_session_goes_on_from_before_the_prompt() -> None:
    events = read(
        line("user.message", "u1", content="One."),
        line("user.message", "u2", content="Two."),
        line("session.snapshot_rewind", "r", upToEventId="u2", eventsRemoved=1),
        line("user.message", "u3", content="Three."),
    )
    assert steps_of(events, "user")[-1].after == (Ref("u1"),)
    assert steps_of(events, "discard")[0].meta["events"] == 1


def test_older_versions_name_a_sub_agent_by_its_call() -> None:
    events = read(
        line("assistant.message", messageId="m", toolRequests=[{"toolCallId": "c1", "name": "task"}]),
        line("subagent.started", "a1", toolCallId="c1", agentName="explore"),
        line("tool.execution_start", "t1", toolCallId="c2", toolName="view", parentToolCallId="c1"),
    )
    child = [event for event in events if isinstance(event, Opening)][-1]
    assert (child.session, child.parent) == ("s1/c1", Ref("c1", session="s1"))
    assert [step.session for step in steps_of(events, "tool_call")] == ["s1", "s1/c1"]


def test_pictures_in_results_become_blobs() -> None:
    binary = [{"type": "image", "data": "iVBORw==", "mimeType": "image/png"}]
    events = read(
        line(
            "tool.execution_complete",
            toolCallId="c",
            success=True,
            result={"content": "A picture.", "binaryResultsForLlm": binary},
        )
    )
    [result] = steps_of(events, "tool_result")
    assert result.raw == {"content.part_0": b"\x89PNG"}
    assert result.values["content.output"] == [
        {"type": "text", "text": "A picture."},
        {"type": "image", "mime": "image/png", "part": "content.part_0"},
    ]


def test_thinking_that_is_told_twice_is_recorded_once() -> None:
    events = read(
        line("assistant.reasoning", reasoningId="r", content="Hm."),
        line("assistant.message", messageId="m", content="Hi.", reasoningText="Hm.", reasoningOpaque="gAAA"),
    )
    assert [step.values for step in steps_of(events, "assistant")] == [
        {"content.thinking": "Hm."},
        {"content.text": "Hi."},
    ]
    assert losses_of(events) == {"encrypted_content": 1}


def test_what_a_version_adds_is_counted_by_its_name() -> None:
    assert losses_of(read(line("session.dream"), line("x" * 99))) == {"unknown_session.dream": 1, "unknown_kind": 1}


def test_logs_and_chats_are_recognised_by_their_first_line() -> None:
    assert copilot.recognises("events.jsonl", LOG.read_bytes()[:65536])
    assert copilot.recognises("chat.jsonl", b'{"kind":0,"v":{"version":3,"requests":[]}}')
    assert not copilot.recognises("events.jsonl", b'{"type":"user","uuid":"1"}')
    assert not copilot.recognises("chat.jsonl", b'{"kind":1,"k":["a"],"v":1}')


def test_a_log_without_its_first_line_takes_its_session_from_its_folder() -> None:
    events = events_of_lines(copilot, lines_of(LOG)[1:3], f"/x/.copilot/session-state/{MAIN}/events.jsonl")
    assert isinstance(events[0], Opening)
    assert events[0].session == MAIN


def test_a_log_that_grows_keeps_its_names() -> None:
    lines = lines_of(LOG)
    whole = names_of(events_of_lines(copilot, lines))
    for end in range(1, len(lines)):
        assert names_of(events_of_lines(copilot, lines[:end])) <= whole


# Chats in VS Code


def chat(*changes: dict[str, Json], requests: Json = ()) -> list[Event]:
    first = {"kind": 0, "v": {"sessionId": "c1", "requesterUsername": "dev", "requests": list(requests)}}
    return events_of_lines(copilot, [json.dumps(value).encode() for value in (first, *changes)])


ROUNDS = [
    {
        "id": "r1",
        "response": "Looking.",
        "toolCalls": [{"id": "call_1", "name": "read_file", "arguments": '{"filePath": "a.py"}'}],
    },
    {"id": "r2", "response": "Done.", "toolCalls": []},
]
RESULTS = {"call_1": {"content": [{"value": {"node": {"children": [{"text": "a"}, {"text": "b"}]}}}]}}
REQUEST = {
    "requestId": "q1",
    "responseId": "p1",
    "timestamp": 1767323045000,
    "modelId": "copilot/m",
    "message": {"text": "Read a.py."},
    "response": [{"value": "Looking."}, {"kind": "undoStop"}],
    "result": {"metadata": {"toolCallRounds": ROUNDS, "toolCallResults": RESULTS}},
}


def test_a_chat_is_read_as_its_rounds() -> None:
    events = chat(requests=[REQUEST])
    assert [(step.type, step.source_id) for step in steps_of(events)] == [
        ("user", "q1"),
        ("model_call", "r1/usage"),
        ("assistant", "r1/1"),
        ("tool_call", "call_1"),
        ("tool_result", "call_1/result"),
        ("model_call", "r2/usage"),
        ("assistant", "r2/1"),
    ]
    [call], [result] = steps_of(events, "tool_call"), steps_of(events, "tool_result")
    assert call.values["content.args"] == {"filePath": "a.py"}
    assert result.values["content.output"] == "ab"
    assert call.ts == "2026-01-02T03:04:05.000000Z"
    assert losses_of(events) == {"shown_part": 2}


def test_a_chat_is_what_its_changes_make_of_it() -> None:
    edits = {"kind": "textEditGroup", "uri": {"fsPath": "/home/dev/a.py"}, "edits": [[{"text": "x"}]]}
    events = chat(
        {"kind": 1, "k": ["customTitle"], "v": "Reading"},
        {"kind": 2, "k": ["requests"], "v": [{"requestId": "q1", "responseId": "p1", "message": {"text": "Hi."}}]},
        {"kind": 1, "k": ["requests", 0, "response"], "v": []},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "Hel"}, {"value": "x"}]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "lo."}, edits], "i": 1},
        {"kind": 3, "k": ["requesterUsername"]},
        {"kind": 1, "k": ["nowhere", "at", "all"], "v": 1},
        {"kind": 9},
    )
    opening = events[2]
    assert isinstance(opening, Opening)
    assert opening.values == {"content.title": "Reading"}
    [answer], [edit] = steps_of(events, "assistant"), steps_of(events, "file_effect")
    assert answer.values == {"content.text": "Hello."}
    assert edit.values == {"content.path": "/home/dev/a.py", "content.changes": [[{"text": "x"}]]}
    assert losses_of(events) == {"bad_change": 2}


def test_a_chat_that_failed_says_so() -> None:
    request = {"requestId": "q1", "isCanceled": True, "result": {"errorDetails": {"message": "Stopped."}}}
    [warning] = steps_of(chat(requests=[request]), "warning")
    assert (warning.meta, warning.values) == ({"reason": "canceled"}, {"content.error": "Stopped."})


CHAT_LINES = [
    json.dumps({"kind": 0, "v": {"sessionId": "c1", "requests": [REQUEST]}}).encode(),
    json.dumps({"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "More."}]}).encode(),
]


@given(mutated(lines_of(LOG)))
def test_no_log_is_too_strange_to_read(lines: list[bytes]) -> None:
    assert pieces_of(copilot, lines, "events.jsonl") == pieces_of(copilot, lines, "events.jsonl")


@given(mutated(CHAT_LINES))
def test_no_chat_is_too_strange_to_read(lines: list[bytes]) -> None:
    lines = [CHAT_LINES[0], *lines]
    assert pieces_of(copilot, lines, "chat.jsonl") == pieces_of(copilot, lines, "chat.jsonl")


@given(mutated(lines_of(LOG)))
def test_no_line_is_dropped_in_silence(lines: list[bytes]) -> None:
    for text in lines:
        events = events_of_lines(copilot, [lines_of(LOG)[1], text])[2:]
        assert any(isinstance(event, Step | Loss) for event in events) or not text.strip()


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public sessions are not part of the project")
def test_public_sessions_are_read_whole(read_events: ReadEvents) -> None:
    events = read_events(copilot, PUBLIC / "large" / "agentv-copilot-cli-3.jsonl")
    assert len(steps_of(events, "tool_call")) == len(steps_of(events, "tool_result")) == 68
    assert len(steps_of(events, "model_call")) == 54
    assert not any(kind.startswith("unknown") for kind in losses_of(events))
    events = read_events(copilot, PUBLIC / "small" / "copilot_session_simple.jsonl")
    assert types_of(events) == {
        "user": 3,
        "model_call": 5,
        "assistant": 5,
        "tool_call": 2,
        "tool_result": 2,
        "file_effect": 1,
    }

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

from tallystick.agents import Adapter
from tallystick.agents.qwen import transcript as qwen
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, SessionKind, Step
from tests.agents.conftest import events_of_lines
from tests.agents.mutations import lines_of, losses_of, mutated, names_of, pieces_of, steps_of, types_of
from tests.support.shown import shown

ReadEvents = Callable[[Adapter, Path], list[Event]]

ROOT = Path(__file__).resolve().parents[3]
RECORDINGS = ROOT / "tests" / "recordings" / "qwen-code"
MAIN = next(path for path in RECORDINGS.rglob("*.jsonl") if path.parent.name == "chats")
SUB_AGENT = next(RECORDINGS.rglob("agent-*.jsonl"))

SESSION = "279c329d-1a73-48a7-841b-6589c26e65ab"
CALL = "call_d439d3d059ae4dfd9054658c"


def record(id_: str, type_: str, *content: Json, parent: str | None = None, **members: Json) -> dict[str, Json]:
    """One line of a chat."""
    fixed = {"uuid": id_, "parentUuid": parent, "sessionId": "s1", "timestamp": "2026-01-02T03:04:05Z"}
    return {**fixed, "type": type_, "message": {"role": type_, "parts": list(content)}, **members}


def system(id_: str, subtype: str, **payload: Json) -> dict[str, Json]:
    return {"uuid": id_, "sessionId": "s1", "type": "system", "subtype": subtype, "systemPayload": payload}


def read(*records: dict[str, Json]) -> list[Event]:
    return events_of_lines(qwen, [json.dumps(value).encode() for value in records])


def text(words: str, **members: Json) -> dict[str, Json]:
    return {"text": words, **members}


def test_a_chat_is_recorded_whole(read_events: ReadEvents) -> None:
    events = read_events(qwen, MAIN)
    assert types_of(events) == {"user": 2, "model_call": 9, "assistant": 6, "tool_call": 7, "tool_result": 7}
    assert losses_of(events) == {"attribution_snapshot": 3, "ui_telemetry": 19, "original_file": 2}
    opening = events[0]
    assert isinstance(opening, Opening)
    assert (opening.session, opening.kind, opening.parent) == (SESSION, SessionKind.ROOT, None)
    assert opening.meta == {"agent_version": "0.24.4"}
    assert opening.values == {"personal.cwd": "/home/dev/project", "content.branch": "main"}


def test_only_what_somebody_typed_is_a_prompt(read_events: ReadEvents) -> None:
    prompts = steps_of(read_events(qwen, MAIN), "user")
    assert [prompt.meta.get("origin") for prompt in prompts] == [None, "notification"]
    assert [prompt.opens_request for prompt in prompts] == [True, False]
    events = read(
        record("1", "user", text("Old."), parent=None),
        record("2", "user", text("Goal."), provenance="goal_runtime"),
        record("3", "user", text("Tick."), subtype="cron", provenance="system"),
        record("4", "user", text("Wait."), subtype="mid_turn_user_message", provenance="real_user"),
    )
    assert [step.meta.get("origin") for step in steps_of(events, "user")] == [None, "injected", "injected", None]


def test_usage_is_counted_once(read_events: ReadEvents) -> None:
    used = [json.loads(line).get("usageMetadata") for line in lines_of(MAIN)]
    counts = [step.meta["tokens"] for step in steps_of(read_events(qwen, MAIN), "model_call")]
    total = sum(usage["promptTokenCount"] for usage in used if usage)
    assert sum(count["input"] + count["cache_read"] for count in counts) == total
    assert sum(count["output"] for count in counts) == sum(usage["candidatesTokenCount"] for usage in used if usage)


def test_an_answer_is_told_with_the_duration_that_telemetry_gives_it(read_events: ReadEvents) -> None:
    steps = steps_of(read_events(qwen, MAIN))
    call, said, tool, result = steps[1:5]
    assert (call.meta["duration_ms"], call.meta["response"]) == (508, "chatcmpl-77d1e8ec3ece43aa9342028d")
    assert call.input is Input.PATH
    assert said.values == {"content.text": "I'll read render() first."}
    assert tool.values["content.args"] == {"file_path": "/home/dev/project/receipts/render.py"}
    assert result.after == (Ref(tool.source_id),)
    assert (result.meta["success"], result.meta["duration_ms"]) == (True, 51)
    assert shown(result.values["content.output"]).startswith('"""A receipt as text."""')


def test_results_say_how_the_call_ended(read_events: ReadEvents) -> None:
    results = steps_of(read_events(qwen, MAIN), "tool_result")
    failed = next(step for step in results if step.meta.get("exit_code"))
    assert {"success": False, "exit_code": 1, "tool": "run_shell_command"}.items() <= failed.meta.items()
    assert shown(failed.values["content.output"]).startswith("Command: python3 -m unittest")
    refused = next(step for step in results if "decision" in step.meta)
    assert (refused.meta["success"], refused.meta["decision"]) == (False, "deny")
    assert shown(refused.values["content.output"]).endswith("Open a pull request.")
    assert [shown(step.values["content.diff"])[:6] for step in results if "content.diff" in step.values] == [
        "Index:",
        "Index:",
    ]


def test_a_refusal_by_the_person_is_told_as_one() -> None:
    response = {"functionResponse": {"id": "c1", "name": "edit", "response": {"error": "No."}}}
    event = {"event.name": "qwen-code.tool_call", "call_id": "c1", "decision": "reject", "duration_ms": 3}
    events = read(
        record("1", "assistant", {"functionCall": {"id": "c1", "name": "edit", "args": {}}}),
        system("2", "ui_telemetry", uiEvent=event),
        record("3", "tool_result", response, toolCallResult={"status": "error", "errorType": "execution_denied"}),
    )
    [result] = steps_of(events, "tool_result")
    assert {"decision": "deny", "decided_by": "user", "duration_ms": 3}.items() <= result.meta.items()


def test_a_sub_agent_is_a_child_of_the_call_that_started_it(read_events: ReadEvents) -> None:
    events = read_events(qwen, SUB_AGENT)
    opening = events[0]
    assert isinstance(opening, Opening)
    assert (opening.session, opening.kind) == (f"{SESSION}/general-purpose-{CALL}", SessionKind.CHILD)
    assert opening.parent == Ref(CALL, session=SESSION)
    assert (opening.meta["agent_role"], opening.meta["model"]) == ("general-purpose", "qwen3-coder-plus")
    assert opening.values["content.goal"] == "Check the README"
    assert types_of(events) == {"user": 1, "model_call": 2, "tool_call": 1, "tool_result": 1, "assistant": 1}
    assert [step.meta["origin"] for step in steps_of(events, "user")] == ["parent"]
    assert {step.source_id for step in steps_of(read_events(qwen, MAIN), "tool_call")} >= {CALL}


def test_without_its_description_a_sub_agent_is_told_by_its_name() -> None:
    opening = events_of_lines(qwen, lines_of(SUB_AGENT))[0]
    assert isinstance(opening, Opening)
    assert opening.parent == Ref(CALL, session=SESSION)


def test_a_compression_begins_a_continuation_with_what_was_kept() -> None:
    kept = [
        {"role": "user", "parts": [text("So far.")]},
        {"role": "model", "parts": [text("Got it.")]},
        {"role": "model", "parts": [{"functionCall": {"id": "c0", "name": "edit", "args": {}}}]},
    ]
    events = read(
        record("1", "user", text("Go.")),
        system("2", "chat_compression", info={"originalTokenCount": 9, "newTokenCount": 2}, compressedHistory=kept),
        record("3", "assistant", text("On."), model="m"),
    )
    first, later = [event for event in events if isinstance(event, Opening)]
    assert (first.session, later.session, later.kind) == ("s1", "s1~1", SessionKind.CONTINUATION)
    assert later.parent == Ref("2", session="s1")
    assert steps_of(events, "compaction")[0].meta == {"tokens_before": 9, "tokens_after": 2}
    assert [(step.type, step.source_id) for step in steps_of(events) if step.session == "s1~1"] == [
        ("user", "2/0"),
        ("assistant", "2/1"),
        ("model_call", "3/usage"),
        ("assistant", "3"),
    ]
    assert steps_of(events, "user")[-1].meta == {"origin": "summary", "retained": True}
    assert steps_of(events, "model_call")[0].input is Input.HIDDEN


def test_a_record_with_another_parent_begins_a_branch() -> None:
    events = read(
        record("1", "user", text("One.")),
        record("2", "assistant", text("1"), parent="1"),
        record("3", "user", text("Two."), parent="2"),
        record("4", "user", text("Other."), parent="2"),
        record("5", "user", text("Lost."), parent="gone"),
    )
    assert [step.after for step in steps_of(events)] == [(), (), (), (Ref("2"),), ()]


def test_copied_records_are_not_paid_for_twice() -> None:
    origin = {"sessionId": "s0", "messageUuid": "1"}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 1}
    events = read(
        record("1", "assistant", text("Before."), model="m", usageMetadata=usage, forkedFrom=origin),
        record("2", "assistant", text("After."), model="m", usageMetadata=usage, parent="1"),
    )
    assert isinstance(events[0], Opening)
    assert (events[0].kind, events[0].parent) == (SessionKind.FORK, Ref(session="s0"))
    assert ["tokens" in step.meta for step in steps_of(events, "model_call")] == [False, True]


def test_reasoning_is_a_part_of_the_output() -> None:
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 6, "thoughtsTokenCount": 4, "totalTokenCount": 15}
    events = read(record("1", "assistant", text("Hm.", thought=True), text("Hi."), usageMetadata=usage))
    assert steps_of(events, "model_call")[0].meta["tokens"] == {"input": 9, "output": 6, "reasoning": 4}
    assert [step.values for step in steps_of(events, "assistant")] == [
        {"content.thinking": "Hm."},
        {"content.text": "Hi."},
    ]


def test_what_the_program_notes_is_recorded_where_a_person_may_ask() -> None:
    error = {"event.name": "qwen-code.api_error", "error_message": "Too many.", "status_code": 429}
    events = read(
        system("1", "parent_session", parentSessionId="s0"),
        system("2", "custom_title", customTitle="Receipts"),
        system("3", "session_model", modelId="m", authType="openai"),
        system("4", "rewind", truncatedCount=2),
        system("5", "ui_telemetry", uiEvent=error),
        system("6", "dream"),
        {"uuid": "7", "type": "song"},
    )
    assert isinstance(events[0], Opening)
    assert (events[0].kind, events[0].parent) == (SessionKind.CHILD, Ref(session="s0"))
    assert types_of(events) == {"system": 1, "config_change": 1, "discard": 1, "warning": 1}
    assert steps_of(events, "warning")[0].values == {"content.error": "Too many."}
    assert losses_of(events) == {"parent_session": 1, "unknown_dream": 1, "unknown_song": 1}


def test_chats_are_recognised_by_their_first_line() -> None:
    for path in (MAIN, SUB_AGENT):
        assert qwen.recognises("x.jsonl", path.read_bytes()[:65536])
    claude = b'{"uuid":"1","parentUuid":null,"sessionId":"2","type":"user","message":{"role":"user","content":"Hi."}}'
    assert not qwen.recognises("x.jsonl", claude)


@pytest.mark.parametrize("path", [MAIN, SUB_AGENT], ids=["main", "sub-agent"])
def test_a_chat_that_grows_keeps_its_names(path: Path) -> None:
    lines = lines_of(path)
    whole = names_of(events_of_lines(qwen, lines, str(path)))
    for end in range(1, len(lines)):
        assert names_of(events_of_lines(qwen, lines[:end], str(path))) <= whole


@given(mutated([*lines_of(MAIN), *lines_of(SUB_AGENT)]))
def test_no_line_is_too_strange_to_read(lines: list[bytes]) -> None:
    assert pieces_of(qwen, lines, "chat.jsonl") == pieces_of(qwen, lines, "chat.jsonl")


@given(mutated([*lines_of(MAIN), *lines_of(SUB_AGENT)]))
def test_no_line_is_dropped_in_silence(lines: list[bytes]) -> None:
    for line in lines:
        events = events_of_lines(qwen, [line])
        assert any(isinstance(event, Step | Loss) for event in events) or not line.strip()

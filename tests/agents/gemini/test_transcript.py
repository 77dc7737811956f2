from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

from tallystick.agents import Adapter
from tallystick.agents.gemini import transcript as gemini
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, SessionKind, Step
from tests.agents.conftest import events_of_lines
from tests.agents.mutations import lines_of, losses_of, mutated, names_of, pieces_of, steps_of, types_of
from tests.support.shown import shown

ReadEvents = Callable[[Adapter, Path], list[Event]]

ROOT = Path(__file__).resolve().parents[3]
RECORDINGS = ROOT / "tests" / "recordings" / "gemini-cli"
PUBLIC = ROOT / ".." / "shared" / "data" / "public"

PARENT = "12a13884-cfd2-4f3b-a797-7cd915f8a646"
CHILD = "65d82f92-4933-46cd-a7eb-e2f845c094db"
MAIN = next(RECORDINGS.rglob("session-*.jsonl"))
SUB_AGENT = next(RECORDINGS.rglob(f"{CHILD}.jsonl"))


def message(id_: str, type_: str, content: Json = "", **members: Json) -> dict[str, Json]:
    return {"id": id_, "timestamp": "2026-01-02T03:04:05Z", "type": type_, "content": content, **members}


def read(*records: dict[str, Json]) -> list[Event]:
    header = {"sessionId": "s1", "projectHash": "h", "startTime": "2026-01-02T03:04:05Z", "kind": "main"}
    return events_of_lines(gemini, [json.dumps(record).encode() for record in (header, *records)])


def call(id_: str, **members: Json) -> dict[str, Json]:
    return {"id": id_, "name": "run_shell_command", "args": {"command": "ls"}, **members}


def answer(id_: str, **response: Json) -> dict[str, Json]:
    return {"functionResponse": {"id": id_, "name": "run_shell_command", "response": response}}


def test_a_chat_is_recorded_whole(read_events: ReadEvents) -> None:
    events = read_events(gemini, MAIN)
    assert types_of(events) == {
        "user": 2,
        "model_call": 8,
        "assistant": 6,
        "tool_call": 7,
        "tool_result": 7,
        "subagent_start": 1,
        "subagent_end": 1,
    }
    assert losses_of(events) == {
        "metadata": 16,
        "rewritten_message": 7,
        "duplicate_event": 7,
        "original_file": 2,
        "checkpoint": 1,
    }
    assert isinstance(events[0], Opening)
    assert (events[0].session, events[0].kind) == (PARENT, SessionKind.ROOT)
    prompts = steps_of(events, "user")
    assert [prompt.meta.get("origin") for prompt in prompts] == ["injected", None]
    assert prompts[1].opens_request


def test_usage_is_counted_once_for_a_message_that_was_written_twice(read_events: ReadEvents) -> None:
    written = {}
    for line in lines_of(MAIN):
        record = json.loads(line)
        if "tokens" in record:
            written[record["id"]] = record["tokens"]
    counts = [step.meta["tokens"] for step in steps_of(read_events(gemini, MAIN), "model_call")]
    assert sum(count["input"] + count["cache_read"] for count in counts) == sum(t["input"] for t in written.values())
    assert sum(count["output"] for count in counts) == sum(t["output"] for t in written.values())


def test_the_last_writing_of_a_message_counts(read_events: ReadEvents) -> None:
    steps = steps_of(read_events(gemini, MAIN))
    first = next(index for index, step in enumerate(steps) if step.type == "model_call")
    usage, thinking, text, tool, result = steps[first : first + 5]
    assert usage.meta["tokens"] == {"input": 3100, "output": 58, "cache_read": 0, "reasoning": 0}
    assert shown(thinking.values["content.thinking"]).startswith("render() builds one row")
    assert text.values == {"content.text": "I'll read render() first."}
    assert tool.values["content.args"] == {"file_path": "/home/dev/project/receipts/render.py"}
    assert shown(result.values["content.output"]).startswith('"""A receipt as text."""')
    assert result.after == (Ref(tool.source_id),)
    assert (result.meta["success"], result.ts) == (True, "2026-11-21T22:46:23.008Z")


def test_a_sub_agent_hangs_on_the_step_that_started_it(read_events: ReadEvents) -> None:
    parent, child = read_events(gemini, MAIN), read_events(gemini, SUB_AGENT)
    [start], [end] = steps_of(parent, "subagent_start"), steps_of(parent, "subagent_end")
    assert isinstance(child[0], Opening)
    assert (child[0].session, child[0].kind) == (CHILD, SessionKind.CHILD)
    assert child[0].parent == Ref(start.source_id, session=PARENT)
    assert start.after == (Ref(start.meta["corr"]),)
    assert end.after == (Ref(start.source_id), Ref(session=CHILD))
    assert [step.meta["origin"] for step in steps_of(child, "user")] == ["parent"]
    assert [step.values["content.summary"] for step in steps_of(child, "system")] != []


def test_results_say_how_the_call_ended(read_events: ReadEvents) -> None:
    results = steps_of(read_events(gemini, MAIN), "tool_result")
    refused = next(step for step in results if "decision" in step.meta)
    assert shown(refused.values["content.output"]).endswith("Open a pull request.")
    assert {"success": False, "decision": "deny", "decided_by": "hook"}.items() <= refused.meta.items()
    failed = next(step for step in results if step.meta.get("exit_code"))
    assert (failed.meta["success"], failed.meta["exit_code"]) == (False, 1)
    edited = [shown(step.values["content.diff"])[:6] for step in results if "content.diff" in step.values]
    assert edited == ["Index:", "Index:"]


def test_an_answer_that_stands_only_in_a_prompt_is_recorded() -> None:
    events = read(
        message("m1", "gemini", toolCalls=[call("c1")]),
        message("m2", "user", [answer("c1", output="a.py"), {"text": "And now?"}]),
    )
    [result], [prompt] = steps_of(events, "tool_result"), steps_of(events, "user")
    assert result.values["content.output"] == "a.py"
    assert prompt.values["content.text"] == "And now?"
    assert prompt.opens_request


def test_calls_and_thoughts_in_the_content_are_recorded_once() -> None:
    content = [
        {"text": "Hm.", "thought": True},
        {"text": "Looking."},
        {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {}}},
        {"functionCall": {"name": "glob", "args": {}}},
    ]
    thoughts = [{"subject": "A", "description": "Hm."}]
    events = read(message("m1", "gemini", content, toolCalls=[call("c1", status="cancelled")], thoughts=thoughts))
    assert [step.values for step in steps_of(events, "assistant")] == [
        {"content.thinking": "Hm."},
        {"content.text": "Looking."},
    ]
    assert [step.source_id for step in steps_of(events, "tool_call")] == ["m1/call/0", "c1"]
    assert [step.meta["success"] for step in steps_of(events, "tool_result")] == [False]


def test_thoughts_and_tool_prompts_are_part_of_output_and_input() -> None:
    tokens = {"input": 100, "output": 20, "cached": 40, "thoughts": 30, "tool": 5, "total": 155}
    events = read(message("m1", "gemini", "Hi.", tokens=tokens, model="m"))
    assert steps_of(events, "model_call")[0].meta["tokens"] == {
        "input": 65,
        "output": 50,
        "cache_read": 40,
        "reasoning": 30,
    }


def test_a_history_that_lost_messages_was_compacted() -> None:
    events = read(
        message("m1", "user", "Go."),
        message("m2", "gemini", "Going.", model="m"),
        message("m3", "info", "Note."),
        {"$set": {"messages": [message("m1", "user", "Go."), message("m2", "gemini", "Going.")]}},
        {"$set": {"messages": [message("m9", "user", "So far."), message("m2", "gemini", "Going.")]}},
        message("m4", "gemini", "On.", model="m"),
    )
    first, later = [event for event in events if isinstance(event, Opening)]
    [compaction] = steps_of(events, "compaction")
    assert (later.session, later.kind) == ("s1~1", SessionKind.CONTINUATION)
    assert later.parent == Ref(compaction.source_id, session=first.session)
    assert [step.meta.get("origin") for step in steps_of(events, "user")] == [None, "summary"]
    assert [step.input for step in steps_of(events, "model_call")] == [Input.PATH, Input.HIDDEN]
    assert losses_of(events) == {"retained_message": 3, "checkpoint": 2}


def test_a_chat_that_is_resumed_in_its_file_was_not_compacted() -> None:
    context = message("m0", "user", "<session_context> where we are")
    events = read(
        {"$set": {"messages": [context]}},
        message("m1", "user", "Go."),
        message("m2", "gemini", "Going.", model="m"),
        {"sessionId": "s1", "projectHash": "p", "kind": "main"},
        {"$set": {"messages": [context]}},
        {"$set": {"sessionId": "s1"}},
        {"$set": {"messages": [context, message("m1", "user", "Go."), message("m2", "gemini", "Going.")]}},
        message("m3", "user", "Go on."),
        {"$set": {"messages": [context, message("m9", "user", "So far.")]}},
    )
    assert [step.source_id for step in steps_of(events, "user")] == ["m0", "m1", "m3", "m9"]
    [compaction] = steps_of(events, "compaction")
    assert events.index(compaction) > events.index(steps_of(events, "user")[2])


def test_a_rewound_chat_goes_on_from_before_the_message() -> None:
    events = read(
        message("m1", "user", "One."),
        message("m2", "gemini", "1"),
        message("m3", "user", "Two."),
        {"$rewindTo": "m3"},
        message("m4", "user", "Three."),
    )
    assert len(steps_of(events, "discard")) == 1
    assert steps_of(events, "user")[-1].after == (Ref("m2"),)


def test_pictures_become_blobs() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}
    result = [answer("c1", output="A picture."), picture]
    events = read(
        message("m1", "user", ["What is this?", picture]),
        message("m2", "gemini", toolCalls=[call("c1", status="success", result=result)]),
    )
    [prompt], [shown] = steps_of(events, "user"), steps_of(events, "tool_result")
    assert prompt.raw == shown.raw == {"content.part_0": b"\x89PNG"}
    placeholder = {"inlineData": {"type": "image", "mime": "image/png", "part": "content.part_0"}}
    assert prompt.values == {"content.text": "What is this?", "content.blocks": [placeholder]}
    assert shown.values["content.output"] == ["A picture.", placeholder]


def test_what_a_version_adds_is_counted_by_its_name() -> None:
    events = read(message("m1", "dream", "Zzz."), {"what": 1}, {"sessionId": "s1"})
    assert losses_of(events) == {"unknown_dream": 1, "unknown_kind": 1, "repeated_header": 1}


def test_chats_are_recognised_by_their_first_line() -> None:
    assert gemini.recognises("x.jsonl", MAIN.read_bytes()[:65536])
    assert gemini.recognises("x.jsonl", b'{"id":"1","timestamp":"2025-12-06T18:25:18Z","type":"user","content":"Hi."}')
    assert not gemini.recognises("x.jsonl", b'{"sessionId":"1","projectHash":"2","messages":[]}')
    assert not gemini.recognises("x.jsonl", b'{"type":"session_meta","payload":{}}')


@pytest.mark.parametrize("path", [MAIN, SUB_AGENT], ids=["main", "sub-agent"])
def test_a_chat_that_grows_keeps_its_names(path: Path) -> None:
    lines = lines_of(path)
    whole = names_of(events_of_lines(gemini, lines, str(path)))
    for end in range(1, len(lines)):
        assert names_of(events_of_lines(gemini, lines[:end], str(path))) <= whole


@given(mutated([*lines_of(MAIN), *lines_of(SUB_AGENT), b'{"$rewindTo": "82230596-0500-4d11-9c24-d01c95a56648"}']))
def test_no_line_is_too_strange_to_read(lines: list[bytes]) -> None:
    assert pieces_of(gemini, lines, "chat.jsonl") == pieces_of(gemini, lines, "chat.jsonl")


@given(mutated([*lines_of(MAIN), *lines_of(SUB_AGENT)]))
def test_no_line_is_dropped_in_silence(lines: list[bytes]) -> None:
    for text in lines:
        events = events_of_lines(gemini, [text])
        assert any(isinstance(event, Step | Loss) for event in events) or b"projectHash" in text or not text.strip()


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public sessions are not part of the project")
def test_a_public_chat_without_header_is_read_whole(read_events: ReadEvents) -> None:
    events = read_events(gemini, PUBLIC / "small" / "gemini-session-simple.jsonl")
    assert types_of(events) == {"user": 1, "model_call": 5, "assistant": 5, "tool_call": 4}

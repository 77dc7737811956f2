from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents import SourceFile
from tallystick.agents.cline import transcript as cline
from tallystick.model.step import Event, Loss, Opening, Ref, SessionKind, Step
from tests.agents.conftest import ReadEvents
from tests.agents.damage import spoilt
from tests.support.laws import examples

RECORDINGS = Path(__file__).parents[2] / "recordings" / "cline"
RECORDING = next(RECORDINGS.glob("*/.cline/data/sessions/*/*.messages.json"))


def fed(document: Any) -> list[Event]:
    reader = cline.reader(SourceFile("/x/s1.messages.json"))
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return [*reader.feed(data, 0), *reader.finish()]


def session(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"version": 1, "sessionId": "s1", "origin": {"sessionId": "s1"}, "messages": list(messages), **more}


def said(key: str | None, role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"id": key, "role": role, "content": list(content), "ts": 1_795_300_000_000, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def result(call: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "name": "run_commands", "content": content, **more}


CONVERSATION = session(
    said("a", "user", text('<user_input mode="act">do it</user_input>\n<hint>x</hint>'), text("<notice>y</notice>")),
    said(
        "b",
        "assistant",
        {"type": "thinking", "thinking": "How?"},
        text("So."),
        {"type": "tool_use", "id": "c1", "name": "run_commands", "input": {"commands": ["ls"]}},
        modelInfo={"id": "m-1", "provider": "p"},
        metrics={"inputTokens": 110, "outputTokens": 20, "cacheReadTokens": 10, "cacheWriteTokens": 0, "cost": 0.5},
    ),
    said("c", "user", result("c1", [{"query": "ls", "result": "a", "success": True}])),
    said(None, "assistant", text("done")),
)


def steps(events: Sequence[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def find(events: Sequence[Event], source_id: str) -> Step:
    [found] = [step for step in steps(events) if step.source_id == source_id]
    return found


def losses(events: Sequence[Event]) -> Counter[str]:
    return Counter(event.kind for event in events if isinstance(event, Loss))


def test_the_recording_gives_these_events(read_events: ReadEvents) -> None:
    events = read_events(cline, RECORDING)
    assert Counter(step.type for step in steps(events)) == {
        "system": 1,
        "user": 1,
        "model_call": 6,
        "assistant": 4,
        "tool_call": 5,
        "tool_result": 5,
    }
    assert losses(events) == {}
    successes = [step.meta.get("success") for step in steps(events) if step.type == "tool_result"]
    assert successes == [True, True, True, False, True]
    whole = json.loads(RECORDING.with_name(f"{events[0].session}.json").read_bytes())  # type: ignore[union-attr]
    tokens = [step.meta["tokens"] for step in steps(events) if "tokens" in step.meta]
    usage = whole["metadata"]["usage"]
    assert sum(item["input"] + item["cache_read"] for item in tokens) == usage["inputTokens"]
    assert sum(item["output"] for item in tokens) == usage["outputTokens"]
    assert read_events(cline, RECORDING) == events


def test_a_conversation_gives_these_steps() -> None:
    events = fed(CONVERSATION)
    assert [(step.type, step.source_id) for step in steps(events)] == [
        ("user", "a/0"),
        ("user", "a/1"),
        ("model_call", "b/usage"),
        ("assistant", "b/0"),
        ("assistant", "b/1"),
        ("tool_call", "c1"),
        ("tool_result", "c1/result"),
        ("model_call", "#3/usage"),
        ("assistant", "#3/0"),
    ]
    call = find(events, "b/usage").meta
    assert call["tokens"] == {"input": 100, "output": 20, "cache_read": 10, "cache_write": 0}
    assert call["cost_microusd"] == 500_000


def test_what_was_typed_is_told_from_what_was_added() -> None:
    events = fed(CONVERSATION)
    assert find(events, "a/0").opens_request
    assert find(events, "a/0").values == {"content.text": "do it", "content.context": "<hint>x</hint>"}
    assert (find(events, "a/1").meta["origin"], find(events, "a/1").opens_request) == ("injected", False)


@pytest.mark.parametrize(
    ("block", "success", "code"),
    [
        (result("c1", [{"result": "a", "success": True}, {"result": "b", "success": True}]), True, None),
        (result("c1", [{"result": "[Command exited with code 2]\n", "success": True}]), False, 2),
        (result("c1", '{"result": "x", "success": false}'), False, None),
        (result("c1", "no such tool", is_error=True), False, None),
        (result("c1", "words"), None, None),
    ],
)
def test_a_result_says_whether_it_succeeded(block: dict[str, Any], success: bool | None, code: int | None) -> None:
    step = find(fed(session(said("a", "user", block))), "c1/result")
    assert (step.meta.get("success"), step.meta.get("exit_code")) == (success, code)


def test_a_team_member_hangs_on_its_leader() -> None:
    events = fed({**CONVERSATION, "sessionId": "s2"})
    [opening] = [event for event in events if isinstance(event, Opening)]
    assert (opening.session, opening.kind, opening.parent) == ("s2", SessionKind.CHILD, Ref(None, "s1"))
    assert find(events, "a/0").meta["origin"] == "parent"


def test_pictures_become_raw_values() -> None:
    block = {"type": "image", "data": "cGlj", "mimeType": "image/png"}
    assert find(fed(session(said("a", "user", block))), "a/0").raw == {"content.part_0": b"pic"}


def test_what_is_not_known_is_reported() -> None:
    events = fed(session(said("a", "user", {"type": "hologram"}), said("b", "user"), 3))
    assert losses(events) == {"unknown_hologram": 1, "empty_message": 2}


def test_a_session_is_known_by_its_ending() -> None:
    head = RECORDING.read_bytes()[:4096]
    assert cline.recognises("/x/s1.messages.json", head)
    assert cline.recognises("/x/copy.jsonl", head)
    assert not cline.recognises("/x/s1.json", b'{"messages": []}')
    assert not cline.recognises("/x/s1.messages.json", b"[]")


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_a_damaged_document_does_not_stop_the_reader(data: st.DataObject) -> None:
    document = spoilt(CONVERSATION, data)
    events = fed(document)
    assert events
    assert events == fed(document)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_document_are_reported(data: bytes) -> None:
    assert any(isinstance(event, Loss) for event in fed(data))

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents import Adapter, SourceFile
from tallystick.agents.gemini import legacy as gemini_legacy
from tallystick.agents.gemini import transcript as gemini
from tallystick.model.step import Event, Json, Opening, SessionKind
from tests.agents.conftest import events_of_lines
from tests.agents.mutations import JSON_VALUES, names_of, steps_of, types_of

ReadEvents = Callable[[Adapter, Path], list[Event]]

TIME = "2025-12-06T18:25:18.042Z"
HEADER: dict[str, Json] = {"sessionId": "s1", "projectHash": "h", "startTime": TIME, "lastUpdated": TIME}
MESSAGES: list[dict[str, Json]] = [
    {"id": "m1", "timestamp": TIME, "type": "user", "content": "Add a greeting."},
    {
        "id": "m2",
        "timestamp": TIME,
        "type": "gemini",
        "content": "Adding it.",
        "model": "gemini-2.5-flash",
        "tokens": {"input": 10, "output": 2, "cached": 4, "total": 12},
        "toolCalls": [{"id": "c1", "name": "replace", "args": {}, "result": "Done.", "status": "success"}],
    },
]


def read(data: bytes) -> list[Event]:
    reader = gemini_legacy.reader(SourceFile("session-1.json"))
    return [*reader.feed(data, 0), *reader.finish()]


def test_a_document_gives_the_steps_that_the_same_chat_gives_as_lines() -> None:
    document = json.dumps({**HEADER, "messages": MESSAGES}, indent=2).encode()
    events = read(document)
    assert isinstance(events[0], Opening)
    assert (events[0].session, events[0].agent, events[0].kind) == ("s1", "gemini", SessionKind.ROOT)
    assert types_of(events) == {"user": 1, "model_call": 1, "assistant": 1, "tool_call": 1, "tool_result": 1}
    lines = [json.dumps(record).encode() for record in (HEADER, *MESSAGES)]
    assert steps_of(events) == steps_of(events_of_lines(gemini, lines))
    assert names_of(events) == names_of(events_of_lines(gemini, lines))


def test_documents_are_recognised_and_lines_are_not() -> None:
    document = json.dumps({**HEADER, "messages": MESSAGES}, indent=2).encode()
    assert gemini_legacy.recognises("session-1.json", document)
    assert not gemini_legacy.recognises("session-1.jsonl", json.dumps(HEADER).encode())
    assert not gemini.recognises("session-1.json", document)


@given(
    st.binary(max_size=60) | JSON_VALUES.map(lambda value: json.dumps(value).encode()) | st.just(b'{"messages": [1]}')
)
def test_no_document_is_too_strange_to_read(data: bytes) -> None:
    assert read(data) == read(data)
    assert read(data) != []

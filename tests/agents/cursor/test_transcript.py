from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents.cursor import transcript as cursor
from tallystick.model.step import Event, Loss, Opening, Ref, SessionKind, Step
from tests.agents.conftest import ReadEvents, events_of_lines
from tests.agents.damage import JSON, spoilt
from tests.support.laws import examples

PUBLIC = Path(__file__).parents[4] / "shared" / "data" / "public" / "small" / "cursor-session-simple.jsonl"
PATH = "/home/dev/.cursor/projects/home-dev-project/agent-transcripts/s1/s1.jsonl"


def line(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(content)}, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": {"path": "a.py"}, **more}


CONVERSATION = [
    line("user", text("<open_files>a.py</open_files>\n<user_query>\nRead a.py\n</user_query>")),
    line("assistant", {"type": "thinking", "thinking": "Which?"}, text("I read it."), call("Read"), call("Grep")),
    line("user", {"type": "tool_result", "content": "1: x"}),
    line("assistant", text("It is short.")),
]


def fed(*lines: Any, path: str = PATH) -> list[Event]:
    return events_of_lines(cursor, [json.dumps(item).encode() for item in lines], path)


def steps(events: Sequence[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def find(events: Sequence[Event], source_id: str) -> Step:
    [found] = [step for step in steps(events) if step.source_id == source_id]
    return found


def losses(events: Sequence[Event]) -> Counter[str]:
    return Counter(event.kind for event in events if isinstance(event, Loss))


def test_a_conversation_gives_these_steps() -> None:
    assert [(step.type, step.source_id) for step in steps(fed(*CONVERSATION))] == [
        ("user", "#0/0"),
        ("assistant", "#1/0"),
        ("assistant", "#1/1"),
        ("tool_call", "#1/2"),
        ("tool_call", "#1/3"),
        ("tool_result", "#1/2/result"),
        ("assistant", "#3/0"),
    ]


def test_what_was_typed_is_told_from_what_was_added() -> None:
    prompt = find(fed(*CONVERSATION), "#0/0")
    assert prompt.opens_request
    assert prompt.values == {"content.text": "Read a.py", "content.context": "<open_files>a.py</open_files>"}
    added = find(fed(line("user", text("<system_reminder>Be brief.</system_reminder>"))), "#0/0")
    assert (added.meta, added.opens_request) == ({"origin": "injected"}, False)


def test_a_result_without_an_id_answers_the_oldest_open_call() -> None:
    result = find(fed(*CONVERSATION), "#1/2/result")
    assert result.after == (Ref("#1/3"), Ref("#1/2"))
    assert result.values == {"content.output": "1: x"}


def test_ids_that_are_there_are_used() -> None:
    events = fed(
        line("assistant", call("Read", id="a"), call("Grep", id="b"), call("Grep", id="b")),
        line("user", {"type": "tool_result", "tool_use_id": "b", "content": "2", "is_error": True}),
    )
    assert [step.source_id for step in steps(events)] == ["a", "b", "#0/2", "b/result"]
    assert find(events, "b/result").meta == {"corr": "b", "success": False}


def test_a_result_that_no_call_waits_for_is_kept() -> None:
    assert find(fed(line("tool", {"type": "tool_result", "content": "x"})), "#0/0").type == "tool_result"


@pytest.mark.parametrize(
    ("path", "session", "parent"),
    [
        (PATH, "s1", None),
        ("/home/dev/.cursor/projects/p/agent-transcripts/s1.jsonl", "s1", None),
        (PATH.replace("s1.jsonl", "subagents/t2.jsonl"), "s1/t2", "s1"),
    ],
)
def test_a_session_is_named_by_its_file(path: str, session: str, parent: str | None) -> None:
    [opening] = [event for event in fed(*CONVERSATION, path=path) if isinstance(event, Opening)]
    assert opening.session == session
    assert opening.parent == (Ref(None, parent) if parent else None)
    assert opening.kind is (SessionKind.CHILD if parent else SessionKind.ROOT)
    assert find(fed(*CONVERSATION, path=path), "#0/0").opens_request is (parent is None)


def test_the_project_is_the_folder_that_cursor_named_after_it() -> None:
    [opening] = [event for event in fed(*CONVERSATION) if isinstance(event, Opening)]
    assert opening.values == {"personal.project": "home-dev-project"}


def test_pictures_become_raw_values() -> None:
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cGlj"}}
    assert find(fed(line("user", block)), "#0/0").raw == {"content.part_0": b"pic"}


def test_lines_that_say_nothing_are_reported() -> None:
    events = fed({"type": "turn_ended"}, {"type": "novel"}, {"role": "user"}, [], line("user"), line("user", 3))
    assert losses(events) == {
        "turn_ended": 1,
        "unknown_novel": 1,
        "empty_message": 2,
        "unknown_kind": 2,
    }


def test_a_damaged_line_leaves_the_numbers_of_the_others() -> None:
    whole = [json.dumps(item).encode() for item in CONVERSATION]
    events = events_of_lines(cursor, [whole[0], b'{"role":', *whole[2:]], PATH)
    assert [step.source_id for step in steps(events)] == ["#0/0", "#2/0", "#3/0"]
    assert losses(events) == {"bad_line": 1}


def test_a_transcript_is_known_by_its_place_or_its_first_line() -> None:
    head = json.dumps(CONVERSATION[1]).encode()
    assert cursor.recognises("/tmp/copy.jsonl", head)
    assert cursor.recognises(PATH, b"")
    assert not cursor.recognises("/tmp/copy.json", head)
    assert not cursor.recognises("/tmp/copy.jsonl", b'{"type":"user","message":{"role":"user","content":"x"}}')


@pytest.mark.skipif(not PUBLIC.is_file(), reason="the public samples are not beside this checkout")
def test_the_public_sample_is_read_whole(read_events: ReadEvents) -> None:
    events = read_events(cursor, PUBLIC)
    assert Counter(step.type for step in steps(events)) == {"user": 1, "assistant": 10, "tool_call": 10}
    assert losses(events) == {}
    assert cursor.recognises("copy.jsonl", PUBLIC.read_bytes()[:4096])


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_a_damaged_line_is_recorded_or_reported(data: st.DataObject) -> None:
    lines = [dict(item) for item in CONVERSATION]
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place] = spoilt(lines[place], data)
    events = fed(*lines)
    assert events == fed(*lines)
    texts = [step.values.get("content.text") for step in steps(events)]
    assert all(
        words in texts for at, words in ((0, "Read a.py"), (1, "I read it."), (3, "It is short.")) if at != place
    )


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.binary(max_size=30) | JSON.map(lambda value: json.dumps(value).encode()), max_size=5))
def test_each_line_of_anything_gives_an_event(lines: list[bytes]) -> None:
    events = events_of_lines(cursor, [item.replace(b"\n", b" ") for item in lines])
    assert len([event for event in events if not isinstance(event, Opening)]) >= sum(
        1 for item in lines if item.replace(b"\n", b" ").strip()
    )

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents.pi import transcript as pi
from tallystick.model.step import Event, Input, Loss, Opening, Ref, SessionKind, Step
from tests.agents.conftest import ReadEvents, events_of_lines
from tests.agents.damage import JSON, spoilt
from tests.support.laws import examples

RECORDING = next((Path(__file__).parents[2] / "recordings" / "pi").glob("*/.pi/agent/sessions/*/*.jsonl"))
PUBLIC = Path(__file__).parents[4] / "shared" / "data" / "public" / "small" / "pi-session-tool.jsonl"


def header(**more: Any) -> dict[str, Any]:
    return {
        "type": "session",
        "version": 3,
        "id": "s",
        "timestamp": "2026-11-21T10:00:00.000Z",
        "cwd": "/home/dev",
        **more,
    }


def entry(key: str, parent: str | None, type: str, at: int = 10, **more: Any) -> dict[str, Any]:
    return {"type": type, "id": key, "parentId": parent, "timestamp": f"2026-11-21T{at}:00:01.000Z", **more}


def said(key: str, parent: str | None, role: str, *content: Any, at: int = 10, **more: Any) -> dict[str, Any]:
    return entry(key, parent, "message", at, message={"role": role, "content": list(content), **more})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


TREE = [
    header(),
    said("a", None, "user", text("do it")),
    said(
        "b", "a", "assistant", text("one way"), {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"x": 1}}
    ),
    said("c", "b", "toolResult", text("out"), toolCallId="c1", toolName="bash", isError=False),
    said("d", "c", "assistant", text("done")),
    said("e", "a", "assistant", text("another way")),
    entry("f", "e", "compaction", summary="what happened", firstKeptEntryId="e", tokensBefore=900),
    said("g", "f", "user", text("go on")),
    said("h", "d", "user", text("back there")),
]


def fed(*lines: Any) -> list[Event]:
    return events_of_lines(pi, [json.dumps(line).encode() for line in lines], "/x/2026_s.jsonl")


def steps(events: Sequence[Event], session: str | None = None) -> list[Step]:
    return [event for event in events if isinstance(event, Step) and session in (None, event.session)]


def openings(events: Sequence[Event]) -> dict[str, Opening]:
    return {event.session: event for event in events if isinstance(event, Opening)}


def find(events: Sequence[Event], source_id: str) -> Step:
    [found] = [step for step in steps(events) if step.source_id == source_id]
    return found


def losses(events: Sequence[Event]) -> Counter[str]:
    return Counter(event.kind for event in events if isinstance(event, Loss))


def test_the_recording_gives_these_events(read_events: ReadEvents) -> None:
    events = read_events(pi, RECORDING)
    assert Counter(step.type for step in steps(events)) == {
        "config_change": 2,
        "user": 1,
        "model_call": 7,
        "assistant": 4,
        "tool_call": 6,
        "tool_result": 6,
    }
    assert losses(events) == {}
    assert [step.meta["success"] for step in steps(events) if step.type == "tool_result"] == [True] * 3 + [
        False,
        True,
        False,
    ]
    [opening] = openings(events).values()
    assert opening.values == {"personal.cwd": "/home/dev/project"}
    tokens = [step.meta["tokens"] for step in steps(events) if "tokens" in step.meta]
    assert (sum(item["input"] for item in tokens), sum(item["cache_read"] for item in tokens)) == (4860, 25216)
    assert read_events(pi, RECORDING) == events


def test_what_grows_from_an_entry_follows_it() -> None:
    events = fed(*TREE)
    assert find(events, "e/usage").after == (Ref("a"),)
    assert find(events, "h").after == (Ref("d/0"),)
    assert find(events, "h").session == "s"


def test_a_compaction_goes_on_in_a_session_of_its_own() -> None:
    events = fed(*TREE)
    assert find(events, "f").type == "compaction"
    assert find(events, "f").meta == {"tokens_before": 900, "kept_from": "e"}
    after = openings(events)["s~1"]
    assert (after.kind, after.parent) == (SessionKind.CONTINUATION, Ref("f", "s"))
    assert [step.source_id for step in steps(events, "s~1")] == ["f/summary", "g"]
    assert find(events, "f/summary").meta == {"origin": "summary"}


def test_a_session_made_from_another_leaves_out_what_it_copied() -> None:
    made = header(id="t", timestamp="2026-11-21T11:00:00.000Z", parentSession="/x/2026-11-21_s.jsonl")
    events = fed(
        made, *TREE[1:5], said("n", "d", "user", text("new"), at=12), said("o", "n", "assistant", text("x"), at=12)
    )
    opened = openings(events)["t"]
    assert (opened.kind, opened.parent) == (SessionKind.FORK, Ref("d/0", "s"))
    assert [step.source_id for step in steps(events)] == ["n", "o/usage", "o/0"]
    assert find(events, "o/usage").input is Input.HIDDEN
    assert losses(events) == {"repeated_message": 4}


def test_a_copied_session_with_nothing_new_is_still_opened() -> None:
    made = header(id="t", timestamp="2026-11-21T11:00:00.000Z", parentSession="/x/2026-11-21_s.jsonl")
    assert list(openings(fed(made, *TREE[1:3]))) == ["t"]


def test_other_entries_are_notes_beside_the_trail() -> None:
    events = fed(
        header(),
        said("a", None, "user", text("hi"), {"type": "image", "data": "cGlj", "mimeType": "image/png"}),
        entry("b", "a", "session_info", name="A name"),
        entry("c", "b", "label", targetId="a", label="good"),
        entry("d", "c", "custom", customType="state", data={"x": 1}),
        entry("e", "d", "custom_message", customType="hint", content="be quick"),
        entry("f", "e", "branch_summary", fromId="z", summary="the other branch"),
        said("g", "f", "bashExecution", command="ls", output="a", exitCode=0),
        entry("h", "g", "thinking_level_change", thinkingLevel="high"),
        entry("i", "h", "prophecy"),
        said("j", "i", "oracle", text("?")),
    )
    assert find(events, "a").raw == {"content.part_0": b"pic"}
    assert find(events, "b").values == {"content.title": "A name"}
    assert find(events, "e").after == (Ref("a"),)
    assert [step.meta.get("origin") for step in steps(events) if step.type == "user"] == [
        None,
        "injected",
        "summary",
        "command",
    ]
    assert losses(events) == {"unknown_prophecy": 1, "unknown_oracle": 1}


def test_an_entry_that_stands_twice_is_recorded_once() -> None:
    assert losses(fed(*TREE, TREE[1])) == {"duplicate_line": 1}


def test_a_session_is_known_by_its_first_line() -> None:
    head = RECORDING.read_bytes()[:4096]
    assert pi.recognises("/tmp/a.jsonl", head)
    assert not pi.recognises("/tmp/a.json", head)
    assert not pi.recognises("/tmp/a.jsonl", b'{"type":"session_start"}\n')


@pytest.mark.skipif(not PUBLIC.is_file(), reason="the public samples are not beside this checkout")
def test_the_public_sample_is_read_whole(read_events: ReadEvents) -> None:
    events = read_events(pi, PUBLIC)
    assert [step.type for step in steps(events)] == ["user", "model_call", "assistant", "tool_call", "tool_result"]
    assert losses(events) == {}


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_a_damaged_line_takes_no_other_with_it(data: st.DataObject) -> None:
    lines = list(TREE)
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place] = spoilt(lines[place], data)
    events = fed(*lines)
    assert events == fed(*lines)
    texts = [step.values.get("content.text") for step in steps(events)]
    expected = {1: "do it", 4: "done", 5: "another way", 7: "go on", 8: "back there"}
    repeated = losses(events)["duplicate_line"]
    assert sum(words not in texts for at, words in expected.items() if at != place) <= repeated


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(JSON.map(lambda value: json.dumps(value).encode()) | st.just(b'{"type":'), max_size=5))
def test_each_line_of_anything_gives_an_event(lines: list[bytes]) -> None:
    assert len(events_of_lines(pi, lines)) >= len(lines)

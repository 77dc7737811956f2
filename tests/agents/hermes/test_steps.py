from __future__ import annotations

import base64
import json

from tallystick.model.step import Ref
from tests.agents.hermes_rows import Row, asked, fed, find, losses, said, session, steps
from tests.support.cases import each
from tests.support.shown import shown


def test_structured_content_loses_its_pictures_to_raw_values() -> None:
    picture = b"\x89PNG picture"
    url = "data:image/png;base64," + base64.b64encode(picture).decode()
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]
    step = find(fed([session("s"), said(1, "s", "user", "\0json:" + json.dumps(parts))]), "m1")
    assert step.values["content.text"] == "What is this?"
    assert shown(step.values["content.parts"])[1] == {"type": "image", "mime": "image/png", "part": "content.part_0"}
    assert step.raw == {"content.part_0": picture}


@each(
    "content, row, success, error",
    [
        ('{"exit_code": 0, "error": null}', {}, True, None),
        ('{"exit_code": 2, "output": "no"}', {}, False, None),
        ('{"error": "not allowed"}', {}, False, "not allowed"),
        ('{"success": false, "error": "no such file"}', {}, False, "no such file"),
        ('{"success": true}', {}, True, None),
        ("refused", {"effect_disposition": "none"}, False, None),
        ("plain words", {}, None, None),
        ('{"bytes_written": 3}', {"effect_disposition": "unknown"}, None, None),
    ],
)
def test_a_result_says_whether_it_succeeded(content: str, row: Row, success: bool | None, error: str | None) -> None:
    result = said(2, "s", "tool", content, tool_call_id="c", tool_name="terminal", **row)
    step = find(fed([session("s"), result]), "c/result")
    assert step.meta.get("success") is success
    assert step.values.get("content.error") == error
    assert step.meta.get("effect") == row.get("effect_disposition")


def test_thinking_comes_before_text_and_calls() -> None:
    table, row = asked(1, "s", ("c", "terminal", {"command": "ls"}), reasoning="Where is it?")
    events = fed([session("s"), (table, {**row, "content": "I will look."})])
    assert [step.source_id for step in steps(events)] == ["m1/usage", "m1/0", "m1/1", "c"]
    assert find(events, "m1/0").values == {"content.thinking": "Where is it?"}


def test_encoded_reasoning_is_counted_as_lost() -> None:
    events = fed([session("s"), said(1, "s", "assistant", "x", reasoning_details="[1]", codex_reasoning_items="[2]")])
    assert losses(events) == {"reasoning_details": 1, "codex_reasoning_items": 1}


def test_a_call_id_that_comes_again_is_another_call() -> None:
    events = fed(
        [
            session("s"),
            asked(1, "s", ("call_0", "terminal", {"command": "ls"})),
            said(2, "s", "tool", "a", tool_call_id="call_0"),
            asked(3, "s", ("call_0", "terminal", {"command": "pwd"})),
            said(4, "s", "tool", "b", tool_call_id="call_0"),
        ]
    )
    assert find(events, "call_0@m3").values["content.args"] == {"command": "pwd"}
    assert find(events, "call_0@m3/result").values["content.output"] == "b"


def test_parallel_results_follow_one_another_and_their_calls() -> None:
    events = fed(
        [
            session("s"),
            asked(1, "s", ("a", "terminal", {}), ("b", "terminal", {})),
            said(2, "s", "tool", "1", tool_call_id="a"),
            said(3, "s", "tool", "2", tool_call_id="b"),
        ]
    )
    assert find(events, "a/result").after == (Ref("b"), Ref("a"))
    assert find(events, "b/result").after == (Ref("a/result"), Ref("b"))


@each(
    "content, surface, row, origin",
    [
        ("please", "cli", {}, None),
        ("[System: Continue now.]", "cli", {}, "injected"),
        ("[System note: a new day.]\n\nplease go on", "telegram", {}, None),
        ("[IMPORTANT: Background process p1 finished]", "cli", {}, "notification"),
        ("nightly report", "cron", {}, "injected"),
        ("chatter of others", "telegram", {"observed": 1}, "injected"),
    ],
)
def test_prompts_that_no_human_gave_are_marked(content: str, surface: str, row: Row, origin: str | None) -> None:
    step = find(fed([session("s", source=surface), said(1, "s", "user", content, **row)]), "m1")
    assert step.meta.get("origin") == origin
    assert step.opens_request is (origin is None)


def test_arguments_that_are_no_json_stay_text() -> None:
    calls = [{"id": "c", "function": {"name": "x", "arguments": "{half"}}, "not a call", {"name": "y", "arguments": {}}]
    events = fed([session("s"), said(1, "s", "assistant", None, tool_calls=json.dumps(calls))])
    assert find(events, "c").values["content.args"] == "{half"
    assert find(events, "m1/1").values["content.args"] == "not a call"
    assert find(events, "m1/2").meta["tool"] == "y"


def test_calls_that_cannot_be_read_are_reported() -> None:
    events = fed([session("s"), said(1, "s", "assistant", "x", tool_calls="[{")])
    assert losses(events) == {"bad_json": 1}
    assert [step.source_id for step in steps(events)] == ["m1/usage", "m1/0"]

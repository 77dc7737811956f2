from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents.gptme import transcript as gptme
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, Step
from tests.agents.conftest import ReadEvents, events_of_lines
from tests.agents.mutations import lines_of, losses_of, mutated, pieces_of, steps_of, types_of
from tests.support.laws import examples
from tests.support.shown import shown

LOGS = Path(__file__).parents[2] / "recordings" / "gptme" / "0.35.1" / ".local" / "share" / "gptme" / "logs"
RECEIPTS = LOGS / "receipts-currency" / "conversation.jsonl"
DEMO = LOGS / "demo" / "conversation.jsonl"
WHEN = "2026-11-21T22:36:15.370898"


def said(role: str, content: Json, **members: Json) -> bytes:
    return json.dumps({"role": role, "content": content, "timestamp": WHEN, **members}).encode()


def read(*lines: bytes, companions: dict[str, bytes] | None = None) -> list[Event]:
    return events_of_lines(gptme, lines, "/home/dev/.local/share/gptme/logs/talk/conversation.jsonl", companions)


def outline(events: Sequence[Event]) -> list[tuple[str, str | None]]:
    return [(step.type, step.source_id) for step in steps_of(events)]


# Recorded conversations ----------------------------------------------------------------------------------------------


def test_a_recorded_conversation_gives_each_call_its_result(read_events: ReadEvents) -> None:
    events = read_events(gptme, RECEIPTS)
    assert losses_of(events) == {}
    assert types_of(events) == {
        "system": 2,
        "user": 1,
        "model_call": 8,
        "assistant": 4,
        "tool_call": 8,
        "tool_result": 8,
    }
    calls = {step.source_id: step for step in steps_of(events, "tool_call")}
    results = steps_of(events, "tool_result")
    assert [f"{call}/result" for call in calls] == [result.source_id for result in results]
    assert [(call.meta["tool"], call.meta["syntax"]) for call in calls.values()] == [
        ("shell", "markdown"),
        ("shell", "native"),
        ("save", "native"),
        ("patch", "markdown"),
        ("patch", "native"),
        ("patch", "native"),
        ("shell", "native"),
        ("complete", "native"),
    ]
    assert [result.meta.get("pairing") for result in results] == ["inferred", *[None] * 2, "inferred", *[None] * 4]
    assert [result.meta["success"] for result in results] == [False, True, True, True, False, True, True, True]
    assert [result.meta.get("exit_code") for result in results] == [1, 0, None, None, None, None, 0, None]
    assert shown(results[4].values["content.output"]).startswith("Error during execution: Patch failed")


def test_markdown_and_native_calls_have_their_arguments_under_the_same_names(read_events: ReadEvents) -> None:
    calls = steps_of(read_events(gptme, RECEIPTS), "tool_call")
    assert calls[0].values["content.args"] == {"command": "grep -rn EUR receipts"}
    assert calls[1].values["content.args"] == {"command": "cat receipts/render.py"}
    assert [sorted(shown(call.values["content.args"])) for call in calls[3:6]] == [["patch", "path"]] * 3
    assert shown(calls[3].values["content.args"])["patch"].startswith("<<<<<<< ORIGINAL\n    rows.append")


def test_the_session_is_the_folder_and_its_settings_say_where_it_ran(read_events: ReadEvents) -> None:
    opening = read_events(gptme, RECEIPTS)[0]
    assert isinstance(opening, Opening)
    assert opening.session == "receipts-currency"
    assert opening.ts == WHEN  # naive: the recorder assumes its zone
    assert opening.meta == {"model": "openai/gpt-4o-mini", "tool_format": "tool"}
    assert opening.values == {"content.title": "receipts-currency", "personal.cwd": "~/project"}


def test_a_model_call_has_tokens_cost_and_time_and_stands_before_what_it_said(read_events: ReadEvents) -> None:
    steps = steps_of(read_events(gptme, RECEIPTS))
    call = next(step for step in steps if step.type == "model_call")
    assert call.source_id == "#3/usage"
    assert call.meta["tokens"] == {"input": 412, "output": 38, "cache_read": 0, "reasoning": 0}
    assert call.meta["cost_microusd"] == 85
    assert call.meta["cost"] == 8.46e-05
    assert call.meta["duration_ms"] == 1531
    assert call.input is Input.PATH
    assert [step.source_id for step in steps[3:7]] == ["#3/usage", "#3/0", "#3/1", "#3/1/result"]
    assert steps[6].meta["duration_ms"] == 536
    assert steps[6].after == (Ref("#3/1"),)


@pytest.mark.parametrize(("path", "replies"), [(RECEIPTS, 8), (DEMO, 6)], ids=["receipts", "demo"])
def test_every_reply_agrees_with_the_digest_of_its_input(read_events: ReadEvents, path: Path, replies: int) -> None:
    calls = steps_of(read_events(gptme, path), "model_call")
    assert [call.meta["input_log_match"] for call in calls] == [True] * replies
    assert len(shown(calls[0].values["content.meta"])["input_log_digest"]) == 64
    assert not any("input_log_digest" in call.meta for call in calls)


def test_a_changed_message_shows_in_every_later_reply() -> None:
    lines = lines_of(RECEIPTS)
    lines[6] = lines[6].replace(b"subtotal", b"Subtotal")
    calls = steps_of(events_of_lines(gptme, lines), "model_call")
    assert [call.meta["input_log_match"] for call in calls] == [True, True] + [False] * 6


def test_a_removed_message_shows_in_every_later_reply() -> None:
    lines = lines_of(RECEIPTS)
    del lines[1]
    calls = steps_of(events_of_lines(gptme, lines), "model_call")
    assert {call.meta["input_log_match"] for call in calls} == {False}


def test_times_and_flags_are_outside_the_digest() -> None:
    lines = [line.replace(b"22:36:1", b"21:36:1").replace(b', "hide": true', b"") for line in lines_of(RECEIPTS)]
    calls = steps_of(events_of_lines(gptme, lines), "model_call")
    assert {call.meta["input_log_match"] for call in calls} == {True}


# Prompts, notes and results ------------------------------------------------------------------------------------------


def test_only_prompts_that_a_human_gave_open_requests() -> None:
    events = read(
        said("user", "fix it"),
        said("assistant", "Done."),
        said("user", "<system>No tool call detected in last message. Did you mean to finish?</system>"),
    )
    typed, _, automatic = steps_of(events)
    assert (typed.opens_request, typed.meta) == (True, {})
    assert (automatic.opens_request, automatic.meta) == (False, {"origin": "injected"})


@pytest.mark.parametrize(
    ("note", "flags"),
    [
        ("<system_warning>Token usage: 1/2; 1 remaining</system_warning>", {}),
        ("<budget:token_budget>9</budget:token_budget>", {}),
        ("# Relevant Lessons\n\nBe brief.", {}),
        ("⚠️ [anomaly_watchdog] Anomaly detected:", {}),
        ("✅ Subagent 'a' completed: yes", {}),
        ("Interrupted by user", {}),
        ("Looks like any output", {"hide": True}),
        ("Looks like any output", {"pinned": True}),
    ],
)
def test_a_note_between_a_call_and_its_result_is_not_taken_for_the_result(note: str, flags: dict[str, Json]) -> None:
    events = read(
        said("assistant", "```shell\nls\n```\n"), said("system", note, **flags), said("system", "Ran command: `ls`\n")
    )
    assert [step.type for step in steps_of(events)] == ["tool_call", "system", "tool_result"]
    result = steps_of(events)[-1]
    assert result.after == (Ref("#1"), Ref("#0/0"))
    assert result.meta["corr"] == "#0/0"


def test_results_without_ids_are_paired_by_position_and_by_tool_where_it_is_said() -> None:
    two = "```shell\nls\n```\n\nand\n\n```save a.txt\nhi\n```\n"
    by_place = read(said("assistant", two), said("system", "Ran command: `ls`"), said("system", "Saved to a.txt"))
    by_tool = read(
        said("assistant", two),
        said("system", "Saved to a.txt", metadata={"tool": "save"}),
        said("system", "Ran command: `ls`"),
    )
    for events in (by_place, by_tool):
        pairs = {step.values["content.output"]: step.meta["corr"] for step in steps_of(events, "tool_result")}
        assert pairs == {"Ran command: `ls`": "#0/0", "Saved to a.txt": "#0/2"}


def test_a_system_message_without_an_open_call_is_no_result() -> None:
    events = read(said("assistant", "@shell(c1): {}"), said("system", "progress"), said("system", "ok", call_id="c1"))
    assert outline(events) == [("tool_call", "c1"), ("system", "#1"), ("tool_result", "c1/result")]


def test_a_call_of_an_earlier_turn_gets_no_result_of_a_later_one() -> None:
    events = read(said("assistant", "```shell\nls\n```\n"), said("user", "stop"), said("system", "some output"))
    assert [step.type for step in steps_of(events)] == ["tool_call", "user", "system"]


def test_an_id_that_a_model_uses_twice_names_two_calls() -> None:
    events = read(
        *[said("assistant", '@shell(call_1): {"command": "a"}'), said("system", "Ran command: `a`", call_id="call_1")],
        *[said("assistant", '@shell(call_1): {"command": "b"}'), said("system", "Ran command: `b`", call_id="call_1")],
    )
    assert [step.source_id for step in steps_of(events)] == ["call_1", "call_1/result", "#2/0", "#2/0/result"]
    assert {step.meta["corr"] for step in steps_of(events)} == {"call_1"}


def test_a_second_result_of_a_call_does_not_replace_the_first() -> None:
    events = read(
        said("assistant", "@gh(c): {}"),
        said("system", "one", call_id="c"),
        said("system", "two", call_id="c"),
    )
    assert [step.source_id for step in steps_of(events, "tool_result")] == ["c/result", "c/result~2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ran command: `x`\n\nReturn code: 3\n", {"success": False, "exit_code": 3}),
        ("Ran command: `x`\n\nReturn code: 3 was expected\n", {"success": True, "exit_code": 0}),
        ("Ran allowlisted command: `x`\n", {"success": True, "exit_code": 0}),
        ("Command timed out (after 5s): `x`\n", {"success": False}),
        ("Error during execution: no", {"success": False}),
        ("Executed code block.\n\nException during execution on line 2:\n  ValueError: x", {"success": False}),
        ("Executed code block.\n\n", {"success": True}),
        ("something that another tool says", {}),
    ],
)
def test_the_outcome_is_what_the_text_says(text: str, expected: dict[str, Any]) -> None:
    [result] = steps_of(read(said("assistant", "@t(c): {}"), said("system", text, call_id="c")), "tool_result")
    assert {key: result.meta[key] for key in ("success", "exit_code") if key in result.meta} == expected


def test_a_request_that_failed_is_a_warning() -> None:
    events = read(said("user", "hi"), said("system", "LLM request failed: 503"))
    assert outline(events) == [("user", "#0"), ("warning", "#1")]


# Replies -------------------------------------------------------------------------------------------------------------


def test_a_call_follows_from_the_messages_that_it_was_given_and_from_no_more() -> None:
    lines = [
        said("user", "one"),
        said("user", "two"),
        said("assistant", "ok", metadata={"model": "m", "input_log_messages": 1, "input_log_digest": "0" * 64}),
    ]
    call = steps_of(read(*lines), "model_call")[0]
    assert call.after == (Ref("#0"),)
    assert call.meta["input_log_match"] is False


def test_thinking_text_and_calls_keep_their_order() -> None:
    events = read(said("assistant", "<think>\nhm\n</think>\nFirst.\n@shell(c): {}\nLast."))
    assert [(step.type, sorted(step.values)) for step in steps_of(events)] == [
        ("assistant", ["content.thinking"]),
        ("assistant", ["content.text"]),
        ("tool_call", ["content.args"]),
        ("assistant", ["content.text"]),
    ]


def test_files_and_unknown_members_are_kept_apart_from_meta() -> None:
    line = said("user", "see", files=["/home/dev/a.png"], file_hashes={"/home/dev/a.png": "ab"}, mood="good")
    [step] = steps_of(read(line))
    assert step.meta == {}
    assert step.values == {
        "content.text": "see",
        "content.paths": ["/home/dev/a.png"],
        "content.file_hashes": {"/home/dev/a.png": "ab"},
        "content.extra": {"mood": "good"},
    }


def test_a_reply_without_usage_keeps_what_else_is_known_of_it() -> None:
    [step] = steps_of(read(said("assistant", "hi", pinned=True, metadata={"timings": {"gen_ms": 1.5}})))
    assert (step.type, step.source_id, step.meta) == ("assistant", "#0/0", {"pinned": True})
    assert step.values["content.extra"] == {"metadata": {"timings": {"gen_ms": 1.5}}}


def test_settings_that_are_no_settings_are_ignored_and_the_environment_is_never_read() -> None:
    config = b'[chat]\nmodel = "m"\n[env]\nTOKEN = "secret"\n'
    for data in (config, b"\xff\xfe", b"[chat", b"chat = 3"):
        opening = read(said("user", "hi"), companions={"config.toml": data})[0]
        assert isinstance(opening, Opening)
        assert "secret" not in str(opening)
        assert opening.meta == ({"model": "m"} if data is config else {})


# Damage --------------------------------------------------------------------------------------------------------------


def test_lines_that_are_no_messages_are_counted_and_keep_their_place() -> None:
    events = read(b'{"role": "user", "con', b"[1]", said("tool", "x"), said("user", "hi"))
    assert losses_of(events) == {"bad_line": 1, "unknown_line": 1, "unknown_tool": 1}
    assert [loss.fault for loss in events if isinstance(loss, Loss)] == [True, False, False]
    assert outline(events) == [("user", "#3")]


def test_conversations_are_recognised_by_what_they_hold() -> None:
    head = RECEIPTS.read_bytes()[:65536]
    assert gptme.recognises("/x/logs/a/conversation.jsonl", head)
    assert gptme.recognises("/x/renamed.jsonl", head)
    assert not gptme.recognises("/x/logs/a/conversation.jsonl", b'{"type": "user"}\n')
    assert not gptme.recognises("/x/events.jsonl", (LOGS / "demo" / "events.jsonl").read_bytes()[:65536])


@settings(max_examples=examples(60), deadline=None)
@given(mutated(lines_of(DEMO)), st.booleans())
def test_no_damage_raises_and_no_line_is_silent(lines: list[bytes], has_config: bool) -> None:
    fed = [line.strip() for line in lines if line.strip()]
    pieces = pieces_of(gptme, fed, "/x/logs/a/conversation.jsonl")
    assert all(pieces[:-1])
    assert pieces == pieces_of(gptme, fed, "/x/logs/a/conversation.jsonl")
    names = [event.source_id for piece in pieces for event in piece if isinstance(event, Step)]
    assert len(names) == len(set(names))


@given(st.integers(1, 18))
def test_a_longer_log_begins_with_the_events_of_a_shorter_one(count: int) -> None:
    lines = lines_of(RECEIPTS)
    whole, part = events_of_lines(gptme, lines), events_of_lines(gptme, lines[:count])
    assert whole[: len(part)] == part

from __future__ import annotations

import base64

from tallystick.model.request import opened_kind
from tests.agents.claude_lines import (
    Line,
    assistant,
    call,
    ids,
    one,
    read,
    result,
    said,
    user,
)
from tests.agents.mutations import losses_of, steps_of, types_of
from tests.support.cases import each
from tests.support.shown import shown

PIXEL = b"\x89PNG\r\n\x1a\nnot really"
PIXEL_TEXT = base64.b64encode(PIXEL).decode()


@each(
    "content, members, origin",
    [
        ("Fix the bug", {}, None),
        ("Fix the bug", {"origin": {"kind": "human"}, "promptSource": "typed", "turnOrigin": "user"}, None),
        ("Base directory for this skill: /x", {"isMeta": True}, "injected"),
        ("<command-name>/compact</command-name>", {}, "command"),
        ("<local-command-stdout>Compacted</local-command-stdout>", {}, "command"),
        ("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", {}, "command"),
        ("<task-notification>\n<task-id>b1</task-id>", {}, "notification"),
        ("It is done", {"origin": {"kind": "task-notification"}}, "notification"),
        ("hello from next door", {"turnOrigin": "peer"}, "notification"),
        ("continue", {"promptSource": "system"}, "injected"),
        ("[Request interrupted by user for tool use]", {}, "injected"),
        ("This session is being continued from a previous conversation that ran out of context.", {}, "summary"),
        ("Please look", {"isVisibleInTranscriptOnly": True}, "injected"),
    ],
)
def test_a_prompt_says_where_it_comes_from(content: str, members: Line, origin: str | None) -> None:
    step = one(read(user("u", None, content, **members)), "u")
    assert step.type == "user"
    assert step.meta.get("origin") == origin
    assert step.opens_request is (origin is None)
    assert step.values == {"content.text": content}


def test_a_prompt_keeps_its_pictures() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL_TEXT}}
    broken = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "###"}}
    step = one(read(user("u", None, [{"type": "text", "text": "see"}, picture, picture, broken])), "u")
    shown = {"type": "image", "media_type": "image/png", "part": "content.part_0"}
    assert step.raw == {"content.part_0": PIXEL}
    assert step.values["content.text"] == "see"
    assert step.values["content.blocks"] == [{"type": "text", "text": "see"}, shown, shown, broken]


def test_a_step_has_no_more_parts_than_fit() -> None:
    pictures = [
        {"type": "image", "source": {"type": "base64", "data": base64.b64encode(bytes([n])).decode()}}
        for n in range(40)
    ]
    step = one(read(user("u", None, pictures)), "u")
    assert len(step.raw) + len(step.values) <= 30
    assert shown(step.values["content.blocks"])[39] == pictures[39]


def test_a_prompt_that_was_queued_is_a_prompt() -> None:
    typed = {"type": "queued_command", "prompt": "and the tests", "commandMode": "prompt"}
    note = {"type": "queued_command", "prompt": "<task-notification>", "commandMode": "task-notification"}
    events = read(
        assistant("a", None, call("c1")),
        result("r", "a", "c1"),
        said("attachment", "q", "r", attachment=typed),
        said("attachment", "n", "q", attachment=note),
        assistant("b", "n", "yes", of="m2"),
    )
    assert [one(events, uuid).opens_request for uuid in ("q", "n")] == [True, False]
    assert one(events, "n").meta["origin"] == "notification"
    assert ids(events) == ["m1/usage", "c1", "c1/result", "q", "n", "m2/usage", "b"]


def test_a_prompt_says_that_the_folder_changed() -> None:
    events = read(
        user("u", None, "one", cwd="/a", gitBranch="main"),
        user("v", "u", "two", cwd="/a", gitBranch="main"),
        user("w", "v", "three", cwd="/a", gitBranch="topic"),
    )
    assert [step.values.get("content.branch") for step in steps_of(events)] == [None, None, "topic"]
    assert "personal.cwd" not in one(events, "w").values


def test_the_signature_of_a_thought_is_left_out_and_counted() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
    hidden = {"type": "redacted_thinking", "data": "b3BhcXVl"}
    events = read(assistant("a", None, thought), assistant("b", "a", hidden, thinkingDurationMs=3))
    assert one(events, "a").values == {"content.thinking": "hm"}
    assert (one(events, "b").values, one(events, "b").meta) == ({}, {"redacted": True, "duration_ms": 3})
    assert losses_of(events) == {"thinking_signature": 2}


def test_an_error_of_the_api_is_a_warning_and_no_answer() -> None:
    failed = assistant("e", "u", "API Error: 529 Overloaded", isApiErrorMessage=True, error="server_error")
    failed |= {"apiErrorStatus": 529}
    failed["message"]["model"] = "<synthetic>"
    retried = said("system", "x", "u", subtype="api_error", level="error", error={"status": 529}, retryInMs=500)
    events = read(user("u", None, "hi"), retried, failed)
    assert types_of(events) == {"user": 1, "warning": 2}
    assert one(events, "x").values == {"content.error": {"status": 529}, "content.details": {"retryInMs": 500}}
    assert one(events, "e").values == {"content.error": "API Error: 529 Overloaded"}
    assert one(events, "e").meta == {"error": "server_error", "status": 529, "synthetic": True}


def test_attachments_say_what_the_model_was_shown() -> None:
    shown = "Contents of a file that is long enough to quote"
    line = said(
        "attachment",
        "t",
        None,
        attachment={"type": "nested_memory", "path": "/a", "content": shown, "empty": []},
        rendered=[{"content": f"<reminder>{shown}</reminder>"}],
    )
    step = one(read(line), "t")
    assert step.type == "system"
    assert step.meta == {"subtype": "nested_memory", "origin": "attachment"}
    assert step.values == {"content.text": f"<reminder>{shown}</reminder>", "content.attachment": {"path": "/a"}}


@each(
    "content, members, kind",
    [
        ("Fix the bug", {}, "prompt"),
        ("<command-message>review</command-message>\n<command-name>/review</command-name>", {}, "command"),
        ("<command-name>/model</command-name>\n<command-message>model</command-message>", {}, None),
        ("Implement the following plan:\n\n# Faster tests", {}, "plan"),
        ('<teammate-message teammate_id="team-lead">\nWrite the tests.\n</teammate-message>', {}, "task"),
        ('<teammate-message teammate_id="tester">\nDone.\n</teammate-message>', {}, None),
        ("Stop hook feedback:\n- run the tests", {"isMeta": True}, "hook"),
        ("<task-notification>\n<task-id>b1</task-id>", {}, None),
        ("This session is being continued from a previous conversation.", {"isCompactSummary": True}, None),
    ],
)
def test_a_request_is_of_its_kind(content: str, members: Line, kind: str | None) -> None:
    step = one(read(user("u", None, content, **members)), "u")
    assert opened_kind(step.type, step.meta) == kind
    assert step.opens_request is (kind is not None)


def test_words_beside_a_result_are_a_prompt_that_was_typed_while_the_tool_ran() -> None:
    block = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    beside = {"type": "text", "text": "and test it"}
    events = read(user("u1", None, "go"), assistant("a1", "u1", call("c1")), user("u2", "a1", [block, beside]))
    step = one(events, "u2/1")
    assert (step.values["content.text"], opened_kind(step.type, step.meta)) == ("and test it", "queued")


def test_what_a_person_says_in_a_result_is_a_request_after_it() -> None:
    refused = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nUse B."
    answer = result("u2", "a1", "c1", refused, is_error=True)
    step = one(read(user("u1", None, "go"), assistant("a1", "u1", call("c1")), answer), "c1/answer")
    assert (step.values["content.text"], opened_kind(step.type, step.meta)) == ("Use B.", "answer")
    assert step.opens_request


def queue(operation: str, text: str | None = None) -> Line:
    line: Line = {"type": "queue-operation", "operation": operation, "timestamp": "2026-01-01T00:00:00Z"}
    return {**line, "sessionId": "s", **({} if text is None else {"content": text})}


def test_a_prompt_that_leaves_the_queue_while_claude_works_is_given_before_the_next_message() -> None:
    steps = steps_of(
        read(
            user("u1", None, "go"),
            assistant("a1", "u1", call("c1")),
            queue("enqueue", "also the docs"),
            result("u2", "a1", "c1"),
            queue("remove"),
            assistant("a3", "a1", "Looking."),
            assistant("a2", "u2", "Sure.", of="m2"),
        )
    )
    texts = [step.values.get("content.text") for step in steps if step.type in ("user", "assistant")]
    assert texts == ["go", "Looking.", "also the docs", "Sure."]
    (queued,) = [step for step in steps if step.values.get("content.text") == "also the docs"]
    assert opened_kind(queued.type, queued.meta) == "queued"
    assert queued.opens_request


@each("operation", ["dequeue", "popAll"])
def test_a_prompt_that_leaves_the_queue_otherwise_is_said_in_a_line_of_its_own(operation: str) -> None:
    events = read(user("u1", None, "go"), queue("enqueue", "later"), queue(operation), assistant("a1", "u1", "Sure."))
    assert [step.source_id for step in steps_of(events) if step.type == "user"] == ["u1"]


@each("is_shown_first", [True, False])
def test_a_prompt_that_an_attachment_shows_is_recorded_once(is_shown_first: bool) -> None:
    attachment = {"type": "queued_command", "prompt": "also the docs", "commandMode": "prompt"}
    shows = said("attachment", "t1", "u1", attachment=attachment)
    leaves = [shows, queue("remove")] if is_shown_first else [queue("remove"), shows]
    events = read(user("u1", None, "go"), queue("enqueue", "also the docs"), *leaves, assistant("a1", "t1", "Sure."))
    assert [step.source_id for step in steps_of(events) if step.type == "user"] == ["u1", "t1"]


def test_news_of_a_task_that_leaves_the_queue_is_no_prompt() -> None:
    news = '{"task_id":"b1","description":"tests","status":"completed"}'
    events = read(user("u1", None, "go"), queue("enqueue", news), queue("remove"), assistant("a1", "u1", "Sure."))
    (told,) = [step for step in steps_of(events) if step.values.get("content.text") == news]
    assert (told.meta["origin"], told.opens_request) == ("notification", False)

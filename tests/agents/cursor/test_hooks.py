"""Cursor was not run: these payloads are written after its documentation."""

from __future__ import annotations

import json
from typing import Any

from tallystick.agents.cursor import hooks as cursor
from tallystick.agents.hooks import HookCommand, Payload
from tallystick.model.step import Ref, Step
from tests.agents.hooks.recorded import ASK, DENY, steps

_HOOK = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py")
_COMMON = {"conversation_id": "c1", "generation_id": "g1", "model": "m", "workspace_roots": ["/home/dev/project"]}


def _parsed(event: str, **members: Any) -> Payload:
    return cursor.parse(json.dumps({**_COMMON, "hook_event_name": event, **members}).encode(), None)


def _step(event: str, **members: Any) -> Step:
    (step,) = steps([_parsed(event, **members)])
    return step


def test_the_file_begins_with_its_version() -> None:
    (file,) = cursor.settings(project=False)
    content = json.loads(cursor.configure(file, b"", _HOOK))
    assert list(content) == ["version", "hooks"]
    assert tuple(content["hooks"]) == cursor.EVENTS
    assert content["hooks"]["stop"][0]["command"].endswith("/hook.py cursor")


def test_a_call_and_its_result_are_joined_by_id() -> None:
    payload = _parsed(
        "preToolUse", tool_name="Shell", tool_input={"command": "ls"}, tool_use_id="t1", cwd="/home/dev/x"
    )
    assert payload.asks is not None
    assert (payload.asks.tool, payload.asks.call_id, payload.asks.cwd) == ("Shell", "t1", "/home/dev/x")
    result = _step("postToolUse", tool_name="Shell", tool_use_id="t1", tool_output='{"exitCode":0}', duration=12)
    assert (result.source_id, result.after) == ("t1/result", (Ref("t1"),))
    assert result.values["content.output"] == {"exitCode": 0}
    assert (result.meta["success"], result.meta["duration_ms"]) == (True, 12)


def test_a_failure_says_why() -> None:
    result = _step("postToolUseFailure", tool_name="Shell", tool_use_id="t1", error_message="no")
    assert (result.meta["success"], result.values["content.error"]) == (False, "no")


def test_a_prompt_opens_a_request() -> None:
    prompt = _step("beforeSubmitPrompt", prompt="do it", attachments=[])
    assert (prompt.type, prompt.opens_request, prompt.meta["run"]) == ("user", True, "g1")


def test_a_sub_agent_starts_with_its_task_and_ends_with_its_summary() -> None:
    named = {"subagent_id": "a1", "subagent_type": "explore"}
    start = _step("subagentStart", task="look around", **named)
    end = _step("subagentStop", summary="it is there", status="completed", **named)
    assert (start.type, start.source_id, start.values) == (
        "subagent_start",
        "hook/a1/start",
        {"content.text": "look around"},
    )
    assert (end.type, end.source_id, end.values) == ("subagent_end", "hook/a1/end", {"content.text": "it is there"})
    assert (start.meta["child"], end.meta["child"]) == ("a1", "a1")
    assert ("status" in start.meta, end.meta["status"]) == (False, "completed")


def test_the_session_is_the_conversation() -> None:
    payload = _parsed("sessionEnd", reason="completed", user_email="a@example.org")
    assert (payload.session, payload.ends) == ("c1", True)
    assert "example.org" not in repr(payload)


def test_a_refusal_is_said_in_two_ways() -> None:
    payload = _parsed("preToolUse", tool_name="Shell", tool_input={}, tool_use_id="t1")
    reply = cursor.reply(payload, DENY)
    assert reply.exit_code == 2
    assert json.loads(reply.stdout)["permission"] == "deny"
    assert json.loads(cursor.reply(payload, ASK).stdout)["permission"] == "deny"

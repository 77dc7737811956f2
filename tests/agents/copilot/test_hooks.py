from __future__ import annotations

import json

from tallystick.agents.copilot import hooks as copilot
from tallystick.agents.hooks import HookCommand
from tallystick.model.step import Ref, SessionKind
from tests.agents.hooks.recorded import ASK, DENY, openings, payloads, steps

_BASIC = "headless basic, both naming styles"
_HOOK = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py")


def test_the_events_name_stands_on_the_command_line() -> None:
    (file,) = copilot.settings(project=False)
    hooks = json.loads(copilot.configure(file, b"", _HOOK))["hooks"]
    assert tuple(hooks) == copilot.EVENTS
    for event, (handler,) in hooks.items():
        assert handler["bash"].endswith(f"/hook.py copilot {event}")
        assert (handler["type"], handler["timeoutSec"]) == ("command", 10)


def test_a_repository_gets_a_file_of_ours() -> None:
    (file,) = copilot.settings(project=True)
    content = copilot.configure(file, b"", _HOOK)
    assert json.loads(content)["version"] == 1
    assert (file.ours, copilot.remove(file, content)) == (True, b"")


def test_calls_are_told_as_the_log_tells_them() -> None:
    found = payloads(copilot, _BASIC)
    assert [step.meta["tool"] for step in steps(found, "tool_call")] == ["bash", "create"]
    call, result = steps(found, "tool_call")[0], steps(found, "tool_result")[0]
    assert call.ts == "2026-11-21T20:44:20.746000Z"
    assert (call.source_id, result.source_id) == (None, None)
    assert result.values["content.args"] == call.values["content.args"]
    assert result.values["content.output"] == "hi\n<shellId: 0 completed with exit code 0>"
    assert result.meta["success"] is True


def test_a_failure_is_told_with_its_words() -> None:
    (result,) = steps(payloads(copilot, "tool failures", "postToolUseFailure"))
    assert result.meta == {"tool": "view", "success": False}
    assert result.values["content.output"] == "Path does not exist"


def test_a_sub_agent_is_a_session_below_its_parents_whichever_id_an_event_gives() -> None:
    found = payloads(copilot, "subagent")
    root, agent = "06fcf783-9b50-4c76-b86b-a6f734135804", "a7b9dd49-5467-4dc2-87e7-ec316a90f4cd"
    children = [opening for opening in openings(found) if opening.kind is SessionKind.CHILD]
    assert {(each.session, each.parent) for each in children} == {(f"{root}/{agent}", Ref(session=root))}
    assert {step.session for step in steps(found, "tool_call")} == {root, f"{root}/{agent}"}
    assert {step.session for step in steps(found, "subagent_start") + steps(found, "subagent_end")} == {root}
    prompts = {step.session: step.opens_request for step in steps(found, "user")}
    assert prompts == {root: True, f"{root}/{agent}": False}


def test_only_the_main_agent_has_the_log() -> None:
    for payload in payloads(copilot, "subagent"):
        assert payload.transcript is None or "/" not in payload.session


def test_of_an_error_the_stack_stays_out() -> None:
    (step,) = steps(payloads(copilot, "API error 400", "errorOccurred"))
    assert "scripted bad request" in str(step.values["content.error"])
    assert "start_thread" not in json.dumps([dict(step.meta), dict(step.values)])


def test_copilot_obeys_this() -> None:
    (payload, *_) = payloads(copilot, _BASIC, "preToolUse")
    answer = {"permissionDecision": "deny", "permissionDecisionReason": DENY.reason}
    assert json.loads(copilot.reply(payload, DENY).stdout) == answer
    assert json.loads(copilot.reply(payload, ASK).stdout)["permissionDecision"] == "ask"

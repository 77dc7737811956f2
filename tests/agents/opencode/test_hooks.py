from __future__ import annotations

import json
from typing import Any

import pytest

from tallystick.agents.hooks import HookCommand
from tallystick.agents.opencode import hooks as opencode
from tallystick.errors import FormatError
from tallystick.model.step import Ref, SessionKind
from tests.agents.hooks.recorded import ASK, DENY, openings, payloads, recorded, steps
from tests.agents.hooks.same_run import assert_both_agree
from tests.support.cases import each

HOOK = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py")


def parsed(hook: str, input: dict[str, Any], **more: Any) -> Any:
    return opencode.parse(json.dumps({"hook": hook, "input": input, "at": 1, **more}).encode(), None)


def test_hooks_and_database_of_one_run_name_everything_alike() -> None:
    assert_both_agree(opencode, unseen=["forbidden.txt"])


def test_a_sub_agent_is_a_session_below_its_parents() -> None:
    found = payloads(opencode)
    root = found[0].session
    (child,) = {opening.session for opening in openings(found) if opening.kind is SessionKind.CHILD}
    first = next(opening for opening in openings(found) if opening.session == child)
    assert (first.parent, first.meta["agent_role"]) == (Ref(session=root), "general")
    assert {step.session for step in steps(found, "tool_call")} == {root, child}


def test_what_a_sub_agent_is_told_was_not_typed() -> None:
    typed, given = steps(payloads(opencode), "user")
    assert (typed.opens_request, typed.meta.get("origin")) == (True, None)
    assert (given.opens_request, given.meta["origin"]) == (False, "parent")
    assert {step.meta["model"] for step in (typed, given)} == {"fake-model"}


def test_a_failed_command_has_its_exit_code() -> None:
    codes = [(step.meta["success"], step.meta.get("exit_code")) for step in steps(payloads(opencode), "tool_result")]
    assert (False, 3) in codes
    assert (True, 0) in codes
    assert (True, None) in codes


def test_an_output_is_not_kept_twice() -> None:
    shell = steps(payloads(opencode), "tool_result")[0]
    assert shell.values["content.output"] == "hi\n"
    assert shell.values["content.result"] == {"exit": 0, "truncated": False}


def test_what_opencode_adds_to_a_prompt_is_left_out() -> None:
    parts = [{"type": "text", "text": "do it"}, {"type": "text", "text": "a reminder", "synthetic": True}]
    output = {"message": {"id": "msg_1"}, "parts": parts}
    (step,) = steps([parsed("chat.message", {"sessionID": "ses_1"}, output=output)])
    assert (step.source_id, step.values["content.text"]) == ("msg_1", "do it")


def test_a_question_and_its_answer_are_two_steps() -> None:
    tool = {"messageID": "msg_1", "callID": "call_1"}
    asked = {"id": "per_1", "sessionID": "ses_1", "permission": "bash", "patterns": ["cat *"], "tool": tool}
    replied = {"requestID": "per_1", "sessionID": "ses_1", "reply": "reject"}
    question, answer = steps([parsed("permission.asked", asked), parsed("permission.replied", replied)])
    assert (question.source_id, question.meta["decision"], question.meta["corr"]) == ("per_1", "ask", "call_1")
    assert (answer.source_id, answer.meta["decision"]) == ("per_1/reply", "reject")
    assert question.values == {"content.patterns": ["cat *"]}


def test_arguments_that_another_plugin_changed_are_those_of_the_call() -> None:
    given = {"sessionID": "ses_1", "tool": "bash", "callID": "c", "args": {"command": "first"}}
    payload = parsed("tool.execute.before", given, output={"args": {"command": "second"}})
    assert payload.asks.args == steps([payload])[0].values["content.args"] == {"command": "second"}


@each("input", [{}, {"sessionID": ""}, {"sessionID": 3}, {"info": {"id": None}}])
def test_an_event_of_no_session_is_refused(input: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="names no session"):
        parsed("session.error", input)


def test_opencode_obeys_this() -> None:
    asking = next(payload for payload in payloads(opencode) if payload.asks is not None)
    assert json.loads(opencode.reply(asking, DENY).stdout) == {"deny": DENY.reason}
    assert json.loads(opencode.reply(asking, ASK).stdout)["deny"].startswith(ASK.reason)


@each("project", [False, True])
def test_a_plugin_of_somebody_else_is_left_alone(project: bool) -> None:
    (file,) = opencode.settings(project=project)
    theirs = b"export const Mine = async () => ({})\n"
    with pytest.raises(FormatError, match=r"tallystick\.js is not ours"):
        opencode.configure(file, theirs, HOOK)
    assert opencode.remove(file, theirs) == theirs
    assert opencode.hooked(file, theirs) == ()


def test_every_event_that_the_plugin_subscribes_to_is_listed() -> None:
    text = opencode.configure(opencode.settings(project=False)[0], b"", HOOK).decode()
    assert all(f'"{event}"' in text for event in opencode.EVENTS)
    assert {each.event for each in recorded("opencode")} <= set(opencode.EVENTS)

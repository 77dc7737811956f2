from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tallystick.agents.hooks import HookCommand
from tallystick.agents.pi import hooks as pi
from tallystick.errors import FormatError
from tallystick.model.step import Ref
from tests.agents.hooks.recorded import ASK, DENY, openings, payloads, recorded, steps
from tests.agents.hooks.same_run import assert_both_agree
from tests.support.cases import each

HOOK = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py")


def parsed(hook: str, **event: Any) -> Any:
    said = {"hook": hook, "session": "s", "cwd": "/p", "at": 1, "event": event}
    return pi.parse(json.dumps(said).encode(), None)


def test_hooks_and_transcript_of_one_run_name_everything_alike() -> None:
    assert_both_agree(pi, unseen=["forbidden.txt"])


def test_each_call_comes_before_its_result_and_the_session_ends() -> None:
    found = payloads(pi)
    assert [payload.event for payload in found][:4] == ["session_start", "input", "tool_call", "tool_result"]
    assert (found[0].begins, found[-1].ends) == (True, True)
    assert {opening.values["personal.cwd"] for opening in openings(found)} == {"/home/dev/project"}
    assert {str(payload.transcript).rpartition("_")[2] for payload in found} == {f"{found[0].session}.jsonl"}


def test_a_prompt_opens_a_request_and_has_no_id() -> None:
    (prompt,) = steps(payloads(pi), "user")
    assert (prompt.source_id, prompt.opens_request) == (None, True)
    assert prompt.values == {"content.text": "Please do the scripted steps."}


def test_a_command_that_failed_says_so() -> None:
    successes = [step.meta["success"] for step in steps(payloads(pi), "tool_result")]
    assert successes == [True, True, True, False]


def test_a_command_that_the_user_typed_is_no_prompt() -> None:
    (step,) = steps([parsed("user_bash", type="user_bash", command="ls")])
    assert (step.meta, step.values) == ({"origin": "command"}, {"content.command": "ls"})
    assert not step.opens_request


def test_a_picture_in_a_result_is_taken_out_as_in_the_transcript() -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"png").decode()}
    (step,) = steps([parsed("tool_result", toolName="read", toolCallId="c", content=[picture])])
    assert step.raw == {"content.part_0": b"png"}
    assert step.values["content.output"] == [{"type": "image", "mime": "image/png", "part": "content.part_0"}]


def test_a_result_without_an_id_is_found_by_its_arguments() -> None:
    (step,) = steps([parsed("tool_result", toolName="bash", input={"command": "ls"}, content=[])])
    assert (step.source_id, step.after) == (None, ())
    assert step.values["content.args"] == {"command": "ls"}


def test_an_event_that_is_new_still_opens_the_session() -> None:
    payload = parsed("something_new")
    assert [opening.session for opening in openings([payload])] == ["s"]
    assert steps([payload]) == []


def test_a_result_follows_its_call() -> None:
    for result in steps(payloads(pi), "tool_result"):
        assert result.after == (Ref(str(result.meta["corr"])),)


def test_pi_obeys_this() -> None:
    asking = next(payload for payload in payloads(pi) if payload.asks is not None)
    assert json.loads(pi.reply(asking, DENY).stdout) == {"deny": DENY.reason}
    assert json.loads(pi.reply(asking, ASK).stdout)["deny"].startswith(ASK.reason)


@each("project", [False, True])
def test_a_file_of_somebody_else_is_left_alone(project: bool) -> None:
    (file,) = pi.settings(project=project)
    assert file.ours
    theirs = b"export default function (pi) {}\n"
    with pytest.raises(FormatError, match=r"tallystick\.js is not ours"):
        pi.configure(file, theirs, HOOK)
    assert pi.remove(file, theirs) == theirs
    assert pi.hooked(file, theirs) == ()


def test_every_event_that_the_extension_subscribes_to_is_listed() -> None:
    text = pi.configure(pi.settings(project=False)[0], b"", HOOK).decode()
    assert all(f'"{event}"' in text for event in pi.EVENTS)
    assert {each.event for each in recorded("pi")} <= set(pi.EVENTS)

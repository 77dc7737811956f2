from __future__ import annotations

import json

from tallystick.agents.cline import hooks as cline
from tallystick.agents.hooks import HookCommand
from tallystick.model.step import Ref, SessionKind
from tests.agents.hooks.recorded import ASK, DENY, openings, payloads, recorded, steps
from tests.support.shown import shown

_HOOK = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py")
_FIRST = cline.settings(project=False)[0]


def test_each_event_has_an_executable_file() -> None:
    files = cline.settings(project=False)
    assert [file.name for file in files] == list(cline.EVENTS)
    assert all(file.ours and file.executable and file.path == f".cline/hooks/{file.name}" for file in files)
    script = cline.configure(_FIRST, b"", _HOOK).decode()
    assert script.startswith("#!/bin/sh\n")
    assert script.splitlines()[-1].endswith("/hook.py cline TaskStart")


def test_a_script_of_the_user_stays() -> None:
    theirs = b"#!/bin/sh\necho mine, and not tallystick/hook.py\n"
    assert cline.configure(_FIRST, theirs, _HOOK) == theirs
    assert cline.remove(_FIRST, theirs) == theirs
    assert cline.hooked(_FIRST, theirs) == ()


def test_calls_and_results_have_the_models_ids() -> None:
    found = payloads(cline, "headless basic")
    call, edit = steps(found, "tool_call")
    shell, edited = steps(found, "tool_result")
    assert (call.source_id, call.meta["tool"]) == ("call_f2f43edafa0f4f23ae1e4825", "run_commands")
    assert shell.after == (Ref("call_f2f43edafa0f4f23ae1e4825"),)
    assert (shell.meta["success"], shell.meta["duration_ms"]) == (True, 33)
    assert shown(edit.values["content.args"])["path"] == "/home/dev/project/note.txt"
    # As in the session's document, where an object is JSON text.
    assert json.loads(shown(edited.values["content.output"]))["query"] == "edit:/home/dev/project/note.txt"
    assert {payload.session for payload in found} == {"1795294799033_eqplz"}


def test_a_call_that_an_interrupt_ended_has_failed() -> None:
    (told,) = recorded("cline", "headless basic", "PostToolUse")[:1]
    told.payload["tool_result"]["output"][0].update(result="", success=False)
    (result,) = steps([cline.parse(told.data, told.event)])
    assert told.payload["postToolUse"]["success"] is True
    assert result.meta["success"] is False


def test_a_sub_agent_is_named_as_its_document() -> None:
    (told,) = recorded("cline", "headless basic", "PreToolUse")[:1]
    told.payload.update(parent_agent_id="agent_1", agent_id="agent_2")
    payload = cline.parse(told.data, told.event)
    (opening,) = openings([payload])
    assert payload.session == opening.session == "1795294799033_eqplz__agent_2"
    assert (opening.kind, opening.parent) == (SessionKind.CHILD, Ref(session="1795294799033_eqplz"))


def test_cline_obeys_this() -> None:
    (payload, *_) = payloads(cline, "headless basic", "PreToolUse")
    assert json.loads(cline.reply(payload, DENY).stdout) == {"cancel": True, "errorMessage": DENY.reason}
    assert json.loads(cline.reply(payload, ASK).stdout)["cancel"] is True

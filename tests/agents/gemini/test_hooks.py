from __future__ import annotations

import json

import pytest

from tallystick.agents.gemini import hooks as gemini
from tallystick.agents.hooks import HookCommand
from tests.agents.hooks.recorded import ASK, DENY, payloads, recorded, steps

_HOOK = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py")


def test_calls_have_no_ids_and_results_say_what_they_are_of() -> None:
    found = steps(payloads(gemini, "headless basic"))
    call = next(step for step in found if step.type == "tool_call")
    result = next(step for step in found if step.type == "tool_result")
    assert (call.source_id, result.source_id, result.after) == (None, None, ())
    assert call.meta == {"tool": "run_shell_command"}
    assert call.values["content.args"] == result.values["content.args"]


def test_results_are_what_the_model_is_shown_and_what_changed() -> None:
    shell, write, *_ = steps(payloads(gemini, "headless basic"), "tool_result")
    assert (
        shell.values["content.output"]
        == "<untrusted_context>\nOutput: hi\nProcess Group PGID: 9884\n</untrusted_context>"
    )
    assert shell.meta["success"] is True
    assert str(write.values["content.diff"]).endswith("+hello from the fake model\n")
    assert "originalContent" not in json.dumps(dict(write.values))


def test_a_result_with_an_error_has_failed() -> None:
    (told,) = recorded("gemini", "headless basic", "AfterTool")[:1]
    told.payload["tool_response"] = {
        "llmContent": "no",
        "returnDisplay": "no",
        "error": {"message": "bad", "type": "x"},
    }
    (result,) = steps([gemini.parse(told.data, None)])
    assert result.meta["success"] is False
    assert result.values["content.error"] == "bad"


def test_blocks_of_text_are_that_text() -> None:
    (result,) = [
        step for step in steps(payloads(gemini, "subagent"), "tool_result") if step.meta["tool"] == "invoke_agent"
    ]
    assert str(result.values["content.output"]).startswith("Subagent 'generalist' finished.")


def test_the_time_is_the_agents_so_that_an_event_told_twice_is_known() -> None:
    (first, *_) = payloads(gemini, "headless basic", "BeforeTool")
    assert first.timed
    assert steps([first])[0].ts == "2026-11-21T20:39:02.414Z"


def test_what_a_turn_said_is_no_message_of_the_model() -> None:
    (end,) = steps(payloads(gemini, "headless basic", "AfterAgent"))
    assert (end.type, end.meta["event"]) == ("system", "turn-ended")
    assert end.values["content.text"] == "Running a command. \nAll done."


def test_gemini_obeys_this() -> None:
    (payload, *_) = payloads(gemini, "headless basic", "BeforeTool")
    assert json.loads(gemini.reply(payload, DENY).stdout) == {"decision": "deny", "reason": DENY.reason}
    assert json.loads(gemini.reply(payload, ASK).stdout)["decision"] == "deny"
    assert gemini.reply(payload, DENY).exit_code == 0


def test_time_is_asked_for_in_milliseconds_and_comments_are_read() -> None:
    (file,) = gemini.settings(project=False)
    content = gemini.configure(file, b'{\n  // mine\n  "ui": {}\n}\n', _HOOK)
    assert b"// mine\n" in content
    assert content.count(b'"timeout": 10000') == len(gemini.EVENTS)


@pytest.mark.parametrize(("text", "origin"), [("Go.", None), ("/compress", "command"), ("<hook_context>", "injected")])
def test_a_prompt_that_no_person_typed_is_what_the_chat_says_it_is(text: str, origin: str | None) -> None:
    (told,) = recorded("gemini", "headless basic", "BeforeAgent")[:1]
    told.payload["prompt"] = text
    (prompt,) = steps([gemini.parse(told.data, None)])
    assert (prompt.meta.get("origin"), prompt.opens_request) == (origin, origin is None)

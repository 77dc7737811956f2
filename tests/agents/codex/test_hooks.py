from __future__ import annotations

import json

from tallystick.agents.codex import hooks as codex
from tallystick.agents.hooks import HookCommand
from tallystick.model.step import Ref, SessionKind
from tests.agents.hooks.recorded import ASK, DENY, openings, payloads, recorded, steps

_PRE, _POST = "PreToolUse", "PostToolUse"
_HOOK = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py")
_PATCH = "headless basic, apply_patch"


def test_calls_and_results_have_the_ids_of_the_rollout() -> None:
    found = steps(payloads(codex, _PATCH))
    calls = [step for step in found if step.type == "tool_call"]
    assert [(step.meta["tool"], step.source_id) for step in calls] == [
        ("Bash", "call_e46811affb7a4b9aaeb32110"),
        ("apply_patch", "call_fe0f159af9d24c15b67de467"),
    ]
    shell, patch = [step for step in found if step.type == "tool_result"]
    assert shell.source_id == "call_e46811affb7a4b9aaeb32110/result"
    assert shell.values == {"content.output": "hi\n"}
    assert "success" not in shell.meta  # a command that fails ends in the same way
    assert (patch.meta["success"], patch.meta["exit_code"]) == (True, 0)


def test_output_of_a_command_that_looks_like_a_report_is_none() -> None:
    (told,) = recorded("codex", _PATCH, _POST)[:1]
    told.payload["tool_response"] = "Exit code: 1\nOutput:\nnot really\n"
    (result,) = steps([codex.parse(told.data, None)])
    assert "exit_code" not in result.meta


def test_the_result_of_an_mcp_tool_is_what_the_model_is_shown() -> None:
    (told,) = recorded("codex", _PATCH, _POST)[:1]
    block = {"type": "text", "text": "done"}
    told.payload.update(tool_name="mcp__x__y", tool_response={"content": [block], "isError": True})
    (result,) = steps([codex.parse(told.data, None)])
    assert result.values["content.output"] == [block]
    assert result.meta["success"] is False


def test_a_sub_agent_is_the_session_of_its_thread() -> None:
    found = payloads(codex, "subagent")
    parent, child = "01a1ffd4-6de6-78d3-a233-3ace6eeb8e6f", "01a1ffd4-6e9b-7dc2-8586-cc293a87b9a2"
    (start,) = steps(found, "subagent_start")
    assert (start.session, start.source_id) == (parent, f"{child}/start")
    children = [opening for opening in openings(found) if opening.kind is SessionKind.CHILD]
    assert {(opening.session, opening.parent) for opening in children} == {
        (child, Ref(f"{child}/start", session=parent))
    }
    calls = {step.session for step in steps(found, "tool_call")}
    assert calls == {parent, child}
    task = next(step for step in steps(found, "user") if step.session == child)
    assert (task.meta["origin"], task.opens_request) == ("parent", False)
    (stop,) = [payload for payload in found if payload.event == "SubagentStop"]
    assert (stop.session, stop.ends) == (child, True)
    assert stop.transcript is not None
    assert child in stop.transcript
    (end,) = steps([stop])
    assert (end.session, end.values["content.text"]) == (parent, "Sub finished.")


def test_in_code_mode_the_calls_of_the_script_are_asked_about() -> None:
    asks = [payload.asks for payload in payloads(codex, "code mode (gpt-6-sol)", _PRE)]
    assert [ask.tool for ask in asks if ask] == ["Bash", "apply_patch"]
    assert all(ask is not None and str(ask.call_id).startswith("exec-") for ask in asks)


def test_a_compaction_and_a_start_let_the_rollout_be_read_first() -> None:
    begins = {payload.event for payload in payloads(codex) if payload.begins}
    assert begins == {"SessionStart", "PostCompact"}
    assert {payload.event for payload in payloads(codex) if payload.ends} == {"SessionEnd", "SubagentStop"}


def test_a_turn_that_goes_on_ends_twice() -> None:
    stops = steps(payloads(codex, "Stop hook blocks once", "Stop"))
    assert len({step.source_id for step in stops}) == 2
    assert stops[1].source_id is None


def test_codex_obeys_this() -> None:
    (payload, *_) = payloads(codex, _PATCH, _PRE)
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": DENY.reason}
    assert json.loads(codex.reply(payload, DENY).stdout) == {"hookSpecificOutput": answer}
    assert json.loads(codex.reply(payload, ASK).stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert codex.reply(payload, DENY).exit_code == 0


def test_hooks_json_is_used_unless_the_user_keeps_hooks_in_config_toml() -> None:
    theirs = b'[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "x"\n'
    trusted = b'[hooks.state."a:b"]\ntrusted_hash = "sha256:0"\n'
    json_file, toml_file = codex.settings(project=False)
    ours = codex.configure(json_file, b"", _HOOK)
    assert codex.chosen({}) == {"json"}
    assert codex.chosen({"toml": b'model = "x"\n' + trusted}) == {"json"}
    assert codex.chosen({"toml": theirs}) == codex.chosen({"toml": theirs, "json": ours}) == {"toml"}
    assert codex.chosen({"toml": theirs, "json": b'{"hooks": {}}'}) == {"json"}
    assert set(codex.hooked(toml_file, codex.configure(toml_file, theirs, _HOOK))) == set(codex.EVENTS)


def test_codex_is_not_asked_for_more_time_than_it_gives() -> None:
    hooks = json.loads(codex.configure(codex.settings(project=True)[0], b"", _HOOK))["hooks"]
    times = {event: items[0]["hooks"][0]["timeout"] for event, items in hooks.items()}
    assert (times["SessionEnd"], times["Interrupt"], times[_PRE]) == (3, 3, 10)

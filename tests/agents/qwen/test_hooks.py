from __future__ import annotations

import json

from tallystick.agents.qwen import hooks as qwen
from tallystick.model.step import Ref, SessionKind
from tests.agents.hooks.recorded import ASK, DENY, openings, payloads, recorded, steps

_CALL = "call_c277c293c122408a86fc94f9"


def test_calls_and_results_have_the_models_ids() -> None:
    found = payloads(qwen, "headless basic")
    call, *_ = steps(found, "tool_call")
    result, *_ = steps(found, "tool_result")
    assert (call.source_id, call.meta["corr"]) == (_CALL, _CALL)
    assert (result.source_id, result.after) == (f"{_CALL}/result", (Ref(_CALL),))
    assert (result.meta["success"], result.meta["duration_ms"]) == (True, 25)
    assert str(result.values["content.output"]).startswith("Command: echo hi > out.txt")


def test_a_failed_call_says_so() -> None:
    results = steps(payloads(qwen, "tool failures"), "tool_result")
    assert [step.meta["success"] for step in results] == [False] * len(results)
    assert "Exit Code: 3" in str(results[0].values["content.output"])


def test_an_empty_prompt_after_a_batch_of_tools_is_none() -> None:
    told = recorded("qwen", "headless basic", "UserPromptSubmit")
    assert len(told) > 1
    prompts = steps(payloads(qwen, "headless basic"), "user")
    assert [step.values for step in prompts] == [{"content.text": "Create out.txt and note.txt"}]
    assert prompts[0].opens_request


def test_a_sub_agent_is_a_session_below_its_parents() -> None:
    found = payloads(qwen, "subagent")
    root, call = "2779fac6-ea1f-4813-88ac-3df7011661fe", "call_42a3f8569cb44250be2a6cf3"
    name = f"{root}/general-purpose-{call}"
    children = [opening for opening in openings(found) if opening.kind is SessionKind.CHILD]
    assert {opening.session for opening in children} == {name}
    assert children[0].parent == Ref(call, session=root)
    (start,), (end,) = steps(found, "subagent_start"), steps(found, "subagent_end")
    assert start.session == end.session == root
    assert {step.session for step in steps(found, "tool_call")} == {root, name}
    (stop,) = [payload for payload in found if payload.event == "SubagentStop"]
    assert (stop.session, stop.ends) == (name, True)
    assert str(stop.transcript).endswith(f"/agent-general-purpose-{call}.jsonl")


def test_a_sub_agents_calls_do_not_make_its_parents_file_its_own() -> None:
    told = next(each for each in recorded("qwen", "subagent", "PreToolUse") if "agent_id" in each.payload)
    assert qwen.parse(told.data, None).transcript is None


def test_qwen_obeys_this() -> None:
    (payload, *_) = payloads(qwen, "headless basic", "PreToolUse")
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": DENY.reason}
    assert json.loads(qwen.reply(payload, DENY).stdout) == {"hookSpecificOutput": answer}
    assert json.loads(qwen.reply(payload, ASK).stdout)["hookSpecificOutput"]["permissionDecision"] == "ask"

"""What each message of a session becomes."""

from __future__ import annotations

import pytest

from tallystick.agents.protocols.acp import Side
from tallystick.model.decision import Decision, Effect
from tallystick.model.step import Event, Json, Loss, Opening, Ref, SessionKind, Step
from tests.agents.protocols.acp_talk import Talk, steps


@pytest.fixture
def talk() -> Talk:
    found = Talk()
    found.begin()
    return found


def test_chunks_are_one_message_until_something_else_is_said(talk: Talk) -> None:
    def chunk(kind: str, text: str, message: str) -> list[Event]:
        return talk.update(kind, content={"type": "text", "text": text}, messageId=message)

    events = [
        *chunk("agent_thought_chunk", "hm ", "m1"),
        *chunk("agent_thought_chunk", "yes", "m1"),
        *chunk("agent_message_chunk", "Hel", "m1"),
        *chunk("agent_message_chunk", "lo", "m1"),
        *chunk("agent_message_chunk", "Bye", "m2"),
        *talk.acp.end(talk.at, returncode=0),
    ]
    found = [(step.source_id, dict(step.values)) for step in steps(events, "assistant")]
    assert found == [
        ("m1/0", {"content.thinking": "hm yes"}),
        ("m1/1", {"content.text": "Hello"}),
        ("m2/0", {"content.text": "Bye"}),
    ]


def test_images_are_values_of_their_own(talk: Talk) -> None:
    blocks = [{"type": "text", "text": "see"}, {"type": "image", "mimeType": "image/png", "data": "iVBORw=="}]
    (prompt,) = steps(talk.ask("session/prompt", {"sessionId": "s", "prompt": blocks}), "user")
    assert prompt.values["content.text"] == "see"
    assert prompt.raw == {"content.part_0": b"\x89PNG"}


def test_a_call_is_told_when_it_runs_and_revised_when_its_arguments_change(talk: Talk) -> None:
    assert steps(talk.update("tool_call", toolCallId="c", title="t", kind="read", status="pending")) == []
    (told,) = steps(talk.update("tool_call_update", toolCallId="c", status="in_progress", rawInput={"a": 1}))
    assert (told.type, told.source_id, told.values["content.args"]) == ("tool_call", "c", {"a": 1})
    assert steps(talk.update("tool_call_update", toolCallId="c", status="in_progress", rawInput={"a": 1})) == []
    (again,) = steps(talk.update("tool_call_update", toolCallId="c", rawInput={"a": 2}))
    assert again.values["content.args"] == {"a": 2}
    (result,) = steps(talk.update("tool_call_update", toolCallId="c", status="failed", rawOutput="no"))
    assert (result.type, result.meta["success"], result.values["content.output"]) == ("tool_result", False, "no")


def test_a_call_that_never_ran_is_told_at_the_end(talk: Talk) -> None:
    talk.update("tool_call", toolCallId="c", title="t", status="pending")
    assert [step.type for step in steps(list(talk.acp.end(talk.at, returncode=1)))] == ["tool_call", "session_end"]


def test_a_call_of_a_sub_agent_is_told_in_its_own_session() -> None:
    talk = Talk("claude-code-acp")
    talk.begin()
    launched = {"claudeCode": {"toolName": "Agent", "toolResponse": {"agentId": "a1"}}}
    talk.update("tool_call", toolCallId="t", kind="think", status="pending", rawInput={"prompt": "x"}, _meta=launched)
    talk.update("tool_call_update", toolCallId="t", status="completed")
    inner = {"claudeCode": {"toolName": "Bash", "parentToolUseId": "t"}}
    events = talk.update("tool_call", toolCallId="c", status="completed", rawInput={"command": "ls"}, _meta=inner)
    opened, call, result = events
    assert isinstance(opened, Opening)
    assert (opened.session, opened.kind, opened.parent) == ("s/a1", SessionKind.CHILD, Ref("t", "s"))
    assert [step.session for step in steps([call, result])] == ["s/a1", "s/a1"]


def test_a_turn_ends_with_its_reason_what_it_used_and_how_long_it_took(talk: Talk) -> None:
    talk.ask("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": "go"}]})
    prompt = talk.ids
    talk.update("usage_update", used=10, size=100, cost={"amount": 0.25, "currency": "USD"})
    talk.say(Side.EDITOR, {"method": "session/cancel", "params": {"sessionId": "s"}})
    result = {"stopReason": "cancelled", "usage": {"inputTokens": 5, "outputTokens": 2, "cachedReadTokens": 1}}
    used, end = steps(talk.say(Side.AGENT, {"id": prompt, "result": result}))
    assert used.meta["tokens"] == {"input": 5, "output": 2, "cache_read": 1}
    assert (used.meta["context_used"], used.meta["session_cost_microusd"]) == (10, 250_000)
    assert (end.meta["stop_reason"], end.meta["cancelled"], end.meta["duration_ms"]) == ("cancelled", True, 3)


def test_tokens_that_a_history_counts_are_not_counted_twice() -> None:
    talk = Talk("gemini-cli")
    talk.begin()
    talk.ask("session/prompt", {"sessionId": "s", "prompt": []})
    (used, _) = steps(talk.answer({"stopReason": "end_turn", "usage": {"inputTokens": 5}}))
    assert used.meta["turn_tokens"] == {"input": 5}
    assert "tokens" not in used.meta


def test_an_agent_that_dies_in_a_prompt_leaves_what_was_under_way(talk: Talk) -> None:
    talk.ask("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": "go"}]})
    talk.update("agent_message_chunk", content={"type": "text", "text": "I will"})
    talk.update("tool_call", toolCallId="c", title="t", kind="edit", status="pending", rawInput={"x": 1})
    talk.ask(
        "session/request_permission", {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": []}, Side.AGENT
    )
    events = steps(list(talk.acp.end(talk.at, returncode=-9)))
    assert [(step.type, step.meta.get("decision"), step.meta.get("signal")) for step in events] == [
        ("permission", "none", None),
        ("warning", None, 9),
        ("session_end", None, 9),
    ]
    assert events[1].meta["subtype"] == "ended_during_prompt"


def test_both_sides_may_use_the_same_ids(talk: Talk) -> None:
    talk.say(Side.EDITOR, {"id": 0, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}})
    talk.say(Side.AGENT, {"id": 0, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/a"}})
    (read,) = steps(talk.say(Side.EDITOR, {"id": 0, "result": {"content": "text"}}))
    assert (read.type, read.meta["action"], read.values["content.text"]) == ("file_effect", "read", "text")
    assert (
        steps(talk.say(Side.AGENT, {"id": 0, "result": {"stopReason": "end_turn"}}))[-1].meta["subtype"] == "turn_end"
    )
    assert [type(event) for event in talk.say(Side.AGENT, {"id": "0", "result": {}})] == [Loss]


def test_terminals_are_processes_and_their_variables_have_names_only(talk: Talk) -> None:
    params = {
        "sessionId": "s",
        "command": "make",
        "args": ["x"],
        "cwd": "/p",
        "env": [{"name": "TOKEN", "value": "S3CRET"}],
    }
    talk.ask("terminal/create", params, Side.AGENT)
    events = talk.answer({"terminalId": "t1"}, Side.EDITOR)
    for method, result in (
        ("terminal/output", {"output": "built", "truncated": False}),
        ("terminal/wait_for_exit", {"exitCode": 2}),
        ("terminal/release", {}),
    ):
        talk.ask(method, {"sessionId": "s", "terminalId": "t1"}, Side.AGENT)
        events += talk.answer(result, Side.EDITOR)
    start, end, release = steps(events, "process")
    assert (start.meta["action"], start.values["content.env_names"], start.values["personal.cwd"]) == (
        "start",
        ["TOKEN"],
        "/p",
    )
    assert (end.meta["action"], end.meta["exit_code"]) == ("exit", 2)
    assert release.values["content.output"] == "built"
    assert "S3CRET" not in repr(events)


def test_what_policy_refused_says_so(talk: Talk) -> None:
    asked = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "x"}},
        "options": [{"optionId": "n", "name": "No", "kind": "reject_once"}],
    }
    talk.ask("session/request_permission", asked, Side.AGENT)
    decision = Decision(effect=Effect.DENY, rules=("a.rule",), reason="Because.", policy="ab")
    answer = {"outcome": {"outcome": "selected", "optionId": "n"}}
    (told,) = steps(talk.answer(answer, Side.EDITOR, policy=decision))
    assert (told.meta["decision"], told.meta["decided_by"], told.meta["rules"]) == ("deny", "policy", ["a.rule"])
    assert told.values["content.reason"] == "Because."


def test_settings_are_told_when_they_change(talk: Talk) -> None:
    (changed,) = steps(talk.update("current_mode_update", currentModeId="plan"))
    assert (changed.type, changed.meta["setting"], changed.meta["value"], changed.meta["by"]) == (
        "config_change",
        "mode",
        "plan",
        "agent",
    )
    assert steps(talk.update("current_mode_update", currentModeId="plan")) == []
    talk.ask("session/set_mode", {"sessionId": "s", "modeId": "code"})
    (changed,) = steps(talk.answer({}))
    assert (changed.meta["value"], changed.meta["by"]) == ("code", "user")


def test_a_compaction_ends_the_session_and_begins_one_with_its_summary(talk: Talk) -> None:
    talk.update("compaction_update", compactionId="k", status="in_progress")
    talk.update("compaction_summary_chunk", compactionId="k", content={"type": "text", "text": "In "})
    talk.update("compaction_summary_chunk", compactionId="k", content={"type": "text", "text": "short"})
    told, end, opened, summary = talk.update("compaction_update", compactionId="k", status="completed")
    assert isinstance(told, Step)
    assert (told.type, told.source_id, told.values["content.text"]) == ("compaction", "hook/acp/k", "In short")
    assert isinstance(end, Step)
    assert (end.type, end.meta["reason"]) == ("session_end", "compaction")
    assert isinstance(opened, Opening)
    assert (opened.session, opened.kind, opened.parent) == ("s", SessionKind.CONTINUATION, Ref("hook/acp/k", "s"))
    assert isinstance(summary, Step)
    assert (summary.type, summary.meta["origin"], summary.values["content.text"]) == ("user", "summary", "In short")


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_compaction_that_came_to_nothing_ends_nothing(talk: Talk, status: str) -> None:
    (told,) = talk.update("compaction_update", compactionId="k", status=status, error="no")
    assert isinstance(told, Step)
    assert (told.type, told.meta["status"], told.values["content.error"]) == ("compaction", status, "no")


def rotated(**more: Json) -> tuple[Talk, list[Event]]:
    talk = Talk("hermes-agent")
    talk.begin()
    told = {"previousHermesSessionId": "s", "currentHermesSessionId": "s2", "reason": "compression", **more}
    return talk, talk.update("session_info_update", title="x #2", _meta={"hermes": {"sessionProvenance": told}})


def test_several_rotations_in_one_notice_leave_a_gap_that_is_claimed() -> None:
    _, events = rotated(currentHermesSessionId="s3", parentHermesSessionId="s2")
    assert [step.type for step in steps(events)] == ["system", "compaction", "session_end"]
    (opened,) = [event for event in events if isinstance(event, Opening)]
    assert (opened.session, opened.parent) == ("s3", Ref(None, "s2"))


def test_a_rollover_goes_on_without_a_compaction() -> None:
    _, events = rotated(reason="turn_boundary_rollover")
    assert [step.type for step in steps(events)] == ["system", "session_end"]
    (opened,) = [event for event in events if isinstance(event, Opening)]
    assert (opened.kind, opened.parent) == (SessionKind.CONTINUATION, Ref(None, "s"))


def test_a_rotation_goes_on_in_the_session_that_hermes_names() -> None:
    talk, events = rotated(parentHermesSessionId="s")
    assert [step.type for step in steps(events)] == ["system", "compaction", "session_end"]
    (opened,) = [event for event in events if isinstance(event, Opening)]
    assert (opened.session, opened.kind) == ("s2", SessionKind.CONTINUATION)
    assert opened.parent == Ref("hook/acp/s2/compaction", "s")
    talk.ask("session/prompt", {"sessionId": "s", "prompt": []})
    assert {step.session for step in steps(talk.answer({"stopReason": "end_turn"}))} == {"s2"}

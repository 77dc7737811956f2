"""Qwen Code's hooks, as command handlers in its settings.json.

Owns the events, what each says, and how a call is refused. Facts observed with version 0.24.4: docs/agents/qwen.md.

`tool_call_id` is the model's id, and the chat file's; `tool_use_id` is made up for hooks. A sub-agent is a session of
its own below its parent's, named as in its file. UserPromptSubmit comes again with an empty prompt after every batch of
tools: that is not a prompt. Without a terminal there is no SessionEnd. Of two hooks that answer, the later one wins:
silence is the only safe way to have no opinion.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from tallystick.agents.hooks import SILENT, HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of
from tallystick.agents.hooks.answers import permission_reply
from tallystick.agents.hooks.asks import answer_to
from tallystick.agents.hooks.common_steps import Telling, unnamed
from tallystick.agents.hooks.genai_results import outcome, reported_code
from tallystick.agents.hooks.payload import payload_of
from tallystick.agents.kit.outcomes import ended
from tallystick.model.decision import Decision
from tallystick.model.step import Event, Json, Opening, Ref, Step

NAME = "qwen"
EVENTS = hooks_of(NAME).events
CAN_HTTP = hooks_of(NAME).http
_BY_COMMAND = frozenset(("SessionStart", "UserPromptSubmit"))
"""Run as commands even where the rest is called over HTTP: they start the recorder, which ends when it is idle."""
_TIMEOUT_SECONDS = 10
"""Numbers from 1000 on would be read as milliseconds."""


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The user's settings, or a project's."""
    return hook_files(NAME, project=project)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The settings with one handler of ours an event."""
    from tallystick.agents.hooks import nested
    from tallystick.agents.kit import json_text

    form = nested.Form(timeout=_TIMEOUT_SECONDS, by_command=_BY_COMMAND, dialect=json_text.COMMENTED)
    return nested.configure(content, EVENTS, hook.shell(NAME), form, http=hook.http(NAME))


def remove(file: SettingsFile, content: bytes) -> bytes:
    """The settings without our handlers."""
    from tallystick.agents.hooks import nested
    from tallystick.agents.kit import json_text

    return nested.remove(content, dialect=json_text.COMMENTED)


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """The events with a handler of ours."""
    from tallystick.agents.hooks import nested
    from tallystick.agents.kit import json_text

    return nested.hooked(content, dialect=json_text.COMMENTED)


def parse(data: bytes, event: str | None) -> Payload:
    """What a call of the hook said; the payload names its event."""
    said = payload_of(data)
    name, root = said.need("hook_event_name"), said.need("session_id")
    agent = said.text("agent_id")
    telling = Telling(
        said=said,
        agent=NAME,
        session=f"{root}/{agent}" if agent else root,
        root=root,
        common=said.members(("permission_mode", "permission_mode"), ("prompt_id", "run")),
        ts=said.text("timestamp"),
    )
    make = _EVENTS.get(name)
    args, cwd, call = said.json.get("tool_input"), said.text("cwd"), _call_id(telling)
    asks = None
    if name == "PreToolUse":
        asks = telling.asks(said.text("tool_name"), args, cwd=cwd, call_id=call)
    return Payload(
        event=name,
        session=telling.session,
        events=(_opening(telling), *(make(telling) if make is not None else ())),
        asks=asks,
        transcript=said.text("agent_transcript_path") or (None if agent else said.text("transcript_path")),
        begins=name in ("SessionStart", "PostCompact"),
        ends=name in ("SessionEnd", "SubagentStop"),
        timed=telling.ts is not None,
    )


def _call_id(telling: Telling) -> str | None:
    return telling.said.text("tool_call_id") or telling.said.text("tool_use_id")


def _opening(telling: Telling) -> Opening:
    """The session, opened only once. A sub-agent's belongs to the call whose id ends its own."""
    said = telling.said
    if telling.session == telling.root:
        return telling.opening(said.members(("model", "model")), cwd=said.text("cwd"))
    agent, role = said.need("agent_id"), said.text("agent_type")
    call = None
    if role and agent.startswith(f"{role}-"):
        call = agent.removeprefix(f"{role}-")
    return telling.child(Ref(call, session=telling.root), said.members(("agent_type", "agent_role")))


def _prompt(telling: Telling) -> list[Event]:
    """A prompt; no one types into a sub-agent."""
    text = telling.said.text("prompt")
    if text is None:
        return []
    origin = None
    if telling.session != telling.root:
        origin = "parent"
    return [telling.prompt(text, unnamed(telling.said.text("prompt_id"), "prompt"), origin)]


def _tool_call(telling: Telling) -> list[Event]:
    said = telling.said
    return [telling.call(said.text("tool_name"), _call_id(telling), said.json.get("tool_input"))]


def _tool_result(telling: Telling) -> list[Event]:
    meta, content = outcome(telling.said.text("tool_name"), telling.said.json.get("tool_response"))
    return [_result(telling, meta, content)]


def _tool_failure(telling: Telling) -> list[Event]:
    output = telling.said.json.get("error")
    meta = ended(False, reported_code(telling.said.text("tool_name"), output))
    if telling.said.json.get("is_interrupt") is True:
        meta["interrupted"] = True
    return [_result(telling, meta, {"output": output})]


def _result(telling: Telling, meta: dict[str, Json], content: dict[str, Json]) -> Step:
    said = telling.said
    meta |= said.members(("duration_ms", "duration_ms"))
    return telling.result(said.text("tool_name"), _call_id(telling), meta, **content)


def _permission(telling: Telling) -> list[Event]:
    said = telling.said
    denied = said.text("hook_event_name") == "PermissionDenied"
    meta = {**said.members(("tool_name", "tool"), ("tool_call_id", "corr")), "decision": "deny" if denied else "ask"}
    return [telling.step("permission", None, meta, args=said.json.get("tool_input"), text=said.text("reason"))]


def _subagent(telling: Telling) -> list[Event]:
    """A sub-agent starts or ends, told in its parent's session."""
    said, parent = telling.said, replace(telling, session=telling.root)
    starts = said.text("hook_event_name") == "SubagentStart"
    meta = said.members(("agent_id", "agent_id"), ("agent_type", "agent_role"))
    source_id = unnamed(said.text("agent_id"), "start" if starts else "end")
    text = said.text("last_assistant_message")
    return [parent.step("subagent_start" if starts else "subagent_end", source_id, meta, text=text)]


def _compaction(telling: Telling) -> list[Event]:
    """The compression itself is the chat file's to tell: it says where the session ends and goes on."""
    begins = telling.said.text("hook_event_name") == "PreCompact"
    meta = telling.said.members(("trigger", "trigger"))
    return [telling.system("compaction-begins" if begins else "compaction-done", meta)]


def _stop(telling: Telling) -> list[Event]:
    text = telling.said.text("last_assistant_message")
    return [telling.step("assistant", None, {"final": True}, text=text)]


def _stop_failure(telling: Telling) -> list[Event]:
    return [telling.step("warning", None, {"event": "turn-failed"}, error=telling.said.json.get("error"))]


def _end(telling: Telling) -> list[Event]:
    return [telling.system("session-end", telling.said.members(("reason", "reason")))]


_EVENTS: dict[str, Callable[[Telling], list[Event]]] = {
    "UserPromptSubmit": _prompt,
    "PreToolUse": _tool_call,
    "PostToolUse": _tool_result,
    "PostToolUseFailure": _tool_failure,
    "PermissionRequest": _permission,
    "PermissionDenied": _permission,
    "SubagentStart": _subagent,
    "SubagentStop": _subagent,
    "PreCompact": _compaction,
    "PostCompact": _compaction,
    "Stop": _stop,
    "StopFailure": _stop_failure,
    "SessionEnd": _end,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """Refuse the call, or have the user asked; without anyone to ask, Qwen Code refuses too."""
    answer = answer_to(NAME, payload, decision)
    if answer is None:
        return SILENT
    return permission_reply(answer.effect.value, answer.reason)

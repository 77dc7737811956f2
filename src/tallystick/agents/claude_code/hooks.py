"""Claude Code's hooks, as command handlers in its settings.json.

Owns the events, what each says, and how a call is refused. Facts observed with version 2.1.330: docs/agents/claude-code.md.
The payload names tool calls by the model's ids, so that hooks and transcript agree; prompts have an id of their own there.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from tallystick.agents.claude_code.lines import asks_of
from tallystick.agents.claude_code.results import added_by, failed_with, shell_changes
from tallystick.agents.hooks import SILENT, UNNAMED, HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of
from tallystick.agents.hooks.answers import permission_reply
from tallystick.agents.hooks.asks import answer_to
from tallystick.agents.hooks.payload import Said, payload_of
from tallystick.agents.kit.answers import with_answer
from tallystick.agents.kit.outcomes import ended
from tallystick.model.decision import Call, Decision
from tallystick.model.request import ASKS, RequestKind, opened_kind
from tallystick.model.step import Event, Json, Opening, Ref, SessionKind, Source, Step

NAME = "claude-code"
EVENTS = hooks_of(NAME).events
_MATCHED = frozenset(("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"))
CAN_HTTP = hooks_of(NAME).http
_BY_COMMAND = frozenset(("SessionStart", "UserPromptSubmit"))
"""Run as commands even where the rest is called over HTTP: they start the recorder, which ends when it is idle."""
_TIMEOUT_SECONDS = 10
_ASKS_NOBODY = "bypassPermissions"
"""In this mode a shell call that we want asked about just runs (observed)."""
_NOT_TYPED = "<task-notification>"
_COMMAND = re.compile(r"/[\w:.-]+(?:\s|\Z)")


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The user's settings, or those that a project shares."""
    return hook_files(NAME, project=project)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The settings with one handler of ours an event."""
    from tallystick.agents.hooks import nested

    form = nested.Form(timeout=_TIMEOUT_SECONDS, matched=_MATCHED, by_command=_BY_COMMAND)
    return nested.configure(content, EVENTS, hook.shell(NAME), form, http=hook.http(NAME))


def remove(file: SettingsFile, content: bytes) -> bytes:
    """The settings without our handlers."""
    from tallystick.agents.hooks import nested

    return nested.remove(content)


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """The events with a handler of ours."""
    from tallystick.agents.hooks import nested

    return nested.hooked(content)


def parse(data: bytes, event: str | None) -> Payload:
    """What a call of the hook said; the payload names its event."""
    said = payload_of(data)
    name = said.need("hook_event_name")
    root = said.need("session_id")
    agent = said.text("agent_id")
    session = root
    if agent:
        session = f"{root}/{agent}"
    events: tuple[Event, ...] = ()
    if _is_compacting(said, name):
        agent, session = None, root
    else:
        events = tuple(_events(said, name, root, session))
    return Payload(
        event=name,
        session=session,
        events=(_opening(said, root, agent), *events),
        asks=_call(said, session) if name == "PreToolUse" else None,
        transcript=said.text("transcript_path"),
        begins=name in ("SessionStart", "PostCompact"),
        ends=name == "SessionEnd" or (name == "SubagentStop" and agent is not None),
        never_asks=said.text("permission_mode") == _ASKS_NOBODY,
    )


def _is_compacting(said: Said, name: str) -> bool:
    """Whether it is the end of the calls that `/compact` makes: it is reported as that of an agent without a kind."""
    return name == "SubagentStop" and not said.text("agent_type")


def _opening(said: Said, root: str, agent: str | None) -> Opening:
    """The session that the payload is of; it is made only once. A sub-agent's belongs to the last step of its parent."""
    meta = said.members(("model", "model"), ("agent_type", "agent_role"))
    if agent is None:
        where = said.values(("cwd", "personal.cwd"))
        return Opening(session=root, agent=NAME, source=Source.HOOK, meta=meta, values=where)
    return Opening(
        session=f"{root}/{agent}",
        agent=NAME,
        kind=SessionKind.CHILD,
        parent=Ref(session=root),
        source=Source.HOOK,
        meta=meta,
    )


def _events(said: Said, name: str, root: str, session: str) -> list[Event]:
    make = _STEPS.get(name)
    if make is None:
        return []
    response = {"content.result": said.json.get("tool_response")}
    return list(with_answer(NAME, make(said, root, session), response))


def _call(said: Said, session: str) -> Call:
    return Call(
        agent=NAME,
        session=session,
        tool=said.text("tool_name") or "?",
        args=said.json.get("tool_input"),
        cwd=said.text("cwd"),
        call_id=said.text("tool_use_id"),
    )


def _step(said: Said, session: str, kind: str, source_id: str | None, meta: dict[str, Json], **content: Json) -> Step:
    common = said.members(("prompt_id", "run"), ("permission_mode", "permission_mode"))
    values = {f"content.{name}": value for name, value in content.items() if value is not None}
    return Step(session=session, type=kind, source=Source.HOOK, source_id=source_id, meta=common | meta, values=values)


def _prompt(said: Said, root: str, session: str) -> Step:
    text = said.text("prompt") or ""
    typed = not text.lstrip().startswith(_NOT_TYPED)
    source_id = None
    if typed and said.text("prompt_id"):
        source_id = f"{UNNAMED}{said.text('prompt_id')}"
    step = _step(said, session, "user", source_id, _prompt_meta(text, typed=typed), text=text)
    return replace(step, opens_request=opened_kind(step.type, step.meta) is not None)


def _prompt_meta(text: str, *, typed: bool) -> dict[str, Json]:
    """Where a prompt comes from, as its transcript has it: a slash command is a request of its kind."""
    if not typed:
        return {"origin": "notification"}
    if _COMMAND.match(text):
        return {"origin": "command", ASKS: RequestKind.COMMAND}
    kind = asks_of(text)
    return {} if kind is None else {ASKS: kind}


def _tool_call(said: Said, root: str, session: str) -> Step:
    meta = said.members(("tool_name", "tool"), ("tool_use_id", "corr"))
    return _step(said, session, "tool_call", said.text("tool_use_id"), meta, args=said.json.get("tool_input"))


def _tool_result(said: Said, root: str, session: str) -> Step:
    response = said.json.get("tool_response")
    output, result = _output(response)
    rest, _ = added_by(result, said.json.get("tool_input"), output)
    changed, changes = shell_changes(response)
    step = _result(said, session, {"success": True, **changed}, output=output, result=rest)
    return replace(step, values={**step.values, **changes})


def _output(response: Json) -> tuple[Json, Json]:
    """What the model sees of a tool's response, as far as the hook shows it, and the rest."""
    if not isinstance(response, dict):
        return response, None
    if isinstance(response.get("stdout"), str) and isinstance(response.get("stderr"), str):
        shown = [text for text in (response["stdout"], response["stderr"]) if text]
        rest = {key: value for key, value in response.items() if key not in ("stdout", "stderr") and value}
        return "\n".join(shown) or None, rest or None
    return None, response


def _tool_failure(said: Said, root: str, session: str) -> Step:
    output = said.json.get("error")
    meta = ended(False, failed_with(output))
    if said.json.get("is_interrupt") is True:
        meta["interrupted"] = True
    return _result(said, session, meta, output=output)


def _result(said: Said, session: str, meta: dict[str, Json], **content: Json) -> Step:
    call = said.text("tool_use_id")
    meta |= said.members(("tool_name", "tool"), ("tool_use_id", "corr"), ("duration_ms", "duration_ms"))
    step = _step(said, session, "tool_result", f"{call}/result" if call else None, meta, **content)
    if call:
        return replace(step, after=(Ref(call),))
    return step


def _permission(said: Said, root: str, session: str) -> Step:
    denied = said.text("hook_event_name") == "PermissionDenied"
    meta = said.members(("tool_name", "tool"), ("tool_use_id", "corr"))
    meta["decision"] = "deny" if denied else "ask"
    options = said.json.get("permission_suggestions")
    reason = said.text("reason")
    return _step(
        said, session, "permission", None, meta, args=said.json.get("tool_input"), options=options, text=reason
    )


def _subagent_start(said: Said, root: str, session: str) -> Step:
    meta = said.members(("agent_id", "agent_id"), ("agent_type", "agent_role"))
    return _step(said, root, "subagent_start", f"{UNNAMED}{said.text('agent_id')}/start", meta)


def _subagent_end(said: Said, root: str, session: str) -> Step:
    meta = said.members(("agent_id", "agent_id"), ("agent_type", "agent_role"))
    text = said.text("last_assistant_message")
    return _step(said, root, "subagent_end", f"{UNNAMED}{said.text('agent_id')}/end", meta, text=text)


def _compaction(said: Said, root: str, session: str) -> Step:
    """The compaction itself is the transcript's to tell: it says where the session ends and goes on."""
    meta = said.members(("trigger", "trigger"))
    meta["event"] = "compaction-begins" if said.text("hook_event_name") == "PreCompact" else "compaction-done"
    text, wish = said.text("compact_summary"), said.text("custom_instructions")
    return _step(said, session, "system", None, meta, text=text, instructions=wish)


def _stop(said: Said, root: str, session: str) -> Step:
    return _step(said, session, "assistant", None, {"final": True}, text=said.text("last_assistant_message"))


def _stop_failure(said: Said, root: str, session: str) -> Step:
    error = said.json.get("error")
    return _step(said, session, "warning", None, {"event": "turn-failed"}, error=error)


def _end(said: Said, root: str, session: str) -> Step:
    return _step(said, session, "system", None, {"event": "session-end"} | said.members(("reason", "reason")))


_STEPS = {
    "UserPromptSubmit": _prompt,
    "PreToolUse": _tool_call,
    "PostToolUse": _tool_result,
    "PostToolUseFailure": _tool_failure,
    "PermissionRequest": _permission,
    "PermissionDenied": _permission,
    "SubagentStart": _subagent_start,
    "SubagentStop": _subagent_end,
    "PreCompact": _compaction,
    "PostCompact": _compaction,
    "Stop": _stop,
    "StopFailure": _stop_failure,
    "SessionEnd": _end,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """Refuse the call, or have the user asked; without anyone to ask, Claude Code refuses too."""
    answer = answer_to(NAME, payload, decision)
    if answer is None:
        return SILENT
    return permission_reply(answer.effect.value, answer.reason)

"""Cursor's hooks, as commands in its hooks.json.

Owns the events, what each says, and how a call is refused. All of it is documented only: Cursor was not run here.

The events around every tool are used; those around shell commands, MCP calls and file edits tell the same once more.
`ask` is documented as not enforced there, so it is refused instead (_asks.py). A refusal is said twice, as JSON and as exit
code 2, either of which is documented to block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tallystick.agents.hooks import SILENT, HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of
from tallystick.agents.hooks.asks import answer_to
from tallystick.agents.hooks.common_steps import Telling, known, unnamed
from tallystick.agents.hooks.payload import Said, payload_of
from tallystick.agents.kit.reading import BadJson, int_of, list_of, loads_text, text_of
from tallystick.model.decision import Decision
from tallystick.model.step import Json, Step
from tallystick.seal.canonical import canonical

NAME = "cursor"
EVENTS = hooks_of(NAME).events
_TIMEOUT_SECONDS = 10
_BLOCK = 2


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The user's hooks, or a project's."""
    return hook_files(NAME, project=project)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The hooks with one command of ours an event."""
    from tallystick.agents.hooks import handlers
    from tallystick.agents.kit import json_text

    wanted: Mapping[str, Json] = {event: {"command": hook.shell(NAME), "timeout": _TIMEOUT_SECONDS} for event in EVENTS}
    return handlers.configure(content, wanted, json_text.COMMENTED, {"version": 1})


def remove(file: SettingsFile, content: bytes) -> bytes:
    """The hooks without our commands."""
    from tallystick.agents.hooks import handlers
    from tallystick.agents.kit import json_text

    return handlers.remove(content, json_text.COMMENTED)


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """The events with a command of ours."""
    from tallystick.agents.hooks import handlers
    from tallystick.agents.kit import json_text

    return handlers.hooked(content, json_text.COMMENTED)


def parse(data: bytes, event: str | None) -> Payload:
    """What a call of the hook said; the payload names its event."""
    said = payload_of(data)
    name = said.need("hook_event_name")
    session = said.text("conversation_id") or said.need("session_id")
    telling = Telling(
        said=said, agent=NAME, session=session, root=session, common=said.members(("generation_id", "run"))
    )
    meta = said.members(("model", "model"), ("cursor_version", "agent_version"))
    call = said.text("tool_use_id")
    asks = None
    if name == "preToolUse":
        asks = telling.asks(said.text("tool_name"), _args(said), cwd=_cwd(said), call_id=call)
    return Payload(
        event=name,
        session=session,
        events=(telling.opening(meta, cwd=_cwd(said)), *telling.steps(_EVENTS, name)),
        asks=asks,
        transcript=said.text("transcript_path"),
        begins=name == "sessionStart",
        ends=name == "sessionEnd",
    )


def _cwd(said: Said) -> str | None:
    roots = [text for root in list_of(said.json.get("workspace_roots")) if (text := text_of(root)) is not None]
    return said.text("cwd") or (roots[0] if roots else None)


def _args(said: Said) -> Json:
    return _object(said.json.get("tool_input"))


def _object(value: Json) -> Json:
    """Arguments that are JSON text, as the object they hold."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return loads_text(value).value
    except BadJson:
        return value


def _prompt(telling: Telling) -> Step:
    said = telling.said
    return telling.prompt(said.text("prompt"), unnamed(said.text("generation_id"), "prompt"))


def _tool_call(telling: Telling) -> Step:
    return telling.call(telling.said.text("tool_name"), telling.said.text("tool_use_id"), _args(telling.said))


def _tool_result(telling: Telling) -> Step:
    failed = telling.said.text("hook_event_name") == "postToolUseFailure"
    said = telling.said
    output = _object(said.json.get("tool_output", said.json.get("result_json")))
    meta = {"success": not failed, **known(duration_ms=int_of(said.json.get("duration")))}
    call = said.text("tool_use_id")
    if call:
        content = {}
    else:
        content = {"args": _args(said)}
    return telling.result(
        said.text("tool_name"), call, meta, output=output, error=said.json.get("error_message"), **content
    )


def _subagent(telling: Telling) -> Step:
    said = telling.said
    starts = said.text("hook_event_name") == "subagentStart"
    meta = said.members(("subagent_id", "child"), ("subagent_type", "agent_role"), ("status", "status"))
    source_id = unnamed(said.text("subagent_id"), "start" if starts else "end")
    if starts:
        text = said.text("task")
    else:
        text = said.text("summary")
    return telling.step("subagent_start" if starts else "subagent_end", source_id, meta, text=text)


def _compaction(telling: Telling) -> Step:
    return telling.system("compaction-begins", telling.said.members(("trigger", "trigger")))


def _answer(telling: Telling) -> Step:
    return telling.step("assistant", None, {}, text=telling.said.text("text"))


def _stop(telling: Telling) -> Step:
    return telling.system("turn-ended", telling.said.members(("status", "status")))


def _end(telling: Telling) -> Step:
    return telling.system("session-end", telling.said.members(("reason", "reason")))


_EVENTS: dict[str, Callable[[Telling], Step]] = {
    "beforeSubmitPrompt": _prompt,
    "preToolUse": _tool_call,
    "postToolUse": _tool_result,
    "postToolUseFailure": _tool_result,
    "subagentStart": _subagent,
    "subagentStop": _subagent,
    "preCompact": _compaction,
    "afterAgentResponse": _answer,
    "stop": _stop,
    "sessionEnd": _end,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """Refuse the call."""
    answer = answer_to(NAME, payload, decision)
    if answer is None:
        return SILENT
    said = {"permission": "deny", "user_message": answer.reason, "agent_message": answer.reason}
    return Reply(stdout=canonical(said), stderr=answer.reason.encode() + b"\n", exit_code=_BLOCK)

"""Codex CLI's hooks: command handlers in hooks.json, or in the [hooks] tables of config.toml where the user keeps them.

Owns the events, what each says, and how a call is refused. Facts observed with version 0.169.0: docs/agents/codex.md.

A sub-agent's thread is a session of its own, named as in its rollout. Tool calls have the ids of the rollout: the model's,
or in code mode those of the calls that the model's script makes. A failing command ends like one that succeeds, so a result
says nothing of success but what a report in its text says. `ask` is ignored by Codex, which then runs the call: it is
refused instead (_asks.py). Handlers run only once the user has trusted them (`/hooks` in Codex): we never write that.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from tallystick.agents.codex.outcomes import from_output
from tallystick.agents.hooks import SILENT, HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of
from tallystick.agents.hooks.answers import permission_reply
from tallystick.agents.hooks.asks import answer_to
from tallystick.agents.hooks.common_steps import Telling, unnamed
from tallystick.agents.hooks.payload import payload_of
from tallystick.agents.kit.answers import with_answer
from tallystick.model.decision import Call, Decision
from tallystick.model.step import Event, Json, Ref, Step

NAME = "codex"
EVENTS = hooks_of(NAME).events
_TIMEOUTS = {**dict.fromkeys(EVENTS, 10), "Interrupt": 3, "SessionEnd": 3}
"""Seconds. Codex warns at every start if these two are asked for more than 3."""
_SHELL = "Bash"
_MCP_RESULT = frozenset(("content", "isError", "structuredContent", "_meta"))


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The user's hooks.json and config.toml, or those of a project; `chosen` says which of them is written."""
    return hook_files(NAME, project=project)


def chosen(contents: dict[str, bytes]) -> frozenset[str]:
    """The names of the files that our handlers belong into.

    Codex reads both and complains of it at every start, so a user who keeps hooks in config.toml gets ours there, too.
    """
    from tallystick.agents.codex import hooks_toml as codex_toml
    from tallystick.agents.hooks import nested

    is_json = nested.remove(contents.get("json", b"")).strip()
    if codex_toml.has_hooks(contents.get("toml", b"")) and not is_json:
        return frozenset(("toml",))
    return frozenset(("json",))


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The file with one handler of ours an event."""
    from tallystick.agents.codex import hooks_toml as codex_toml
    from tallystick.agents.hooks import nested

    if file.name == "toml":
        return codex_toml.configure(content, EVENTS, hook.shell(NAME), timeouts=_TIMEOUTS)
    return nested.configure(content, EVENTS, hook.shell(NAME), nested.Form(timeout=_TIMEOUTS))


def remove(file: SettingsFile, content: bytes) -> bytes:
    """The file without our handlers."""
    from tallystick.agents.codex import hooks_toml as codex_toml
    from tallystick.agents.hooks import nested

    if file.name == "toml":
        return codex_toml.remove(content)
    return nested.remove(content)


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """The events with a handler of ours."""
    from tallystick.agents.codex import hooks_toml as codex_toml
    from tallystick.agents.hooks import nested

    if file.name == "toml":
        return codex_toml.hooked(content)
    return nested.hooked(content)


def parse(data: bytes, event: str | None) -> Payload:
    """What a call of the hook said; the payload names its event."""
    said = payload_of(data)
    name = said.need("hook_event_name")
    root = said.need("session_id")
    telling = Telling(
        said=said,
        agent=NAME,
        session=said.text("agent_id") or root,
        root=root,
        common=said.members(("turn_id", "run"), ("permission_mode", "permission_mode")),
    )
    make = _EVENTS.get(name)
    return Payload(
        event=name,
        session=telling.session,
        events=(*_openings(telling), *(make(telling) if make is not None else ())),
        asks=_asks(telling) if name == "PreToolUse" else None,
        transcript=said.text("agent_transcript_path") or said.text("transcript_path"),
        begins=name in ("SessionStart", "PostCompact"),
        ends=name in ("SessionEnd", "SubagentStop"),
    )


def _asks(telling: Telling) -> Call:
    said = telling.said
    args = said.json.get("tool_input")
    return telling.asks(said.text("tool_name"), args, cwd=said.text("cwd"), call_id=said.text("tool_use_id"))


def _openings(telling: Telling) -> list[Event]:
    """The session, opened only once. That of a sub-agent belongs to its start, which is reported in its parent."""
    said = telling.said
    top = replace(telling, session=telling.root).opening(said.members(("model", "model")), cwd=said.text("cwd"))
    if telling.session == telling.root:
        return [top]
    start = f"{telling.session}/start"
    is_start = said.text("hook_event_name") == "SubagentStart"
    meta = said.members(("model", "model"), ("agent_type", "agent_role"))
    child = telling.child(Ref(start, session=telling.root), meta)
    if is_start:
        return [top, _in_parent(telling, "subagent_start", start), child]
    return [child]


def _in_parent(telling: Telling, type_: str, source_id: str | None, **content: Json) -> Step:
    meta = telling.said.members(("agent_id", "child"), ("agent_type", "agent_role"), ("model", "model"))
    return replace(telling, session=telling.root, common={}).step(type_, source_id, meta, **content)


def _prompt(telling: Telling) -> list[Event]:
    """A prompt. No one types into a sub-agent: what it is given is its parent's task."""
    said = telling.said
    origin = None
    if telling.session != telling.root:
        origin = "parent"
    return [telling.prompt(said.text("prompt"), unnamed(said.text("turn_id")), origin)]


def _tool_call(telling: Telling) -> list[Event]:
    said = telling.said
    return [telling.call(said.text("tool_name"), said.text("tool_use_id"), said.json.get("tool_input"))]


def _tool_result(telling: Telling) -> list[Event]:
    """The result. Of a shell call it is the bare output, which may look like a report and is none."""
    said = telling.said
    tool, output = said.text("tool_name"), said.json.get("tool_response")
    meta = {}
    if tool != _SHELL:
        meta = from_output(output).meta()
    if isinstance(output, dict) and output.keys() <= _MCP_RESULT and isinstance(output.get("content"), list):
        meta, output = {"success": output.get("isError") is not True}, output["content"]
    return list(with_answer("codex", telling.result(tool, said.text("tool_use_id"), meta, output=output)))


def _permission(telling: Telling) -> list[Event]:
    said = telling.said
    meta = {**said.members(("tool_name", "tool")), "decision": "ask"}
    return [telling.step("permission", None, meta, args=said.json.get("tool_input"))]


def _compaction(telling: Telling) -> list[Event]:
    """The compaction itself is the rollout's to tell: it says where the session ends and goes on."""
    begins = telling.said.text("hook_event_name") == "PreCompact"
    return [
        telling.system(
            "compaction-begins" if begins else "compaction-done", telling.said.members(("trigger", "trigger"))
        )
    ]


def _subagent_end(telling: Telling) -> list[Event]:
    text = telling.said.text("last_assistant_message")
    return [_in_parent(telling, "subagent_end", unnamed(telling.session, "end"), text=text)]


def _stop(telling: Telling) -> list[Event]:
    """The last words of a turn; a hook may make it go on, and end once more."""
    said = telling.said
    again = said.json.get("stop_hook_active") is True
    if again:
        source_id = None
    else:
        source_id = unnamed(said.text("turn_id"), "stop")
    return [telling.step("assistant", source_id, {"final": True}, text=said.text("last_assistant_message"))]


def _interrupt(telling: Telling) -> list[Event]:
    return [telling.system("interrupted")]


def _end(telling: Telling) -> list[Event]:
    return [telling.system("session-end", telling.said.members(("reason", "reason")))]


_EVENTS: dict[str, Callable[[Telling], list[Event]]] = {
    "UserPromptSubmit": _prompt,
    "PreToolUse": _tool_call,
    "PermissionRequest": _permission,
    "PostToolUse": _tool_result,
    "PreCompact": _compaction,
    "PostCompact": _compaction,
    "SubagentStop": _subagent_end,
    "Stop": _stop,
    "Interrupt": _interrupt,
    "SessionEnd": _end,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """Refuse the call."""
    answer = answer_to(NAME, payload, decision)
    if answer is None:
        return SILENT
    return permission_reply(answer.effect.value, answer.reason)

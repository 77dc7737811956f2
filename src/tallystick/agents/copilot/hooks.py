"""GitHub Copilot CLI's hooks, as command handlers in its settings.json, or in a file of their own in a repository.

Owns the events, what each says, and how a call is refused. Facts observed with version 1.0.102: docs/agents/copilot.md.

Events are subscribed to by their camelCase names: that form calls tools as the event log does, and has the time in
milliseconds; it lacks the event's name, which stands on the command line. Calls have no ids here: the recorder pairs calls
and results by tool, arguments and order. A sub-agent has a session id of its own and names its parent. A hook that fails,
or is not there, refuses every call: our command ends with 0 where Tallystick was removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from tallystick.agents.hooks import SILENT, HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of
from tallystick.agents.hooks.asks import answer_to
from tallystick.agents.hooks.common_steps import Telling, unnamed
from tallystick.agents.hooks.payload import Said, payload_of
from tallystick.agents.kit.columns import moment_ms
from tallystick.agents.kit.outcomes import code_after, ended
from tallystick.agents.kit.reading import dict_of, text_of
from tallystick.model.decision import Decision
from tallystick.model.step import Event, Json, Opening, Ref, Step
from tallystick.seal.canonical import canonical

NAME = "copilot"
EVENTS = hooks_of(NAME).events
_TIMEOUT_SECONDS = 10
_SHELLS = frozenset(("bash", "powershell"))
_CODE = re.compile(r"^<shellId: \S{1,40} completed with exit code (-?\d{1,9})>$", re.MULTILINE | re.ASCII)
_SUCCESS = {"success": True, "failure": False, "denied": False, "rejected": False}


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The user's settings; in a repository a file of ours beside other hooks."""
    return hook_files(NAME, project=project)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The settings with one handler of ours an event."""
    from tallystick.agents.hooks import handlers
    from tallystick.agents.kit import json_text

    return handlers.configure(content, _wanted(hook), json_text.COMMENTED, {"version": 1} if file.ours else None)


def _wanted(hook: HookCommand) -> Mapping[str, Json]:
    return {
        event: {"type": "command", "bash": hook.shell(NAME, event), "timeoutSec": _TIMEOUT_SECONDS} for event in EVENTS
    }


def remove(file: SettingsFile, content: bytes) -> bytes:
    """The settings without our handlers; nothing, of a file that is ours alone."""
    from tallystick.agents.hooks import handlers
    from tallystick.agents.kit import json_text

    rest = handlers.remove(content, json_text.COMMENTED)
    if file.ours and rest != content and b'"hooks"' not in rest:
        return b""
    return rest


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """The events with a handler of ours."""
    from tallystick.agents.hooks import handlers
    from tallystick.agents.kit import json_text

    return handlers.hooked(content, json_text.COMMENTED)


def parse(data: bytes, event: str | None) -> Payload:
    """What a call of the hook said; `event` is its name."""
    said = payload_of(data)
    telling = _telling(said)
    args, cwd = said.json.get("toolArgs"), said.text("cwd")
    return Payload(
        event=event or "",
        session=telling.session,
        events=(*_openings(telling), *telling.steps(_EVENTS, event)),
        asks=telling.asks(said.text("toolName"), args, cwd=cwd) if event == "preToolUse" else None,
        transcript=said.text("transcriptPath") if telling.session == telling.root else None,
        begins=event == "sessionStart",
        ends=event == "sessionEnd",
        timed=telling.ts is not None,
    )


def _telling(said: Said) -> Telling:
    """Whose event it is. A sub-agent's own events have its id as the session's, those about it its parent's."""
    session, agent = said.need("sessionId"), said.text("agentId")
    ts = moment_ms(said.json.get("timestamp"))
    root = said.text("parentAgentId") or session
    name = f"{root}/{agent}"
    if agent is None:
        name = session
    return Telling(said=said, agent=NAME, session=name, root=root if agent else session, ts=ts)


def _openings(telling: Telling) -> list[Event]:
    """The session, opened only once; with its parent's, which may be told of later."""
    said, top = telling.said, replace(telling, session=telling.root)
    openings: list[Event] = [top.opening({}, cwd=said.text("cwd"))]
    if telling.session != telling.root:
        openings.append(_child(telling))
    return openings


def _child(telling: Telling) -> Opening:
    return telling.child(Ref(session=telling.root), telling.said.members(("agentType", "agent_role")))


def _prompt(telling: Telling) -> Step:
    """A prompt; no one types into a sub-agent."""
    return telling.prompt(telling.said.text("prompt"), None, None if telling.session == telling.root else "parent")


def _tool_call(telling: Telling) -> Step:
    return telling.call(telling.said.text("toolName"), None, telling.said.json.get("toolArgs"))


def _tool_result(telling: Telling) -> Step:
    said, result = telling.said, dict_of(telling.said.json.get("toolResult"))
    output, code = result.get("textResultForLlm", said.json.get("toolResult")), None
    if said.text("toolName") in _SHELLS:
        code = code_after(output, _CODE)
    meta = ended(_SUCCESS.get(text_of(result.get("resultType")) or ""), code)
    return telling.result(said.text("toolName"), None, meta, args=said.json.get("toolArgs"), output=output)


def _tool_failure(telling: Telling) -> Step:
    said = telling.said
    content = {"args": said.json.get("toolArgs"), "output": said.json.get("error")}
    return telling.result(said.text("toolName"), None, {"success": False}, **content)


def _subagent_start(telling: Telling) -> Step:
    return _in_parent(telling, "subagent_start", "start", None)


def _subagent_end(telling: Telling) -> Step:
    return _in_parent(telling, "subagent_end", "end", telling.said.text("response"))


def _in_parent(telling: Telling, type_: str, when: str, text: str | None) -> Step:
    said = telling.said
    meta = said.members(("agentId", "child"), ("agentType", "agent_role"))
    return replace(telling, session=telling.root).step(type_, unnamed(said.text("agentId"), when), meta, text=text)


def _compaction(telling: Telling) -> Step:
    return telling.system("compaction-begins", telling.said.members(("trigger", "trigger")))


def _stop(telling: Telling) -> Step:
    return telling.system("turn-ended", telling.said.members(("stopReason", "reason")))


def _error(telling: Telling) -> Step:
    """An error. The stack, which names files of the program, stays out."""
    said, error = telling.said, telling.said.json.get("error")
    text = text_of(dict_of(error).get("message")) or text_of(error)
    return telling.step("warning", None, said.members(("errorContext", "subtype")), error=text)


def _end(telling: Telling) -> Step:
    return telling.system("session-end", telling.said.members(("reason", "reason")))


_EVENTS: dict[str, Callable[[Telling], Step]] = {
    "userPromptSubmitted": _prompt,
    "preToolUse": _tool_call,
    "postToolUse": _tool_result,
    "postToolUseFailure": _tool_failure,
    "subagentStart": _subagent_start,
    "subagentStop": _subagent_end,
    "preCompact": _compaction,
    "agentStop": _stop,
    "errorOccurred": _error,
    "sessionEnd": _end,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """Refuse the call, or have the user asked; without anyone to ask, Copilot refuses too."""
    answer = answer_to(NAME, payload, decision)
    if answer is None:
        return SILENT
    said = {"permissionDecision": answer.effect.value, "permissionDecisionReason": answer.reason}
    return Reply(stdout=canonical(said))

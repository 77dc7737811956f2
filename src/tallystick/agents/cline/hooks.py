"""Cline's hooks: one executable file an event, named after it.

Owns the events, what each says, and how a call is refused. Facts observed with version 3.0.65: docs/agents/cline.md.

Calls have the model's ids, as in the session's document. There is no way to refuse one call: the answer ends the whole
run, and no one can be asked (_asks.py). A hook that fails or hangs does not stop Cline, which waits long for it. A
folder has room for one file an event: where the user has one, it stays, and we do not see that event.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from tallystick.agents.cline.transcript import outcome
from tallystick.agents.hooks import SILENT, HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of
from tallystick.agents.hooks.asks import answer_to
from tallystick.agents.hooks.common_steps import Telling, known
from tallystick.agents.hooks.payload import Said, payload_of
from tallystick.agents.kit.reading import dict_of, int_of, list_of, text_of
from tallystick.model.decision import Decision
from tallystick.model.step import Event, Json, Ref, Step
from tallystick.seal.canonical import canonical

NAME = "cline"
EVENTS = hooks_of(NAME).events
_HEAD = b"#!/bin/sh\n# Tallystick records what Cline does. `tally uninstall cline` removes this file.\n"


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """A file an event, in the user's folder or a project's."""
    return hook_files(NAME, project=project)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """Our script; a script of the user's stays as it is."""
    if _is_theirs(content):
        return content
    return _HEAD + hook.shell(NAME, file.name).encode() + b"\n"


def remove(file: SettingsFile, content: bytes) -> bytes:
    """Nothing, where the script is ours."""
    if _is_theirs(content):
        return content
    return b""


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """The event, if the script is ours."""
    if content and not _is_theirs(content):
        return (file.name,)
    return ()


def _is_theirs(content: bytes) -> bool:
    from tallystick.agents.hooks.hook_identity import is_ours

    lines = content.decode("utf-8", "replace").splitlines()
    return bool(content.strip()) and not any(map(is_ours, lines))


def parse(data: bytes, event: str | None) -> Payload:
    """What a call of the hook said; `event` is its name."""
    said = payload_of(data)
    telling = _telling(said)
    call = dict_of(said.json.get("tool_call"))
    name, call_id = text_of(call.get("name")), text_of(call.get("id"))
    asks = None
    if event == "PreToolUse":
        asks = telling.asks(name, call.get("input"), cwd=_cwd(said), call_id=call_id)
    return Payload(
        event=event or "",
        session=telling.session,
        events=(_opening(telling), *telling.steps(_EVENTS, event)),
        asks=asks,
        begins=event in ("TaskStart", "TaskResume"),
        ends=event == "TaskComplete" or (event == "SessionShutdown" and telling.session == telling.root),
        timed=telling.ts is not None,
    )


def _telling(said: Said) -> Telling:
    """Whose event it is: a sub-agent says that it has a parent. Its session is named as in its document."""
    root = text_of(dict_of(said.json.get("sessionContext")).get("rootSessionId")) or said.need("taskId")
    agent = None
    if said.text("parent_agent_id"):
        agent = said.text("agent_id")
    session = root
    if agent:
        session = f"{root}__{agent}"
    return Telling(said=said, agent=NAME, session=session, root=root, ts=said.text("timestamp"))


def _opening(telling: Telling) -> Event:
    if telling.session != telling.root:
        return telling.child(Ref(session=telling.root), {})
    return telling.opening(known(agent_version=telling.said.text("clineVersion")), cwd=_cwd(telling.said))


def _cwd(said: Said) -> str | None:
    roots = [text for root in list_of(said.json.get("workspaceRoots")) if (text := text_of(root)) is not None]
    if roots:
        return roots[0]
    return None


def _prompt(telling: Telling) -> Step:
    said = telling.said
    text = text_of(dict_of(said.json.get("userPromptSubmit")).get("prompt")) or said.text("prompt")
    return telling.prompt(text, None)


def _tool_call(telling: Telling) -> Step:
    call = dict_of(telling.said.json.get("tool_call"))
    return telling.call(text_of(call.get("name")), text_of(call.get("id")), call.get("input"))


def _tool_result(telling: Telling) -> Step:
    result = dict_of(telling.said.json.get("tool_result"))
    output, error = result.get("output"), text_of(result.get("error"))
    told = dict_of(telling.said.json.get("postToolUse")).get("success")
    meta = {**outcome({"content": output}), "duration_ms": int_of(result.get("durationMs"))}
    if meta.get("success") is None and isinstance(told, bool):  # it is true of a call that an interrupt ended, too
        meta["success"] = told
    meta = known(**meta)
    return telling.result(
        text_of(result.get("name")), text_of(result.get("id")), meta, output=_shown(output), error=error
    )


def _shown(output: Json) -> Json:
    """What a tool gave, as the session's document has it: objects as JSON text."""
    if isinstance(output, dict):
        return json.dumps(output, ensure_ascii=False, separators=(",", ":"))
    return output


def _compaction(telling: Telling) -> Step:
    return telling.system("compaction-begins")


def _complete(telling: Telling) -> Step:
    turn: dict[str, Json] = dict_of(telling.said.json.get("turn"))
    meta: dict[str, Json] = {"final": True, **known(status=text_of(turn.get("status")))}
    return telling.step("assistant", None, meta, text=text_of(turn.get("outputText")))


def _trouble(telling: Telling) -> Step:
    """The run was cancelled, or failed."""
    said = telling.said
    error = said.json.get("error")
    text = text_of(dict_of(error).get("message")) or text_of(error)
    return telling.step("warning", None, known(subtype=said.text("hookName")), error=text)


def _end(telling: Telling) -> Step:
    return telling.system("session-end", known(reason=telling.said.text("reason")))


_EVENTS: dict[str, Callable[[Telling], Step]] = {
    "UserPromptSubmit": _prompt,
    "PreToolUse": _tool_call,
    "PostToolUse": _tool_result,
    "PreCompact": _compaction,
    "TaskComplete": _complete,
    "TaskCancel": _trouble,
    "TaskError": _trouble,
    "SessionShutdown": _end,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """End the run: Cline knows no way to refuse a single call."""
    answer = answer_to(NAME, payload, decision)
    if answer is None:
        return SILENT
    return Reply(stdout=canonical({"cancel": True, "errorMessage": answer.reason}))

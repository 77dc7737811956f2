"""pi's hooks: an extension of ours in its folder, which runs inside pi.

Owns the extension's text, what each of its payloads says, and how a call is refused: `tool_call` gives `{block, reason}`.
Facts observed with version 0.73.1: docs/agents/pi.md. Calls have the model's ids, as in the transcript; prompts have none
here.
"""

from __future__ import annotations

from msgspec.structs import replace

from tallystick.agents.hooks import SILENT, HookCommand, Payload, Reply, SettingsFile, _javascript
from tallystick.agents.hooks._payload import Said, payload_of
from tallystick.agents.reading import dict_of, list_of, text_of
from tallystick.errors import FormatError
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Json, Opening, Ref, Source, Step
from tallystick.seal.canonical import canonical

NAME = "pi"
EVENTS = ("session_start", "input", "tool_call", "tool_result", "user_bash", "session_compact", "session_shutdown")

_EXTENSION = r"""
const EVENTS = ["session_start", "input", "tool_result", "user_bash", "session_compact", "session_shutdown"]

export default function (pi) {
  const said = (event, context) => ({
    hook: event.type,
    event: event.type === "session_compact" ? { type: event.type } : event,
    session: context?.sessionManager?.getSessionId?.(),
    file: context?.sessionManager?.getSessionFile?.(),
    cwd: context?.cwd,
    at: Date.now(),
  })
  for (const name of EVENTS) {
    pi.on(name, async (event, context) => {
      await deliver(said(event, context))
    })
  }
  pi.on("tool_call", async (event, context) => {
    const reason = await refusal(said(event, context))
    if (reason) return { block: true, reason }
  })
}
"""


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The extension's file: pi loads every file of that folder."""
    if project:
        return (SettingsFile(path=".pi/extensions/tallystick.js", ours=True),)
    return (SettingsFile(path=".pi/agent/extensions/tallystick.js", ours=True),)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The extension.

    Raises:
        FormatError: a file of that name is somebody else's.
    """
    if content and not _javascript.is_ours(content):
        raise FormatError(f"{file.path} is not an extension of ours", hint="move it away, then install again")
    return _javascript.text(NAME, hook, _EXTENSION)


def remove(file: SettingsFile, content: bytes) -> bytes:
    """Nothing, if the file is ours."""
    return b"" if _javascript.is_ours(content) else content


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """All events, if the file is ours."""
    return EVENTS if _javascript.is_ours(content) else ()


def parse(data: bytes, event: str | None) -> Payload:
    """What our extension said: `{hook, event, session, file, cwd, at}`, with pi's own event in it."""
    said = payload_of(data)
    name, session = said.need("hook"), said.need("session")
    given = Said(dict_of(said.json.get("event")))
    make = _STEPS.get(name)
    opening = Opening(session=session, agent=NAME, source=Source.HOOK, values=said.values(("cwd", "personal.cwd")))
    return Payload(
        event=name,
        session=session,
        events=(opening,) if make is None else (opening, make(given, session)),
        asks=_call(said, given, session) if name == "tool_call" else None,
        transcript=said.text("file"),
        begins=name in ("session_start", "session_compact"),
        ends=name == "session_shutdown",
        timed=True,
    )


def _step(session: str, kind: str, source_id: str | None, meta: dict[str, Json], **content: Json) -> Step:
    values = {f"content.{name}": value for name, value in content.items() if value is not None}
    return Step(session=session, type=kind, source=Source.HOOK, source_id=source_id, meta=meta, values=values)


def _prompt(given: Said, session: str) -> Step:
    step = _step(session, "user", None, {}, text=given.text("text"))
    return replace(step, opens_request=True)


def _call(said: Said, given: Said, session: str) -> Call:
    return Call(
        agent=NAME,
        session=session,
        tool=given.text("toolName") or "?",
        args=given.json.get("input"),
        cwd=said.text("cwd"),
        call_id=given.text("toolCallId"),
    )


def _tool_call(given: Said, session: str) -> Step:
    meta = given.members(("toolName", "tool"), ("toolCallId", "corr"))
    return _step(session, "tool_call", given.text("toolCallId"), meta, args=given.json.get("input"))


def _tool_result(given: Said, session: str) -> Step:
    meta = given.members(("toolName", "tool"), ("toolCallId", "corr"))
    meta["success"] = given.json.get("isError") is not True
    call = given.text("toolCallId")
    output = _output(given.json.get("content"))
    step = _step(session, "tool_result", f"{call}/result" if call else None, meta, output=output)
    return replace(step, after=(Ref(call),)) if call else step


def _output(content: Json) -> Json:
    """Blocks of text alone are their text."""
    blocks = [dict_of(block) for block in list_of(content)]
    texts = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
    if blocks and len(texts) == len(blocks):
        return "\n".join(text or "" for text in texts)
    return [{"type": block.get("type")} if "data" in block else block for block in blocks] or content


def _typed_command(given: Said, session: str) -> Step:
    return _step(session, "user", None, {"origin": "command"}, text=given.text("command"))


_STEPS = {"input": _prompt, "tool_call": _tool_call, "tool_result": _tool_result, "user_bash": _typed_command}


def reply(payload: Payload, decision: Decision) -> Reply:
    """What our extension gives back. It cannot have the user asked, so `ask` is a refusal that says so."""
    if payload.asks is None or decision.effect not in (Effect.ASK, Effect.DENY):
        return SILENT
    reason = decision.reason or "refused by policy"
    if decision.effect is Effect.ASK:
        reason += " (pi has no way to ask for this call: do it yourself, or allow it by policy)"
    return Reply(stdout=canonical({"refuse": reason}))

"""opencode's hooks: a plugin of ours in its configuration folder, which runs inside opencode.

Owns the plugin's text, what each of its payloads says, and how a call is refused: `tool.execute.before` throws. Facts
observed with version 1.18.33: docs/agents/opencode.md. Calls and messages have opencode's own ids, as in its database.
"""

from __future__ import annotations

from msgspec.structs import replace

from tallystick.agents.hooks import SILENT, HookCommand, Payload, Reply, SettingsFile, _javascript
from tallystick.agents.hooks._payload import Said, payload_of
from tallystick.agents.reading import dict_of, int_of, list_of, text_of
from tallystick.errors import FormatError
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Event, Json, Opening, Ref, SessionKind, Source, Step
from tallystick.seal.canonical import canonical

NAME = "opencode"
EVENTS = (
    "session.created",
    "chat.message",
    "tool.execute.before",
    "tool.execute.after",
    "permission.asked",
    "permission.replied",
    "session.compacted",
    "session.error",
    "session.idle",
    "session.deleted",
)

_PLUGIN = r"""
const EVENTS = new Set([
  "session.created",
  "permission.asked",
  "permission.replied",
  "session.compacted",
  "session.error",
  "session.idle",
  "session.deleted",
])
const DATABASE = (process.env.XDG_DATA_HOME ?? homedir() + "/.local/share") + "/opencode/opencode.db"

export const Tallystick = async ({ directory }) => {
  const said = (hook, input, output) => ({ hook, input, output, directory, database: DATABASE, at: Date.now() })
  return {
    "chat.message": async (input, output) => {
      await deliver(said("chat.message", input, output))
    },
    "tool.execute.before": async (input, output) => {
      const reason = await refusal(said("tool.execute.before", input, output))
      if (reason) throw new Error(reason)
    },
    "tool.execute.after": async (input, output) => {
      await deliver(said("tool.execute.after", input, output))
    },
    event: async ({ event }) => {
      if (EVENTS.has(event.type)) await deliver(said(event.type, event.properties, null))
    },
  }
}
"""


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The plugin's file: opencode loads every file of that folder."""
    if project:
        return (SettingsFile(path=".opencode/plugins/tallystick.js", ours=True),)
    return (SettingsFile(path=".config/opencode/plugins/tallystick.js", ours=True, variable="XDG_CONFIG_HOME"),)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The plugin.

    Raises:
        FormatError: a file of that name is somebody else's.
    """
    if content and not _javascript.is_ours(content):
        raise FormatError(f"{file.path} is not a plugin of ours", hint="move it away, then install again")
    return _javascript.text(NAME, hook, _PLUGIN)


def remove(file: SettingsFile, content: bytes) -> bytes:
    """Nothing, if the file is ours."""
    return b"" if _javascript.is_ours(content) else content


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """All events, if the file is ours."""
    return EVENTS if _javascript.is_ours(content) else ()


def parse(data: bytes, event: str | None) -> Payload:
    """What our plugin said: `{hook, input, output, directory, database, at}`, with opencode's own objects in it."""
    said = payload_of(data)
    name = said.need("hook")
    given = Said(dict_of(said.json.get("input")))
    session = given.text("sessionID") or text_of(dict_of(given.json.get("info")).get("id"))
    if session is None:
        raise FormatError(f"opencode's {name} names no session", hint="is this version supported?")
    make = _STEPS.get(name)
    events: list[Event] = [_opening(said, given, session)]
    if make is not None:
        events += make(said, given, session)
    return Payload(
        event=name,
        session=session,
        events=tuple(events),
        asks=_call(said, given, session) if name == "tool.execute.before" else None,
        transcript=said.text("database"),
        begins=name in ("session.created", "session.compacted"),
        timed=True,
    )


def _opening(said: Said, given: Said, session: str) -> Opening:
    info = Said(dict_of(given.json.get("info")))
    parent = info.text("parentID")
    meta = info.members(("version", "agent_version"), ("agent", "agent_role"))
    return Opening(
        session=session,
        agent=NAME,
        kind=SessionKind.ROOT if parent is None else SessionKind.CHILD,
        parent=None if parent is None else Ref(session=parent),
        source=Source.HOOK,
        meta=meta,
        values=said.values(("directory", "personal.cwd")),
    )


def _step(session: str, kind: str, source_id: str | None, meta: dict[str, Json], **content: Json) -> Step:
    values = {f"content.{name}": value for name, value in content.items() if value is not None}
    kept = {name: value for name, value in meta.items() if value is not None}
    return Step(session=session, type=kind, source=Source.HOOK, source_id=source_id, meta=kept, values=values)


def _prompt(said: Said, given: Said, session: str) -> list[Event]:
    output = dict_of(said.json.get("output"))
    message = Said(dict_of(output.get("message")))
    model = dict_of(message.json.get("model"))
    parts = [dict_of(part) for part in list_of(output.get("parts"))]
    typed = [
        text_of(part.get("text")) or "" for part in parts if part.get("type") == "text" and not part.get("synthetic")
    ]
    meta = {
        "agent_role": message.text("agent"),
        "model": text_of(model.get("modelID")),
        "provider": text_of(model.get("providerID")),
    }
    step = _step(session, "user", message.text("id"), meta, text="\n".join(typed))
    return [replace(step, opens_request=True)]


def _args(said: Said, given: Said) -> Json:
    output = dict_of(said.json.get("output"))
    return output.get("args", given.json.get("args"))


def _call(said: Said, given: Said, session: str) -> Call:
    return Call(
        agent=NAME,
        session=session,
        tool=given.text("tool") or "?",
        args=_args(said, given),
        cwd=said.text("directory"),
        call_id=given.text("callID"),
    )


def _tool_call(said: Said, given: Said, session: str) -> list[Event]:
    meta = given.members(("tool", "tool"), ("callID", "corr"))
    return [_step(session, "tool_call", given.text("callID"), meta, args=_args(said, given))]


def _tool_result(said: Said, given: Said, session: str) -> list[Event]:
    output = Said(dict_of(said.json.get("output")))
    metadata = dict_of(output.json.get("metadata"))
    code = int_of(metadata.get("exit"))
    shown = output.json.get("output")
    meta = {**given.members(("tool", "tool"), ("callID", "corr")), "success": code in (None, 0), "exit_code": code}
    rest = {key: value for key, value in metadata.items() if value != shown} or None
    call = given.text("callID")
    source_id = f"{call}/result" if call else None
    step = _step(session, "tool_result", source_id, meta, output=shown, title=output.text("title"), result=rest)
    return [replace(step, after=(Ref(call),)) if call else step]


def _permission(said: Said, given: Said, session: str) -> list[Event]:
    request = given.text("id") or given.text("requestID")
    asked = said.text("hook") == "permission.asked"
    tool = dict_of(given.json.get("tool"))
    meta: dict[str, Json] = {"permission": given.text("permission"), "corr": text_of(tool.get("callID"))}
    meta["decision"] = "ask" if asked else given.text("reply")
    source_id = None if request is None else request if asked else f"{request}/reply"
    return [
        _step(
            session, "permission", source_id, meta, patterns=given.json.get("patterns"), args=given.json.get("metadata")
        )
    ]


def _error(said: Said, given: Said, session: str) -> list[Event]:
    return [_step(session, "warning", None, {"event": "session-error"}, error=given.json.get("error"))]


_STEPS = {
    "chat.message": _prompt,
    "tool.execute.before": _tool_call,
    "tool.execute.after": _tool_result,
    "permission.asked": _permission,
    "permission.replied": _permission,
    "session.error": _error,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """What our plugin throws. It cannot have the user asked, so `ask` is a refusal that says so."""
    if payload.asks is None or decision.effect not in (Effect.ASK, Effect.DENY):
        return SILENT
    reason = decision.reason or "refused by policy"
    if decision.effect is Effect.ASK:
        reason += " (opencode has no way to ask for this call: do it yourself, or allow it by policy)"
    return Reply(stdout=canonical({"refuse": reason}))

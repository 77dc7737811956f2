"""opencode's hooks: a plugin of ours in its configuration folder, which runs inside opencode.

Owns the plugin's text, what each of its payloads says, and how a call is refused: `tool.execute.before` throws. Facts
observed with version 1.18.33: docs/agents/opencode.md. Calls and messages have opencode's own ids, as in its database. A
call that is refused gives no result here, only in the database.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from msgspec.structs import replace

from tallystick.agents.hooks import HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of, javascript, plugin
from tallystick.agents.hooks.common_steps import Telling, known
from tallystick.agents.hooks.payload import Said, payload_of
from tallystick.agents.kit.reading import dict_of, int_of, list_of, text_of
from tallystick.errors import FormatError
from tallystick.model.decision import Decision
from tallystick.model.step import Json, Opening, Ref, Step

NAME = "opencode"
_CALL = hooks_of(NAME).before_call
EVENTS = hooks_of(NAME).events
_FROM_THE_BUS = EVENTS[3:]
"""What opencode reports to plugins as events; the first three are functions of the plugin."""

_PLUGIN = r"""
const EVENTS = new Set(@EVENTS@)
const DATABASE = (process.env.XDG_DATA_HOME ?? homedir() + "/.local/share") + "/opencode/opencode.db"
const parents = new Map() // of sub-agents whose prompt is still to come: it was not typed

export const Tallystick = async ({ directory }) => {
  const said = (hook, input, output) => ({ hook, input, output, directory, database: DATABASE, at: Date.now() })
  return {
    "chat.message": async (input, output) => {
      const parent = parents.get(input?.sessionID)
      parents.delete(input?.sessionID)
      await deliver({ ...said("chat.message", input, output), parent })
    },
    "tool.execute.before": async (input, output) => {
      const reason = await refusal(said("tool.execute.before", input, output))
      if (reason) throw new Error(reason)
    },
    "tool.execute.after": async (input, output) => {
      await deliver(said("tool.execute.after", input, output))
    },
    event: async ({ event }) => {
      if (!EVENTS.has(event?.type)) return
      const info = event.properties?.info
      if (event.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID)
      await deliver(said(event.type, event.properties, null))
    },
  }
}
""".replace("@EVENTS@", json.dumps(_FROM_THE_BUS))


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The plugin's file: opencode loads every file of that folder."""
    return hook_files(NAME, project=project)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The plugin. Raises FormatError: a file of that name is someone else's."""
    return plugin.replaced(file, content, javascript.text(NAME, hook, _PLUGIN))


def remove(file: SettingsFile, content: bytes) -> bytes:
    """Nothing, if the file is ours."""
    return plugin.emptied(content)


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """All events, if the file is ours."""
    return plugin.hooked(content, EVENTS)


def parse(data: bytes, event: str | None) -> Payload:
    """What our plugin said: `{hook, input, output, directory, database, parent, at}`, with opencode's own objects in it."""
    said = payload_of(data)
    name, cwd = said.need("hook"), said.text("directory")
    given = Said(dict_of(said.json.get("input")))
    session = given.text("sessionID") or text_of(dict_of(given.json.get("info")).get("id"))
    if not session:
        raise FormatError(f"opencode's {name} names no session", hint="is this version supported?")
    telling = Telling(said=given, agent=NAME, session=session, root=session)
    make = _STEPS.get(name)
    call, args = given.text("callID"), _args(telling, said)
    return Payload(
        event=name,
        session=session,
        events=(_opening(telling, said), *([make(telling, said)] if make is not None else ())),
        asks=telling.asks(given.text("tool"), args, cwd=cwd, call_id=call) if name == _CALL else None,
        transcript=said.text("database"),
        begins=name in ("session.created", "session.compacted"),
        timed=True,
    )


def _opening(telling: Telling, said: Said) -> Opening:
    info = Said(dict_of(telling.said.json.get("info")))
    parent = info.text("parentID") or said.text("parent")
    meta = info.members(("version", "agent_version"), ("agent", "agent_role"))
    where = said.values(("directory", "personal.cwd"))
    if parent is None:
        opening = telling.opening(meta)
    else:
        opening = telling.child(Ref(session=parent), meta)
    return replace(opening, values=where)


def _prompt(telling: Telling, said: Said) -> Step:
    """What was typed: what opencode added to it is marked as synthetic. The first prompt of a sub-agent is its parent's."""
    output = dict_of(said.json.get("output"))
    message = Said(dict_of(output.get("message")))
    parts = [dict_of(part) for part in list_of(output.get("parts"))]
    typed = [
        text_of(part.get("text")) or "" for part in parts if part.get("type") == "text" and not part.get("synthetic")
    ]
    model = Said(dict_of(message.json.get("model")))
    meta = message.members(("agent", "agent_role")) | model.members(("modelID", "model"), ("providerID", "provider"))
    step = telling.prompt("\n".join(typed), message.text("id"), "parent" if said.text("parent") else None)
    return replace(step, meta={**step.meta, **meta})


def _args(telling: Telling, said: Said) -> Json:
    """Arguments as the tool gets them: other plugins may have changed them before us."""
    return dict_of(said.json.get("output")).get("args", telling.said.json.get("args"))


def _tool_call(telling: Telling, said: Said) -> Step:
    return telling.call(telling.said.text("tool"), telling.said.text("callID"), _args(telling, said))


def _tool_result(telling: Telling, said: Said) -> Step:
    output, call = Said(dict_of(said.json.get("output"))), telling.said.text("callID")
    metadata, shown = dict_of(output.json.get("metadata")), output.json.get("output")
    code = int_of(metadata.get("exit"))
    content: dict[str, Json] = {
        "output": shown,
        "title": output.text("title"),
        "result": {key: value for key, value in metadata.items() if value != shown} or None,
    }
    if call is None:
        content["args"] = _args(telling, said)
    meta = known(success=code in (None, 0), exit_code=code)
    return telling.result(telling.said.text("tool"), call, meta, **content)


def _permission(telling: Telling, said: Said) -> Step:
    """A question to the user, or the answer to one, which names the question by another member."""
    given, asked = telling.said, said.text("hook") == "permission.asked"
    request = given.text("id") or given.text("requestID")
    decision, source_id = given.text("reply"), request
    if asked:
        decision = "ask"
    elif request is not None:
        source_id = f"{request}/reply"
    meta = known(
        permission=given.text("permission"),
        corr=text_of(dict_of(given.json.get("tool")).get("callID")),
        decision=decision,
    )
    patterns, args = given.json.get("patterns"), given.json.get("metadata")
    return telling.step("permission", source_id, meta, patterns=patterns, args=args)


def _error(telling: Telling, said: Said) -> Step:
    return telling.step("warning", None, {"event": "session-error"}, error=telling.said.json.get("error"))


_STEPS: dict[str, Callable[[Telling, Said], Step]] = {
    "chat.message": _prompt,
    _CALL: _tool_call,
    "tool.execute.after": _tool_result,
    "permission.asked": _permission,
    "permission.replied": _permission,
    "session.error": _error,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """What our plugin throws. opencode cannot be made to ask, so `ask` is a refusal that says so."""
    return plugin.reply(NAME, payload, decision)

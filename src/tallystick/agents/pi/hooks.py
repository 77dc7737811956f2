"""pi's hooks: an extension of ours in its folder, which runs inside pi.

Owns the extension's text, what each of its payloads says, and how a call is refused: `tool_call` gives `{block, reason}`.
Facts observed with version 0.73.1: docs/agents/pi.md. Calls have the model's ids, as in the transcript; prompts have none
here. A call that is refused gives no result here, only in the transcript.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from tallystick.agents.hooks import HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of, javascript, plugin
from tallystick.agents.hooks.common_steps import Telling
from tallystick.agents.hooks.payload import Said, payload_of
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.agents.pi.transcript import outcome
from tallystick.model.decision import Decision
from tallystick.model.step import Json, Step

NAME = "pi"
EVENTS = hooks_of(NAME).events

_EXTENSION = r"""
const EVENTS = ["session_start", "input", "tool_result", "user_bash", "session_compact", "session_shutdown"]

export default function (pi) {
  const said = (event, context) => ({
    hook: event.type,
    event: event.type === "session_compact" ? { type: event.type } : event,
    session: attempt(() => context.sessionManager.getSessionId()),
    file: attempt(() => context.sessionManager.getSessionFile()),
    cwd: attempt(() => context.cwd),
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
    return hook_files(NAME, project=project)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The extension. Raises FormatError: a file of that name is someone else's."""
    return plugin.replaced(file, content, javascript.text(NAME, hook, _EXTENSION))


def remove(file: SettingsFile, content: bytes) -> bytes:
    """Nothing, if the file is ours."""
    return plugin.emptied(content)


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """All events, if the file is ours."""
    return plugin.hooked(content, EVENTS)


def parse(data: bytes, event: str | None) -> Payload:
    """What our extension said: `{hook, event, session, file, cwd, at}`, with pi's own event in it."""
    said = payload_of(data)
    name, session, cwd = said.need("hook"), said.need("session"), said.text("cwd")
    given = Said(dict_of(said.json.get("event")))
    telling = Telling(said=given, agent=NAME, session=session, root=session)
    tool, args, call = given.text("toolName"), given.json.get("input"), given.text("toolCallId")
    return Payload(
        event=name,
        session=session,
        events=(telling.opening({}, cwd=cwd), *telling.steps(_STEPS, name)),
        asks=telling.asks(tool, args, cwd=cwd, call_id=call) if name == "tool_call" else None,
        transcript=said.text("file"),
        begins=name in ("session_start", "session_compact"),
        ends=name == "session_shutdown",
        timed=True,
    )


def _prompt(telling: Telling) -> Step:
    return telling.prompt(telling.said.text("text"), None)


def _tool_call(telling: Telling) -> Step:
    said = telling.said
    return telling.call(said.text("toolName"), said.text("toolCallId"), said.json.get("input"))


def _tool_result(telling: Telling) -> Step:
    said, call = telling.said, telling.said.text("toolCallId")
    output, raw = take_out(said.json.get("content"))
    content: dict[str, Json] = {"output": _text(output), "result": said.json.get("details") or None}
    if call is None:
        content["args"] = said.json.get("input")
    meta = outcome(said.text("toolName"), said.json.get("isError") is not True, content["output"])
    return replace(telling.result(said.text("toolName"), call, meta, **content), raw=raw)


def _text(content: Json) -> Json:
    """Blocks of text alone are their text."""
    blocks = [dict_of(block) for block in list_of(content)]
    texts = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
    if blocks and len(texts) == len(blocks):
        return "\n".join(text or "" for text in texts)
    return content


def _typed_command(telling: Telling) -> Step:
    return telling.step("user", None, {"origin": "command"}, command=telling.said.text("command"))


_STEPS: dict[str, Callable[[Telling], Step]] = {
    "input": _prompt,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "user_bash": _typed_command,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """What our extension gives back. pi cannot be made to ask, so `ask` is a refusal that says so."""
    return plugin.reply(NAME, payload, decision)

"""Gemini CLI's hooks, as command handlers in its settings.json.

Owns the events, what each says, and how a call is refused. Facts observed with version 0.61.0: docs/agents/gemini.md.

Calls have no ids here, and what a sub-agent does carries its parent's session id: the recorder pairs calls and results
by tool, arguments and order. `ask` waits for ever where no one can answer, which a hook cannot know: it is refused
instead (_asks.py). Events around each model call are left out: they come once a chunk, and the chat file tells the
same. In ACP mode Gemini CLI runs no tool hooks at all. Timeouts are in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.agents.gemini.prompts import origin_of
from tallystick.agents.hooks import SILENT, HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of
from tallystick.agents.hooks.asks import answer_to
from tallystick.agents.hooks.common_steps import Telling
from tallystick.agents.hooks.genai_results import outcome
from tallystick.agents.hooks.payload import payload_of
from tallystick.model.decision import Decision
from tallystick.model.step import Step
from tallystick.seal.canonical import canonical

NAME = "gemini"
EVENTS = hooks_of(NAME).events
_TIMEOUT_MS = 10_000


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The user's settings, or a project's."""
    return hook_files(NAME, project=project)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The settings with one handler of ours an event."""
    from tallystick.agents.hooks import nested
    from tallystick.agents.kit import json_text

    form = nested.Form(timeout=_TIMEOUT_MS, dialect=json_text.COMMENTED)
    return nested.configure(content, EVENTS, hook.shell(NAME), form)


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
    name, session = said.need("hook_event_name"), said.need("session_id")
    telling = Telling(said=said, agent=NAME, session=session, root=session, ts=said.text("timestamp"))
    args, cwd = said.json.get("tool_input"), said.text("cwd")
    return Payload(
        event=name,
        session=session,
        events=(telling.opening({}, cwd=cwd), *telling.steps(_EVENTS, name)),
        asks=telling.asks(said.text("tool_name"), args, cwd=cwd) if name == "BeforeTool" else None,
        transcript=said.text("transcript_path"),
        begins=name == "SessionStart",
        ends=name == "SessionEnd",
        timed=telling.ts is not None,
    )


def _prompt(telling: Telling) -> Step:
    text = telling.said.text("prompt")
    return telling.prompt(text, None, origin_of(text or ""))


def _tool_call(telling: Telling) -> Step:
    return telling.call(telling.said.text("tool_name"), None, telling.said.json.get("tool_input"))


def _tool_result(telling: Telling) -> Step:
    said = telling.said
    tool = said.text("tool_name")
    meta, content = outcome(tool, said.json.get("tool_response"))
    return telling.result(tool, None, meta, args=said.json.get("tool_input"), **content)


def _turn_end(telling: Telling) -> Step:
    """All that the model said in the turn, in one text: the chat file has it message by message."""
    return telling.system("turn-ended", text=telling.said.text("prompt_response"))


def _notification(telling: Telling) -> Step:
    meta = telling.said.members(("notification_type", "subtype"))
    return telling.system("notification", meta, text=telling.said.text("message"))


def _end(telling: Telling) -> Step:
    return telling.system("session-end", telling.said.members(("reason", "reason")))


_EVENTS: dict[str, Callable[[Telling], Step]] = {
    "BeforeAgent": _prompt,
    "BeforeTool": _tool_call,
    "AfterTool": _tool_result,
    "AfterAgent": _turn_end,
    "Notification": _notification,
    "SessionEnd": _end,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """Refuse the call."""
    answer = answer_to(NAME, payload, decision)
    if answer is None:
        return SILENT
    return Reply(stdout=canonical({"decision": "deny", "reason": answer.reason}))

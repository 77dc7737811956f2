"""Calls in Copilot CLI's log: what the model asked for, what the tools gave, who was asked first.

Owns calls and results, hook runs and permissions. Must not know what else is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from tallystick.agents.copilot.session import AGENT, Conversation, CopilotEvent
from tallystick.agents.kit.answers import answer_in
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.outcomes import ended as ended_with
from tallystick.agents.kit.reading import BadJson, dict_of, int_of, list_of, loads_text, text_of
from tallystick.model.moments import normal_time
from tallystick.model.step import Event, Json, Loss

_ASKING_HOOKS = ("permissionRequest", "preMcpToolCall", "preToolUse")


def requested(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """The calls that an answer of the model asks for."""
    for request in map(dict_of, list_of(line.data.get("toolRequests"))):
        call = text_of(request.get("toolCallId"))
        if call is None:
            yield Loss(kind="unnamed_call", detail=line.id)
        else:
            yield from _call(talk, line, call, text_of(request.get("name")), request.get("arguments"))


def _call(talk: Conversation, line: CopilotEvent, call: str, tool: str | None, args: Json) -> Iterator[Event]:
    origin = None
    if line.type == "tool.user_requested":
        origin = "user"
    talk.calls[call] = (talk.session(line), tool, None)
    meta, values = {"tool": tool, "corr": call, "origin": origin}, {"content.args": _object(args)}
    yield talk.trail.along(talk.at(line, call).step("tool_call", meta, values))


def _object(args: Json) -> Json:
    """Arguments that are JSON text, as the object they hold."""
    if not isinstance(args, str) or not args.startswith("{"):
        return args
    try:
        value = loads_text(args).value
    except BadJson:
        return args
    if isinstance(value, dict):
        return value
    return args


def started(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """A tool begins to run: known, unless a person asked for it."""
    call = line.text("toolCallId") or line.id
    if call in talk.calls:
        yield Loss(kind="duplicate_event", detail=f"{line.type} {line.id}")
    else:
        yield from _call(talk, line, call, line.text("toolName"), line.data.get("arguments"))
    session, tool, _ = talk.calls[call]
    talk.calls[call] = (session, tool, line.ts)


def ended(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """A tool has run, or was not allowed to."""
    call = line.text("toolCallId") or line.id
    _, tool, began = talk.calls.get(call, ("", None, None))
    result, error = dict_of(line.data.get("result")), dict_of(line.data.get("error"))
    success = line.data.get("success")
    if not isinstance(success, bool):
        success = {"success": True, "failure": False}.get(text_of(result.get("result_type")) or "")
    meta = {
        "tool": tool,
        "corr": call,
        **ended_with(success, int_of(dict_of(line.data.get("shellExecution")).get("exitCode"))),
        "duration_ms": _elapsed(began, line.ts),
        **_refusal(error),
    }
    values, raw = _output(result)
    if values["content.output"] is None:
        values["content.output"] = error.get("message")
    else:
        values["content.error"] = error.get("message")
    step = talk.trail.along(talk.at(line, f"{call}/result").step("tool_result", meta, values, raw), answers=call)
    yield step
    for answer in answer_in(AGENT, step):
        yield talk.trail.along(answer)


def _output(result: dict[str, Json]) -> tuple[dict[str, Json], dict[str, bytes]]:
    """What the model was given, and what only the person sees, where that says more."""
    text = result.get("content", result.get("text_result_for_llm"))
    blocks, raw = take_out(result.get("binaryResultsForLlm") or None)
    if blocks is None:
        output = text
    else:
        output = [{"type": "text", "text": text}, *list_of(blocks)]
    detail = result.get("detailedContent")
    return {"content.output": output, "content.detail": None if detail == text else detail}, raw


def _refusal(error: dict[str, Json]) -> dict[str, Json]:
    """Whether a call failed because someone refused it, and who."""
    message = (text_of(error.get("message")) or "").lower()
    if error.get("code") not in ("denied", "rejected"):
        return {}
    by = next((who for who in ("hook", "user", "rule", "policy") if who in message[:80]), None)
    return {"decision": "deny", "decided_by": "policy" if by == "rule" else by}


def _elapsed(began: str | None, ended: str | None) -> int | None:
    """Milliseconds from one time to another."""
    times = [normal_time(text, UTC) for text in (began, ended) if text is not None]
    if len(times) != 2 or times[0] is None or times[1] is None:
        return None
    first, last = (datetime.fromisoformat(time[0]) for time in times if time is not None)
    return max(int((last - first).total_seconds() * 1000), 0)


def skill(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """A skill is read into the conversation."""
    values = {
        "content.label": line.text("name"),
        "content.path": line.text("path"),
        "content.text": line.text("content"),
    }
    yield talk.trail.beside(talk.at(line, line.id).step("skill_invoke", {}, values))


def unfinished(talk: Conversation) -> Iterator[Event]:
    """Hook runs whose end is not in the log."""
    for line in talk.hooks.values():
        yield from _hook_step(talk, line, line, {})
    talk.hooks.clear()


def hook_started(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """A hook run is one step, told when it ends."""
    name = line.text("hookInvocationId") or line.id
    if name in talk.hooks:
        yield Loss(kind="duplicate_event", detail=f"{line.type} {line.id}")
    talk.hooks[name] = line


def hook_ended(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """A hook run is over."""
    began = talk.hooks.pop(line.text("hookInvocationId") or line.id, line)
    success = line.data.get("success")
    ended = {
        "success": success if isinstance(success, bool) else None,
        "duration_ms": _elapsed(began.ts, line.ts) if began is not line else None,
        "decision": _hook_decision(line.data.get("output")),
    }
    yield from _hook_step(talk, began, line, ended)


def _hook_step(talk: Conversation, began: CopilotEvent, line: CopilotEvent, ended: dict[str, Json]) -> Iterator[Event]:
    hook = line.text("hookType")
    calls = [text_of(dict_of(call).get("id")) for call in list_of(dict_of(began.data.get("input")).get("toolCalls"))]
    meta = {"hook": hook, "corr": calls[0] if len(calls) == 1 else None, **ended}
    error = dict_of(line.data.get("error")).get("message")
    values = {"content.output": line.data.get("output") if ended else None, "content.error": error}
    sid = line.text("hookInvocationId") or line.id
    step = talk.at(began, sid).step("permission" if hook in _ASKING_HOOKS else "system", meta, values)
    yield talk.trail.beside(step)


def _hook_decision(output: Json) -> str | None:
    found = dict_of(output)
    said = text_of(found.get("permissionDecision")) or text_of(found.get("decision"))
    denied = any(isinstance(text, str) and text.startswith("Denied by") for text in found.values())
    return said or ("deny" if denied else None)


def permission_asked(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """Someone is asked whether a call may run."""
    asked = dict_of(line.data.get("permissionRequest"))
    meta = {"corr": text_of(asked.get("toolCallId")), "subtype": text_of(asked.get("kind"))}
    sid, values = line.text("requestId") or line.id, {"content.args": asked or None}
    yield talk.trail.beside(talk.at(line, sid).step("permission", meta, values))


def permission_given(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """The answer to that."""
    result = dict_of(line.data.get("result"))
    request = line.text("requestId") or line.id
    meta = {"corr": line.text("toolCallId"), "decision": text_of(result.get("kind"))}
    values = {"content.reason": text_of(result.get("feedback")) or text_of(result.get("reason"))}
    yield talk.trail.beside(talk.at(line, f"{request}/result").step("permission", meta, values), of=request)


def question(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """A question to the person, or its answer."""
    meta = {"subtype": line.type, "corr": line.text("toolCallId")}
    yield talk.trail.beside(talk.at(line, line.id).step("permission", meta, {"content.raw": line.data}))

"""Claude Code's log events (seen with 2.1.330; its documentation, "Monitoring").

Owns their mapping. Events carry the ids of the session, of the prompt and of tool calls that hooks and the transcript give,
and for a prompt the transcript's own. An answer carries the id of its message's last line, which need not be that of its
text; a model call carries the request's. So these two are left to be joined by what they say.
"""

from __future__ import annotations

from msgspec.structs import replace

from tallystick.agents.hooks.common_steps import unnamed
from tallystick.agents.protocols._otlp_read import Record
from tallystick.agents.protocols._otlp_steps import Case, Telemetry, Told, counts, micros, parsed
from tallystick.model.step import Json, Ref, Step

_NOT_TYPED = "<task-notification>"
_ANSWERS = {"accept": "allow", "reject": "deny"}


def log(case: Case) -> Told:
    """What one log record tells."""
    make = _EVENTS.get(case.record.name.removeprefix("claude_code."))
    if make is None:
        yield from case.loss(case.record.name.removeprefix("claude_code.") or "log")
    else:
        yield from make(case)


def family(record: Record, session: str) -> tuple[str, str, Ref] | None:
    """The session of the record, if it is a sub-agent's: it, itself, and what it belongs to."""
    agent = record.text("agent_id")
    child = f"{session}/{agent}"
    if agent is None:
        return None
    return child, child, Ref(session=session)


def _run(case: Case) -> str | None:
    return case.record.text("prompt.id")


def _prompt(case: Case) -> Told:
    record = case.record
    run, text = _run(case), record.text("prompt")
    step = case.prompt(text, record.text("message.uuid") or unnamed(run), run=run)
    if text is not None and text.lstrip().startswith(_NOT_TYPED):
        step = _notified(step)
    yield from case.told(step)


def _notified(step: Step) -> Step:
    return replace(step, opens_request=False, meta={**step.meta, "origin": "notification"})


def _request(case: Case) -> Told:
    record = case.record
    request = record.text("request_id")
    cost = record.number("cost_usd_micros")
    if cost is None:
        cost = micros(record.at.get("cost_usd"))
    meta: dict[str, Json] = {
        "model": record.text("model"),
        "tokens": counts(
            input=record.number("input_tokens"),
            output=record.number("output_tokens"),
            cache_read=record.number("cache_read_tokens"),
            cache_write=record.number("cache_creation_tokens"),
        ),
        "duration_ms": record.number("duration_ms"),
        "ttft_ms": record.number("ttft_ms"),
        "cost_microusd": cost,
        "request_id": request,
        "effort": record.text("effort"),
        "query_source": record.text("query_source"),
        "run": _run(case),
    }
    yield from case.told(case.model_call(unnamed(request, "usage"), meta))


def _error(case: Case) -> Told:
    record = case.record
    meta: dict[str, Json] = {
        "model": record.text("model"),
        "status": record.number("status_code"),
        "attempt": record.number("attempt"),
        "duration_ms": record.number("duration_ms"),
        "run": _run(case),
    }
    yield from case.told(case.warning("api-error", record.text("error"), **meta))


def _answer(case: Case) -> Told:
    message = case.record.text("message.uuid")
    yield from case.told(*case.answer(case.record.text("response"), unnamed(message), run=_run(case)))


def _decision(case: Case) -> Told:
    record = case.record
    call, said = record.text("tool_use_id"), record.text("decision")
    meta: dict[str, Json] = {
        "tool": record.text("tool_name"),
        "corr": call,
        "decision": _ANSWERS.get(said or "", said),
        "decided_by": record.text("source"),
        "permission_mode": record.text("permission_mode"),
        "run": _run(case),
    }
    yield from case.told(case.decision(call, meta))


def _result(case: Case) -> Told:
    """A call with its end. Arguments are shown with OTEL_LOG_TOOL_DETAILS; long ones are cut, as their size tells."""
    record = case.record
    tool, shown = record.text("tool_name"), record.text("tool_input")
    size = record.number("tool_input_size_bytes")
    args, run = None, _run(case)
    if shown is not None and (size is None or len(shown.encode("utf-8", "replace")) >= size):
        args = parsed(shown)
    step, call = case.tool_call(record.text("tool_use_id"), tool, args, run=run)
    yield from case.told(step)
    meta: dict[str, Json] = {
        "success": record.flag("success"),
        "duration_ms": record.number("duration_ms"),
        "output_bytes": record.number("tool_result_size_bytes"),
        "run": run,
    }
    yield from case.told(case.tool_result(call, tool, meta, {"content.error": record.text("error")}))


_EVENTS = {
    "user_prompt": _prompt,
    "api_request": _request,
    "api_error": _error,
    "assistant_response": _answer,
    "tool_decision": _decision,
    "tool_result": _result,
}


def is_own(record: Record) -> bool:
    """Whether a record is the agent's by its name: the name of the service may be of the user's own."""
    return record.name.startswith("claude_code.")


TELEMETRY = Telemetry(log=log, family=family, is_own=is_own)

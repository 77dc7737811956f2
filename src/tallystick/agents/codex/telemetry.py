"""Codex's log events (seen with 0.169.0).

Owns their mapping. Events carry the ids of the conversation and of tool calls; prompts and responses have none, and are left
to be joined by what they say. Its spans tell of its own functions, not of the conversation.
"""

from __future__ import annotations

from tallystick.agents.codex.outcomes import from_output
from tallystick.agents.kit.reading import dict_of, text_of
from tallystick.agents.protocols._otlp_read import Record
from tallystick.agents.protocols._otlp_steps import Case, Telemetry, Told, parsed, without_cache
from tallystick.model.step import Json, Ref

_DECISIONS = {
    **dict.fromkeys(("approved", "approved_for_session", "approved_execpolicy_amendment"), "allow"),
    **dict.fromkeys(("denied", "abort"), "deny"),
}


def log(case: Case) -> Told:
    """What one log record tells."""
    make = _EVENTS.get(case.record.name.removeprefix("codex."))
    if make is None:
        kind = "log"
        if "codex." in case.record.name:
            kind = case.record.name.removeprefix("codex.")
        yield from case.loss(kind)
    else:
        yield from make(case)


def family(record: Record, session: str) -> tuple[str, str, Ref] | None:
    """The session that a call of the record's session began: the record's, the new one, and what that belongs to."""
    call = record.text("call_id")
    if record.text("tool_name") != "spawn_agent" or call is None:
        return None
    child = text_of(dict_of(parsed(record.at.get("output"))).get("agent_id"))
    if child:
        return session, child, Ref(call, session=session)
    return None


def _start(case: Case) -> Told:
    record = case.record
    meta: dict[str, Json] = {
        "agent_version": record.text("app.version"),
        "model": record.text("model"),
        "provider": record.text("provider_name"),
        "approval_policy": record.text("approval_policy"),
        "sandbox": record.text("sandbox_policy"),
        "entrypoint": record.text("originator"),
    }
    yield from case.told(case.opening(**meta))


def _prompt(case: Case) -> Told:
    yield from case.told(case.prompt(case.record.text("prompt"), None))


def _request(case: Case) -> Told:
    """A request by itself says nothing that its response does not; one that failed does."""
    record = case.record
    status, error = record.number("http.response.status_code"), record.text("error.message")
    if error is None and (status is None or status < 400):
        yield from case.loss("api_request")
        return
    took = record.number("duration_ms")
    yield from case.told(case.warning("api-error", error, status=status, duration_ms=took, model=record.text("model")))


def _response(case: Case) -> Told:
    """One event of a response's stream: only the last, with the counts, and failures are recorded."""
    record = case.record
    if record.text("error.message") is not None:
        yield from case.told(case.warning("response-failed", record.text("error.message"), model=record.text("model")))
    elif record.number("input_token_count") is None:
        yield from case.loss("sse_event")
    else:
        yield from case.told(case.model_call(None, _usage(case)))


def _usage(case: Case) -> dict[str, Json]:
    record = case.record
    tokens = without_cache(
        record.number("input_token_count"),
        record.number("output_token_count"),
        record.number("cached_token_count"),
        record.number("cache_write_token_count"),
        record.number("reasoning_token_count"),
    )
    return {
        "model": record.text("model"),
        "tokens": tokens,
        "ttft_ms": record.number("ttft_ms"),
        "effort": record.text("model_reasoning_effort"),
    }


def _decision(case: Case) -> Told:
    record = case.record
    call, said = record.text("call_id"), record.text("decision")
    meta: dict[str, Json] = {
        "tool": record.text("tool_name"),
        "corr": call,
        "decision": _DECISIONS.get(said or "", said),
        "decided_by": (record.text("source") or "").lower() or None,
    }
    yield from case.told(case.decision(call, meta))


def _result(case: Case) -> Told:
    """A call with its end. Codex calls a command a success that ran, however it ended: its output says how."""
    record = case.record
    tool = record.text("tool_name")
    step, call = case.tool_call(record.text("call_id"), tool, parsed(record.at.get("arguments")))
    yield from case.told(step)
    is_cut = record.flag("output_truncated") is True
    outcome = from_output(record.at.get("output"))
    took = record.number("duration_ms")
    if took is None:
        took = outcome.duration_ms
    meta: dict[str, Json] = {
        "success": record.flag("success"),
        **outcome.meta(),
        "duration_ms": took,
        "server": record.text("mcp_server"),
        "cut": is_cut or None,
    }
    name = "content.output"
    if is_cut:
        name = "content.output_part"
    values = {name: record.at.get("output"), **outcome.values()}
    yield from case.told(case.tool_result(call, tool, meta, values))


_EVENTS = {
    "conversation_starts": _start,
    "user_prompt": _prompt,
    "api_request": _request,
    "sse_event": _response,
    "websocket_event": _response,
    "tool_decision": _decision,
    "tool_result": _result,
}


def is_own(record: Record) -> bool:
    """Whether a record is the agent's by its name: the name of the service may be of the user's own."""
    return record.name.startswith("codex.") or record.scope.startswith("codex")


TELEMETRY = Telemetry(log=log, family=family, is_own=is_own)

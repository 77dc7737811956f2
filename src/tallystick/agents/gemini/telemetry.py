"""The log events of Gemini CLI, and of what grew out of it (seen with 0.61.0).

Owns their mapping. Qwen Code's tool events carry the id of their call. Gemini's carry none: the id is
in the response that asked for the call, which is shown when prompts are logged, and is remembered until the call ends.
"""

from __future__ import annotations

from tallystick.agents.hooks import UNNAMED
from tallystick.agents.kit import genai_parts
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.agents.kit.spelling import names
from tallystick.agents.protocols._otlp_steps import Case, Telemetry, Told, parsed
from tallystick.model.step import Json, Step

PREFIX = "gemini_cli."
"""What names of events begin with."""
_TOKENS = names("gemini", "telemetry_counts")


def log(case: Case) -> Told:
    """What one log record tells."""
    return event(case, case.record.name.removeprefix(PREFIX))


def event(case: Case, name: str) -> Told:
    """What one event tells, by its name without what all begin with."""
    make = _EVENTS.get(name)
    if make is None:
        yield from case.loss(name or "log")
    else:
        yield from make(case)


def _config(case: Case) -> Told:
    record = case.record
    meta: dict[str, Json] = {
        "model": record.text("model"),
        "approval_mode": record.text("approval_mode"),
        "auth": record.text("auth_type"),
    }
    yield from case.told(case.opening(**meta))


def _prompt(case: Case) -> Told:
    yield from case.told(case.prompt(case.record.text("prompt"), None, run=_run(case)))


def _run(case: Case) -> str | None:
    return case.record.text("prompt_id")


def _response(case: Case) -> Told:
    record = case.record
    said = parsed(record.text("response_text"))
    if isinstance(said, list):
        chunks = [dict_of(chunk) for chunk in said]
    else:
        chunks = []
    response = record.text("response_id") or next((text_of(chunk.get("responseId")) for chunk in chunks), None)
    usage = {name: record.number(name) for name in _TOKENS.values()}
    meta: dict[str, Json] = {
        "model": record.text("model"),
        "tokens": genai_parts.tokens(known(usage), _TOKENS) or None,
        "duration_ms": record.number("duration_ms"),
        "ttft_ms": record.number("ttft_ms"),
        "status": record.number("status_code", "http.status_code"),
        "query_source": record.text("role", "subagent_name"),
        "run": _run(case),
    }
    yield from case.told(case.model_call(f"{UNNAMED}{response}/usage" if response else None, meta))
    source_id = None
    if response:
        source_id = f"{UNNAMED}{response}/0"
    if chunks:
        yield from case.told(*_said(case, chunks, source_id))
    elif isinstance(said, str):
        yield from case.told(*case.answer(said, source_id, run=_run(case)))


def _said(case: Case, chunks: list[dict[str, Json]], source_id: str | None) -> list[Step]:
    """The words and calls in a response, which stands there in the pieces in which it came."""
    parts: list[Json] = []
    for chunk in chunks:
        first = dict_of(next(iter(list_of(chunk.get("candidates"))), None))
        parts += list_of(dict_of(first.get("content")).get("parts"))
    message = genai_parts.split(parts)
    steps = list(case.answer(message.text, source_id, run=_run(case)))
    for asked in message.calls:
        call, tool = text_of(asked.get("id")), text_of(asked.get("name"))
        if call is not None and tool is not None:
            steps.append(case.tool_call(call, tool, asked.get("args"), run=_run(case))[0])
            case.memory.note_call(case.session, call, tool, asked.get("args"))
    return steps


def _error(case: Case) -> Told:
    record = case.record
    meta: dict[str, Json] = {
        "model": record.text("model"),
        "status": record.number("status_code", "http.status_code"),
        "duration_ms": record.number("duration_ms"),
        "run": _run(case),
    }
    yield from case.told(case.warning("api-error", record.text("error", "error.message", "error_message"), **meta))


def _tool(case: Case) -> Told:
    record = case.record
    tool, args = record.text("function_name"), parsed(record.at.get("function_args"))
    call = record.text("call_id")
    asked = None
    if call is None:
        asked = case.memory.take_call(case.session, tool or "", args)
    if asked is None:
        step, asked = case.tool_call(call, tool, args, run=_run(case))
        yield from case.told(step)
    decision = record.text("decision")
    meta: dict[str, Json] = {
        "success": record.flag("success"),
        "duration_ms": record.number("duration_ms"),
        "decision": {"reject": "deny", "cancel": "deny", "modify": "allow"}.get(decision or "", decision and "allow"),
        "decided_by": "config" if decision == "auto_accept" else None,
        "server": record.text("mcp_server_name"),
        "error": record.text("error_type"),
        "run": _run(case),
    }
    yield from case.told(case.tool_result(asked, tool, meta, {"content.error": record.text("error")}))


def _compression(case: Case) -> Told:
    record = case.record
    before, after = record.number("tokens_before"), record.number("tokens_after")
    yield from case.told(
        case.step("system", None, {"event": "compaction-done", "tokens_before": before, "tokens_after": after})
    )


def _start(case: Case) -> Told:
    yield from case.told(case.opening())


def _end(case: Case) -> Told:
    yield from case.told(case.step("system", None, {"event": "session-end"}))


_EVENTS = {
    "config": _config,
    "user_prompt": _prompt,
    "api_response": _response,
    "api_error": _error,
    "tool_call": _tool,
    "chat_compression": _compression,
    "session.start": _start,
    "session.end": _end,
}
TELEMETRY = Telemetry(log=log)

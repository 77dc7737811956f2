"""The records of a Qwen Code chat, as steps.

Owns what a record says: prompts, answers, results, compressions, and which of the system's records are worth a step.
Must not know how a chat's sessions hang together.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.kit import genai_parts as parts
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.outcomes import ended
from tallystick.agents.kit.reading import dict_of, int_of, list_of, text_of
from tallystick.agents.kit.spelling import names, words
from tallystick.agents.qwen.session import QwenChat, Record
from tallystick.model.step import Event, Json, Loss

_COUNTS = names("qwen", "counts")
_STATUS = {"success": True, "error": False, "cancelled": False}
_ORIGINS = {
    "notification": "notification",
    "background_task_completed": "notification",
    "cron": "injected",
    "goal_runtime": "injected",
    "agent_launch_prompt": "parent",
}
_BOOKKEEPING = frozenset(words("qwen", "bookkeeping"))
"""What Qwen Code needs to go on, in words that other records have, too."""
_SETTINGS = words("qwen", "settings")
_NOTES = words("qwen", "notes")


def steps(chat: QwenChat, record: Record) -> Iterator[Event]:
    """The events that a record is."""
    if record.type == "user":
        yield from _user(chat, record)
    elif record.type == "assistant":
        yield from _assistant(chat, record)
    elif record.type == "tool_result":
        yield from _results(chat, record)
    elif record.type == "system":
        yield from _system(chat, record)
    else:
        yield unknown(record.type, record.id)


# What is said


def _user(chat: QwenChat, record: Record) -> Iterator[Event]:
    said = parts.split(record.parts)
    origin = _origin(record)
    meta = {"origin": origin, "subtype": record.text("subtype"), "run": record.text("promptId")}
    step = chat.at(record, record.id).step("user", meta, said.values(), said.raw)
    yield chat.trail.along(msgspec.structs.replace(step, opens_request=origin is None))


def _origin(record: Record) -> str | None:
    """Where a prompt comes from; None: someone typed it."""
    found = _ORIGINS.get(record.text("subtype") or "")
    if found is None and record.agent is not None:
        if record.text("externalInputKind") != "notification":
            return "parent"
        return "notification"
    if found is None and record.text("provenance") not in (None, "real_user"):
        return "injected"
    return found


def _assistant(chat: QwenChat, record: Record) -> Iterator[Event]:
    said = parts.split(record.parts)
    yield from _model_call(chat, record)
    for number, thought in enumerate(said.thoughts):
        values = {"content.thinking": thought}
        yield chat.trail.along(chat.at(record, f"{record.id}/{number}").step("assistant", {}, values))
    if said.text or said.others is not None:
        yield chat.trail.along(chat.at(record, record.id).step("assistant", {}, said.values(), said.raw))
    for number, call in enumerate(said.calls):
        sid = text_of(call.get("id")) or f"{record.id}/call/{number}"
        meta = {"tool": text_of(call.get("name")), "corr": sid}
        chat.calls[sid] = text_of(call.get("name"))
        yield chat.trail.along(chat.at(record, sid).step("tool_call", meta, {"content.args": call.get("args")}))


def _model_call(chat: QwenChat, record: Record) -> Iterator[Event]:
    usage = dict_of(record.members.get("usageMetadata"))
    model = record.text("model") or chat.model
    if not usage and record.text("model") is None:
        return
    counts = None
    if usage and not record.is_copy:
        counts = parts.tokens(usage, _COUNTS)
    meta = {"model": model, "tokens": counts, **_timing(chat, usage)}
    point = chat.at(record, f"{record.id}/usage")
    yield chat.trail.along(point.model_call(meta, is_shown=not chat.is_hidden))


def _timing(chat: QwenChat, usage: dict[str, Json]) -> dict[str, Json]:
    """What the telemetry just before an answer says of it, if it is about the same numbers."""
    told, chat.response = chat.response, {}
    if not told or told.get("input_token_count") != usage.get("promptTokenCount"):
        return {}
    return {"duration_ms": int_of(told.get("duration_ms")), "response": text_of(told.get("response_id"))}


def _results(chat: QwenChat, record: Record) -> Iterator[Event]:
    said, result = parts.split(record.parts), dict_of(record.members.get("toolCallResult"))
    if not said.answers:
        call = text_of(result.get("callId")) or record.id
        response = None
        if said.text:
            response = {"output": said.text}
        yield from _result(chat, record, call, response, said)
    for number, answer in enumerate(said.answers):
        call = text_of(answer.get("id")) or text_of(result.get("callId")) or f"{record.id}/{number}"
        yield from _result(chat, record, call, answer.get("response"), said)
        said = parts.Message()  # what is not an answer belongs to the first


def _result(chat: QwenChat, record: Record, call: str, response: Json, said: parts.Message) -> Iterator[Event]:
    result = dict_of(record.members.get("toolCallResult"))
    display = dict_of(result.get("resultDisplay"))
    if "originalContent" in display or "newContent" in display:
        yield Loss(kind="original_file", detail=call)
    output, failed = parts.answered(response)
    if said.others is not None:
        output = [output, *list_of(said.others)]
    values = {
        "content.output": output,
        "content.diff": text_of(display.get("fileDiff")),
    }
    meta = {"tool": chat.calls.get(call), "corr": call, **_outcome(result, chat.tools.pop(call, {}))}
    if "success" not in meta and failed:
        meta["success"] = False
    yield chat.trail.along(chat.at(record, f"{call}/result").step("tool_result", meta, values, said.raw), answers=call)


def _outcome(result: dict[str, Json], told: dict[str, Json]) -> dict[str, Json]:
    """How a call ended, by its record and by the telemetry before it."""
    success = _STATUS.get(text_of(result.get("status")) or "")
    duration = int_of(result.get("durationMs"))
    if duration is None:
        duration = int_of(told.get("duration_ms"))
    code = int_of(dict_of(result.get("resultDisplay")).get("exitCode"))
    meta: dict[str, Json] = {**ended(success, code), "duration_ms": duration}
    if result.get("errorType") == "execution_denied":
        # The person's own refusals are reported as such; of the others no one says whether a hook or a rule refused.
        meta["decision"] = "deny"
        if told.get("decision") == "reject":
            meta["decided_by"] = "user"
    return known(meta)


# What the program notes


def _system(chat: QwenChat, record: Record) -> Iterator[Event]:
    subtype, payload = record.text("subtype"), dict_of(record.members.get("systemPayload"))
    if subtype == "chat_compression":
        yield from _compressed(chat, record, payload)
    elif subtype == "ui_telemetry":
        yield from _telemetry(chat, record, dict_of(payload.get("uiEvent")))
    elif subtype == "agent_bootstrap":
        yield from _inherited(chat, record, list_of(payload.get("history")))
    elif subtype == "rewind":
        count = int_of(payload.get("truncatedCount"))
        yield chat.trail.beside(chat.at(record, record.id).step("discard", {"items": count}))
    elif subtype in _SETTINGS:
        meta = {"subtype": subtype, "model": text_of(payload.get("modelId")), "mode": text_of(payload.get("mode"))}
        values = {"content.settings": payload}
        yield chat.trail.beside(chat.at(record, record.id).step("config_change", meta, values))
    elif subtype in _NOTES:
        words = {"content.title": text_of(payload.get("customTitle")), "content.raw": payload}
        yield chat.trail.beside(chat.at(record, record.id).step("system", {"subtype": subtype}, words))
    elif subtype in _BOOKKEEPING:
        yield Loss(kind=str(subtype), detail=record.id)
    else:
        yield unknown(subtype, record.id)


def _telemetry(chat: QwenChat, record: Record, event: dict[str, Json]) -> Iterator[Event]:
    """Durations of what comes next; errors that no other record tells."""
    name = (text_of(event.get("event.name")) or "").rpartition(".")[2]
    if name == "api_error":
        values = {"content.error": text_of(event.get("error_message")) or text_of(event.get("error"))}
        status = int_of(event.get("status_code"))
        meta = {"subtype": name, "model": text_of(event.get("model")), "status_code": status}
        yield chat.trail.beside(chat.at(record, record.id).step("warning", meta, values))
        return
    call = text_of(event.get("call_id")) or ""
    if name == "api_response" and "subagent_id" not in event:
        chat.response = event
    elif name == "tool_call" and call in chat.calls:
        chat.tools[call] = event
    yield Loss(kind="ui_telemetry", detail=record.id)


def _compressed(chat: QwenChat, record: Record, payload: dict[str, Json]) -> Iterator[Event]:
    """The history is replaced: the session ends, and goes on in a continuation that begins with what was kept."""
    info = dict_of(payload.get("info"))
    meta = {
        "tokens_before": int_of(info.get("originalTokenCount")),
        "tokens_after": int_of(info.get("newTokenCount")),
    }
    yield chat.trail.along(chat.at(record, record.id).step("compaction", meta))
    yield chat.trail.along(chat.at(record, f"{record.id}/end").step("session_end", {"reason": "compaction"}))
    yield chat.go_on(record)
    yield from _inherited(chat, record, list_of(payload.get("compressedHistory")), origin="summary")


def _inherited(chat: QwenChat, record: Record, history: list[Json], *, origin: str = "parent") -> Iterator[Event]:
    """Known words that the model is given at the start. Calls among them are not made again, so not recorded again."""
    if not history:
        yield Loss(kind="empty_history", detail=record.id)
    for number, content in enumerate(history):
        found, sid = dict_of(content), f"{record.id}/{number}"
        said = parts.split(found.get("parts"))
        if said.calls or said.answers:
            chat.is_hidden = True
            yield Loss(kind="retained_item", detail=sid)
        if said.text or said.others is not None:
            type_, meta = "user", {"origin": origin, "retained": True}
            if found.get("role") == "model":
                type_, meta = "assistant", {"retained": True}
            yield chat.trail.along(chat.at(record, sid).step(type_, meta, said.values(), said.raw))

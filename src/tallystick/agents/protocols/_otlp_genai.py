"""Spans by the GenAI conventions of OpenTelemetry (semantic-conventions, docs/gen-ai; attribute names of 1.41).

Owns the mapping of `chat`, `invoke_agent` and `execute_tool` spans, of the messages in their attributes, and of the
older spellings that instrumentations still write. Spans are reported when they end, a turn after its calls: times say
what was first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from tallystick.agents.hooks import UNNAMED
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.agents.protocols._otlp_read import Record
from tallystick.agents.protocols._otlp_steps import Case, Told, parsed, without_cache
from tallystick.model.step import Event, Json

COPILOT = "copilot"
_CHATS = frozenset(("chat", "generate_content", "text_completion", "embeddings"))
_NOTE = re.compile(r"\A<current_datetime>[^<]{0,100}</current_datetime>\s*")
"""What Copilot puts before a prompt."""
_INDEXED = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,4})\.(role|content)\Z")


def span(case: Case) -> Told:
    """What one span tells."""
    operation = case.record.text("gen_ai.operation.name")
    if operation in _CHATS:
        yield from _chat(case)
    elif operation == "execute_tool":
        yield from _tool(case)
    elif operation == "invoke_agent":
        yield from _agent(case)
    else:
        yield from case.loss(operation or "span")


# Calls of a model -------------------------------------------------------------------------------------------------------


def _chat(case: Case) -> Told:
    record = case.record
    response = record.text("gen_ai.response.id")
    yield from case.told(*_new_input(case, record.parent or record.span))
    yield from case.told(case.model_call(f"{response or record.span}/usage", _usage(record)))
    if record.failed:
        yield from case.told(case.warning("model-call-failed", record.message or record.text("error.type")))
    yield from case.told(*_output(case, response))


def _usage(record: Record) -> dict[str, Json]:
    tokens = without_cache(
        record.number("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        record.number("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        record.number("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
        record.number("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
        record.number("gen_ai.usage.reasoning.output_tokens"),
    )
    operation = record.text("gen_ai.operation.name")
    return {
        "model": record.text("gen_ai.response.model", "gen_ai.request.model"),
        "provider": record.text("gen_ai.provider.name", "gen_ai.system"),
        "operation": operation if operation != "chat" else None,
        "tokens": tokens,
        "stop_reason": text_of(next(iter(list_of(record.at.get("gen_ai.response.finish_reasons"))), None)),
        "duration_ms": record.duration_ms,
        "success": False if record.failed else None,
        "error": record.text("error.type"),
    }


def _new_input(case: Case, turn: str) -> list[Event]:
    """What the model was given since it spoke last: a prompt, or the results of tools. Told again with every retry."""
    messages = _messages(case.record, "gen_ai.input.messages", "prompt")
    spoke = max((n for n, message in enumerate(messages) if _role(message) in ("assistant", "model")), default=-1)
    events: list[Event] = []
    for message in messages[spoke + 1 :]:
        if _role(message) == "user" and (text := _text(message)):
            events.append(_prompt(case, text, turn, len(events)))
        elif _role(message) == "tool":
            events += _answers(case, message)
    return events


def _prompt(case: Case, text: str, turn: str, number: int) -> Event:
    if case.agent == COPILOT:
        text = _NOTE.sub("", text)
    source_id = f"{UNNAMED}otel/{case.record.trace}/{turn}/prompt"
    return case.prompt(text, f"{source_id}/{number}" if number else source_id, ts=case.record.began)


def _answers(case: Case, message: Mapping[str, Json]) -> list[Event]:
    events: list[Event] = []
    for part in map(dict_of, list_of(message.get("parts"))):
        call = text_of(part.get("id"))
        if part.get("type") == "tool_call_response" and call:
            output = part.get("response", part.get("result"))
            events.append(case.tool_result(call, None, {}, {"content.output": parsed(output)}))
    return events


def _output(case: Case, response: str | None) -> list[Event]:
    """What the model said and asked for. Only its words need a name of ours where the agent has another."""
    base = response or case.record.span
    if case.agent == COPILOT:
        base = f"{UNNAMED}{base}"
    events: list[Event] = []
    number = 0
    for message in _messages(case.record, "gen_ai.output.messages", "completion"):
        for part in map(dict_of, list_of(message.get("parts"))):
            events += _part(case, part, f"{base}/{number}")
            number += 1
    return events


def _part(case: Case, part: Mapping[str, Json], source_id: str) -> list[Event]:
    kind, content, call = part.get("type"), text_of(part.get("content")), text_of(part.get("id"))
    if kind == "text":
        return list(case.answer(content, source_id))
    if kind == "reasoning" and content:
        return [case.step("assistant", source_id, {}, {"content.thinking": content})]
    if kind == "tool_call" and call:
        return [case.tool_call(call, text_of(part.get("name")), parsed(part.get("arguments")))[0]]
    return []


# Messages ----------------------------------------------------------------------------------------------------------------


def _messages(record: Record, key: str, older: str) -> list[Mapping[str, Json]]:
    """The messages in an attribute, each with `role` and `parts`; else those that stand one attribute a member."""
    said = parsed(record.at.get(key))
    if said is not None:
        return [dict_of(message) for message in list_of(said)]
    found: dict[int, dict[str, Json]] = {}
    for name, value in record.at.items():
        match = _INDEXED.match(name)
        if match is not None and match[1] == older:
            found.setdefault(int(match[2]), {})[match[3]] = value
    return [
        {"role": message.get("role"), "parts": [{"type": "text", "content": message.get("content")}]}
        for _, message in sorted(found.items())
    ]


def _role(message: Mapping[str, Json]) -> Json:
    return message.get("role")


def _text(message: Mapping[str, Json]) -> str:
    parts = map(dict_of, list_of(message.get("parts")))
    texts = [part.get("content") for part in parts if part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


# Tools and agents --------------------------------------------------------------------------------------------------------


def _tool(case: Case) -> Told:
    record = case.record
    tool = record.text("gen_ai.tool.name")
    step, call = case.tool_call(
        record.text("gen_ai.tool.call.id") or record.span or None,
        tool,
        parsed(record.at.get("gen_ai.tool.call.arguments")),
        ts=record.began,
    )
    yield from case.told(step)
    error = record.text("error.type")
    failed = record.failed or error is not None
    exit_code = record.number("process.exit.code")
    meta: dict[str, Json] = {
        "success": not failed,
        "duration_ms": record.duration_ms,
        "exit_code": exit_code,
        "error": error,
    }
    values = {
        "content.output": parsed(record.at.get("gen_ai.tool.call.result")),
    }
    if failed:
        values["content.error"] = record.message
    yield from case.told(case.tool_result(call, tool, meta, values))


def _agent(case: Case) -> Told:
    """A run of an agent: the session's own, or, below another span, one that it started."""
    record = case.record
    yield from case.told(case.opening(provider=record.text("gen_ai.provider.name", "gen_ai.system")))
    if not record.parent:
        yield from case.told(*_new_input(case, record.span))
        return
    name = record.text("gen_ai.agent.id") or record.span
    meta: dict[str, Json] = {"agent_id": name, "agent_role": record.text("gen_ai.agent.name")}
    start = case.step("subagent_start", f"{name}/start", meta)
    yield from case.told(msgspec.structs.replace(start, ts=record.began or start.ts))
    ended = {**meta, "success": not record.failed, "duration_ms": record.duration_ms}
    yield from case.told(case.step("subagent_end", f"{name}/end", ended, {"content.error": record.message}))

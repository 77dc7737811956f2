"""OpenTelemetry's logs and spans as steps (OTLP 1.x; what each agent sends: docs/commands/otlp.md).

Owns whose record it is, which session it belongs to, and which mapping it takes. An agent that exports logs and spans
tells the same in both: its logs are recorded, its spans counted. Metrics are sums over events that are reported here
one by one.

Spans by the GenAI conventions of OpenTelemetry (semantic-conventions, docs/gen-ai; attribute names of 1.41) are mapped here:
`chat`, `invoke_agent` and `execute_tool`, the messages in their attributes, and the older spellings that instrumentations
still write. Spans are reported when they end, a turn after its calls: times say what was first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from tallystick.agents.hooks import UNNAMED
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.agents.protocols._otlp_agents import BY_CONVENTION, TELEMETRY
from tallystick.agents.protocols._otlp_read import Record, Signal, records
from tallystick.agents.protocols._otlp_steps import Case, Memory, Names, Told, parsed, without_cache
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Opening, Ref, Step

_CHATS = frozenset(("chat", "generate_content", "text_completion", "embeddings"))
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
    note = TELEMETRY.get(case.agent, BY_CONVENTION).note
    if note is not None:
        text = note.sub("", text)
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
    if TELEMETRY.get(case.agent, BY_CONVENTION).has_other_ids:
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


__all__ = ["Memory", "Signal", "events_of"]

OTHER = "otel"
"""The agent of telemetry that does not say what sent it."""

_SERVICES = {service: name for name, facts in AGENTS.items() for service in facts.services}
_SESSION = ("gen_ai.conversation.id", "session.id", "conversation.id")
_DETAILS = "gen_ai.client.inference.operation.details"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


def events_of(
    signal: Signal, payload: Json, memory: Memory | None = None
) -> Iterator[tuple[str, Step | Opening | Loss]]:
    """The events in an export request (`ExportLogsServiceRequest` and its like, as OTLP/JSON), with the agent each is of.

    Args:
        memory: what earlier requests told that this one may need; it is added to.
    """
    if memory is None:
        memory = Memory()
    found = list(records(signal, payload))
    for record in found:
        if record is not None:
            _note(record, memory)
    told = _all_told(signal, found, memory)
    if signal == "traces":
        return iter(sorted(told, key=_when))
    return told


def _note(record: Record, memory: Memory) -> None:
    """What other records of this request, or a later one, need to know of this one."""
    said = _said_session(record)
    if said is None:
        return
    memory.note_trace(record.trace, said)
    family = _family(record, said)
    if family is not None:
        memory.note_child(*family[1:])


def _family(record: Record, session: str) -> tuple[str, str, Ref] | None:
    """The record's session, a sub-agent's session of which it tells, and what that belongs to; None: it tells of none."""
    find = TELEMETRY.get(agent_of(record), BY_CONVENTION).family
    if find is not None:
        return find(record, session)
    return None


def _when(told: tuple[str, Step | Opening | Loss]) -> str:
    """Spans arrive as they end: a turn after its calls, a call after those that it made."""
    if isinstance(told[1], Step):
        return told[1].ts or ""
    return ""


def _all_told(signal: Signal, found: list[Record | None], memory: Memory) -> Told:
    names, opened = Names(), set[tuple[str, str]]()
    for record in found:
        if record is None:
            yield OTHER, Loss(kind="no_record", fault=True)
            continue
        for agent, event in _told(signal, record, memory, names):
            if isinstance(event, Step) and (agent, event.session) not in opened:
                yield agent, Case(record, agent, event.session, memory, names).opening()
            if not isinstance(event, Loss):
                opened.add((agent, event.session))
            yield agent, event


def _told(signal: Signal, record: Record, memory: Memory, names: Names) -> Told:
    agent = agent_of(record)
    session = _said_session(record) or memory.traces.get(record.trace) or record.trace or record.span
    family = _family(record, session)
    case = Case(record, agent, family[0] if family is not None else session, memory, names)
    log = TELEMETRY.get(agent, BY_CONVENTION).log
    if not session or signal == "metrics":
        yield from case.loss("no_session" if signal != "metrics" else "metric")
    elif signal == "traces":
        yield from case.loss("span_of_logs") if log is not None else span(case)
    elif log is not None:
        yield from log(case)
    elif record.name == _DETAILS:
        yield from span(case)
    else:
        yield from case.loss(record.name or "log")


def _said_session(record: Record) -> str | None:
    resource = record.resource.get("session.id")
    return record.text(*_SESSION) or (resource if isinstance(resource, str) and resource else None)


def agent_of(record: Record) -> str:
    """The agent by the name under which it reports."""
    service = record.resource.get("service.name")
    known = None
    if isinstance(service, str):
        known = _SERVICES.get(service)
    if known is not None:
        return known
    for agent, telemetry in TELEMETRY.items():
        if telemetry.is_own is not None and telemetry.is_own(record):
            return agent
    names = (service if not str(service).startswith("unknown_service") else None, record.at.get("gen_ai.agent.name"))
    return next((name for name in names if isinstance(name, str) and _NAME.match(name)), OTHER)

"""OpenTelemetry's logs and spans as steps (OTLP 1.x; what each agent sends: docs/commands/otlp.md).

Owns whose record it is, which session it belongs to, and which mapping it takes. An agent that exports logs and spans
tells the same in both: its logs are recorded, its spans counted. Metrics are sums over events that are reported here
one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tallystick.agents.claude_code import telemetry as otlp_claude
from tallystick.agents.codex import telemetry as otlp_codex
from tallystick.agents.gemini import telemetry as otlp_gemini
from tallystick.agents.protocols import _otlp_genai
from tallystick.agents.protocols._otlp_read import Record, Signal, records
from tallystick.agents.protocols._otlp_steps import Case, Memory, Names, Told
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Json, Loss, Opening, Ref, Step

__all__ = ["Memory", "Signal", "events_of"]

OTHER = "otel"
"""The agent of telemetry that does not say what sent it."""

_LOGS: dict[str, Callable[[Case], Told]] = {
    otlp_claude.AGENT: otlp_claude.log,
    otlp_codex.AGENT: otlp_codex.log,
    otlp_gemini.GEMINI: otlp_gemini.log,
    otlp_gemini.QWEN: otlp_gemini.log,
}
_FAMILIES = {
    otlp_claude.AGENT: otlp_claude.family,
    otlp_codex.AGENT: otlp_codex.family,
    otlp_gemini.QWEN: otlp_gemini.family,
}
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
    find = _FAMILIES.get(agent_of(record))
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
    if not session or signal == "metrics":
        yield from case.loss("no_session" if signal != "metrics" else "metric")
    elif signal == "traces":
        yield from case.loss("span_of_logs") if agent in _LOGS else _otlp_genai.span(case)
    elif agent in _LOGS:
        yield from _LOGS[agent](case)
    elif record.name == _DETAILS:
        yield from _otlp_genai.span(case)
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
    if record.name.startswith("codex.") or record.scope.startswith("codex"):
        return otlp_codex.AGENT
    if record.name.startswith("claude_code."):  # a service name of the user's own
        return otlp_claude.AGENT
    names = (service if not str(service).startswith("unknown_service") else None, record.at.get("gen_ai.agent.name"))
    return next((name for name in names if isinstance(name, str) and _NAME.match(name)), OTHER)

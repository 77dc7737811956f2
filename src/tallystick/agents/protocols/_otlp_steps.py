"""What telemetry tells, as steps: the members and ids that all agents' mappings share.

Owns the forms of each type of step, the ids of events for which telemetry gives none, what is remembered between two
requests, and how JSON in attributes is read. Must not know which attribute of which agent says it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import msgspec

from tallystick.agents.hooks import UNNAMED
from tallystick.agents.kit.columns import known, number, word
from tallystick.agents.kit.point import Point, after
from tallystick.agents.kit.reading import BadJson, loads_text
from tallystick.agents.protocols._otlp_read import Record
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, SessionKind, Source, Step

Told: TypeAlias = Iterator[tuple[str, Event]]
"""Events with the agent they are of."""

_MOST_TRACES = 4096
_MOST_CALLS = 1024
_HIDDEN = frozenset(("<REDACTED>", "[REDACTED]"))
"""What agents write in the place of words that they were not told to export."""


class Memory:
    """What one request tells that another needs: sessions of traces and of sub-agents, and calls that models asked for."""

    def __init__(self) -> None:
        self.traces: OrderedDict[str, str] = OrderedDict()
        self.parents: OrderedDict[str, Ref] = OrderedDict()
        self._calls: OrderedDict[str, tuple[str, str, Json]] = OrderedDict()

    def note_trace(self, trace: str, session: str) -> None:
        """A trace is of this session."""
        if trace:
            self.traces[trace] = session
            self.traces.move_to_end(trace)
            if len(self.traces) > _MOST_TRACES:
                self.traces.popitem(last=False)

    def note_child(self, session: str, parent: Ref) -> None:
        """A session is a sub-agent's, and belongs to this step."""
        self.parents.setdefault(session, parent)
        if len(self.parents) > _MOST_TRACES:
            self.parents.popitem(last=False)

    def note_call(self, session: str, call: str, tool: str, args: Json) -> None:
        """The model asked for this call."""
        self._calls[call] = (session, tool, args)
        if len(self._calls) > _MOST_CALLS:
            self._calls.popitem(last=False)

    def take_call(self, session: str, tool: str, args: Json) -> str | None:
        """The id of the first such call that has no result yet."""
        found = next((call for call, asked in self._calls.items() if asked == (session, tool, args)), None)
        if found is not None:
            del self._calls[found]
        return found


class Names:
    """Ids for events without one: the same for the same request sent again, as clients do when no answer came."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def name(self, record: Record, kind: str) -> str:
        """An id from what the event is and when it was."""
        base = f"{UNNAMED}otel/{kind}@{record.ts or record.span or '?'}"
        count = self._given[base] = self._given.get(base, 0) + 1
        if count == 1:
            return base
        return f"{base}/{count}"


class Case(msgspec.Struct, frozen=True):
    """A record under work: of which agent and session it is, and what is remembered."""

    record: Record
    agent: str
    session: str
    memory: Memory
    names: Names

    # Steps ----------------------------------------------------------------------------------------------------------

    def step(
        self,
        kind: str,
        source_id: str | None,
        meta: Mapping[str, Json],
        values: Mapping[str, Json] = {},
    ) -> Step:
        """A step of the session, at the time of the record; members and values that are None are left out."""
        name = source_id or self.names.name(self.record, kind)
        return Point(self.session, name, self.record.ts, Source.OTEL).step(kind, meta, values)

    def opening(self, **meta: Json) -> Opening:
        """The session, which is made only once."""
        version = self.record.resource.get("service.version")
        if not isinstance(version, str) or version.startswith("v"):  # Gemini gives its Node's
            version = None
        members = known({"agent_version": version, **meta})
        host = self.record.resource.get("host.name")
        parent = self.memory.parents.get(self.session)
        kind = SessionKind.ROOT
        if parent is not None:
            kind = SessionKind.CHILD
        return Opening(
            session=self.session,
            agent=self.agent,
            kind=kind,
            parent=parent,
            source=Source.OTEL,
            ts=self.record.ts,
            meta=members,
            values=known({"personal.host": word(host)}),
        )

    def prompt(self, text: str | None, source_id: str | None, *, run: str | None = None, ts: str | None = None) -> Step:
        """What a person asked for."""
        shown, is_hidden = text, text in _HIDDEN
        if is_hidden:
            shown = None
        step = self.step("user", source_id, {"run": run, "redacted": is_hidden or None}, {"content.text": shown})
        return msgspec.structs.replace(step, ts=ts or step.ts, opens_request=True)

    def answer(self, text: str | None, source_id: str | None, *, run: str | None = None) -> Iterator[Step]:
        """What the model said; nothing if that is not shown."""
        if text and text not in _HIDDEN:
            yield self.step("assistant", source_id, {"run": run}, {"content.text": text})

    def model_call(self, source_id: str | None, meta: Mapping[str, Json]) -> Step:
        """A call of a model; what it was given, telemetry does not show."""
        return msgspec.structs.replace(self.step("model_call", source_id, meta), input=Input.HIDDEN)

    def tool_call(
        self, call: str | None, tool: str | None, args: Json, *, ts: str | None = None, **meta: Json
    ) -> tuple[Step, str]:
        """A call of a tool, and its id. Without arguments nothing is said of them."""
        step = self.step("tool_call", call, {"tool": tool, **meta}, {"content.args": args})
        found = step.source_id or ""
        return msgspec.structs.replace(step, ts=ts or step.ts, meta={**step.meta, "corr": found}), found

    def tool_result(
        self, call: str, tool: str | None, meta: Mapping[str, Json], values: Mapping[str, Json] = {}
    ) -> Step:
        """How a call ended."""
        members = {"tool": tool, "corr": call, **meta}
        return after(self.step("tool_result", f"{call}/result", members, values), call)

    def decision(self, call: str | None, meta: Mapping[str, Json]) -> Step:
        """Whether a call may be made."""
        source_id = None
        if call:
            source_id = f"{call}/decision"
        return after(self.step("permission", source_id, meta), call or None)

    def warning(self, event: str, error: str | None, **meta: Json) -> Step:
        """Something went wrong."""
        return self.step("warning", None, {"event": event, **meta}, {"content.error": error})

    def told(self, *events: Event) -> Told:
        """Events of this case's agent."""
        for event in events:
            yield self.agent, event

    def loss(self, kind: str) -> Told:
        """The record is understood, and not recorded."""
        yield self.agent, Loss(kind=kind, detail=self.record.name or None)


def parsed(value: Json) -> Json:
    """A value that may be JSON in text: arguments and messages are written so.

    Text that is not an object or list stays text.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return loads_text(value).value
    except BadJson:
        return value


def counts(**named: int | None) -> dict[str, int] | None:
    """Token counts by our names; None if none is known."""
    found = {name: count for name, count in named.items() if count is not None and count >= 0}
    return found or None


def without_cache(
    input_: int | None, output: int | None, read: int | None, write: int | None, reasoning: int | None = None
) -> dict[str, int] | None:
    """Token counts of a source that counts cached input as input, too; here `input` is what no cache gave."""
    if input_ is not None:
        input_ = max(input_ - (read or 0) - (write or 0), 0)
    return counts(input=input_, output=output, cache_read=read, cache_write=write, reasoning=reasoning)


def micros(dollars: Json) -> int | None:
    """Dollars in millionths."""
    amount = number(dollars)
    if amount is not None and 0 <= amount < 1e9:
        return round(amount * 1_000_000)
    return None


class Telemetry(msgspec.Struct, frozen=True, kw_only=True):
    """How the telemetry of one agent is read, where the conventions do not say it all: `TELEMETRY` of its module."""

    log: Callable[[Case], Told] | None = None
    """What one log record tells. None: it exports spans alone; else these, which tell the same, are counted only."""
    family: Callable[[Record, str], tuple[str, str, Ref] | None] | None = None
    """The session of a record, a sub-agent's session that it tells of, and what that belongs to."""
    is_own: Callable[[Record], bool] | None = None
    """Whether a record is the agent's though it is sent under another name of a service."""
    note: re.Pattern[str] | None = None
    """What it puts before a prompt."""
    has_other_ids: bool = False
    """Its histories do not know the ids of responses that its telemetry gives."""

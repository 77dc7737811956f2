"""One session as coverage sees it: its events, who told each, and what became of each call.

Owns going through a journal once, and joining results and refusals with their calls. Must not know what is a gap, nor how
it is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from tallystick.ask.shadow import ABOUT, Row, rows_in
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.recording.entry_index import KnownStep, KnownSteps

WITNESSES = frozenset(("hook", "transcript", "acp", "sdk", "otel"))
_MADE_BY_RECORDER = frozenset(("session_start", "session_end", "sighting", "recovery", "gap", "decision"))
_TURNS = frozenset(("user", "model_call"))
"""What comes when the calls before it are over, in one way or another."""


class StepName(msgspec.Struct, frozen=True):
    """A step that a report is about."""

    n: int
    type: str
    tool: str | None


class KeptOutput(msgspec.Struct, frozen=True):
    """An output that the agent put into a file of its own: the step has its beginning. `bytes_`: as the agent says."""

    step: StepName
    path: str
    size_bytes: int | None
    is_read: bool
    """Whether the record has the whole output too."""


class Event(msgspec.Struct):
    """One event of a session, no matter who reported it."""

    name: StepName
    hash: str
    sources: set[str]
    call: str | None
    agent_id: str | None
    is_prompt: bool
    ts: str
    """When it happened; empty if no one says."""
    is_answered: bool = False
    is_refused: bool = False
    is_by_user: bool = False
    """It was refused by the user, as the agent says."""
    is_interrupted: bool = False
    is_contradicted: bool = False
    succeeded: bool | None = None
    agent_tokens: int = 0
    """What a sub-agent used in all, as its result says."""


class Account:
    """Goes through a journal once.

    Attributes:
        gaps: what was lost, or taken from under us. rows: in what it differs from its files. late, unauthenticated: steps
        that came through the spool, and those of them that anyone may have written. turn: the number of the last prompt or
        model call. outputs: those that are in files of the agent, by event.
    """

    def __init__(self, steps: Iterable[Recorded]) -> None:
        self.gaps: list[StepName] = []
        self.rows: tuple[Row, ...] = ()
        self.late = 0
        self.unauthenticated = 0
        self.turn = 0
        self.outputs: dict[int, KeptOutput] = {}
        self._known = KnownSteps()
        self._events: dict[int, Event] = {}
        self._start: Recorded | None = None
        self._last: Recorded | None = None
        for step in steps:
            self._take(step)
        self._without_call = tuple(self._join())

    @property
    def events(self) -> Iterable[Event]:
        """What happened, in order."""
        return self._events.values()

    @property
    def results_without_call(self) -> tuple[Event, ...]:
        """Results whose call is not in the record."""
        return self._without_call

    @property
    def start(self) -> Recorded | None:
        """The first step."""
        return self._start

    @property
    def end(self) -> str | None:
        """Why the session ended; None: as far as is known it goes on."""
        if self._last is None or self._last.type != "session_end":
            return None
        return str(self._last.member("reason") or "")

    def word(self, member: str) -> str | None:
        """What the session's start says."""
        found = None
        if self._start is not None:
            found = self._start.member(member)
        if isinstance(found, str):
            return found
        return None

    # Steps ----------------------------------------------------------------------------------------------------------

    def _take(self, step: Recorded) -> None:
        self._start = self._start or step
        self._last = step
        tells = step.meta.get("revises", step.meta.get("corroborates"))
        source_id = step.member("source_id")
        known = KnownStep(
            bytes.fromhex(step.hash),
            0,
            step.parents,
            source_id if isinstance(source_id, str) else None,
            tells if type(tells) is int else None,
        )
        self._known.add(known)
        self.late += step.meta.get("spooled") is True
        self.unauthenticated += step.meta.get("authenticated") is False
        if step.type == "sighting":
            self._take_sighting(step)
        elif step.type == "warning" and step.meta.get("about") == ABOUT:
            self.rows = rows_in(step)
        elif step.type in ("gap", "recovery") or (step.type == "warning" and step.meta.get("about") == "transcript"):
            self.gaps.append(_step_name(step))
        elif step.type == "decision" and step.meta.get("effect") == "deny":
            self._refuse(step)
        elif step.type not in _MADE_BY_RECORDER:
            self._take_event(step)

    def _take_sighting(self, step: Recorded) -> None:
        source, seen = step.meta.get("source"), step.member("steps")
        for item in seen if isinstance(seen, list) else ():
            n = None
            if isinstance(item, dict):
                n = item.get("n")
            event = self._event(n)
            if event is not None and isinstance(source, str):
                event.sources.add(source)
                self._known.see(event.name.n, source, item.get("source_id"))

    def _refuse(self, step: Recorded) -> None:
        corr = step.member("corr")
        event = self._event(self._known.find(corr) if isinstance(corr, str) else step.meta.get("parent"))
        if event is not None:
            event.is_refused = True

    def _event(self, n: Json) -> Event | None:
        """The event that entry `n` tells."""
        if type(n) is int:
            return self._events.get(self._known.first(n))
        return None

    def _take_event(self, step: Recorded) -> None:
        first = self._known.first(step.n)
        source = str(step.meta.get("source", "?"))
        event = self._events.get(first)
        if event is None:
            event = self._events[first] = _new_event(step)
            if step.type in _TURNS:
                self.turn = first
        elif "corroborates" in step.meta:
            event.is_contradicted |= step.meta.get("agrees") is not True
        else:
            event.is_contradicted |= step.meta.get("agrees") is False
        event.sources.add(source)
        event.agent_id = event.agent_id or _text(step.member("agent_id"))
        if step.meta.get("decision") == "deny":
            event.is_refused = True
            event.is_by_user |= step.meta.get("decided_by") == "user"
        if "content.output_file" in step.values:
            self._take_output(step)

    def _take_output(self, step: Recorded) -> None:
        size = step.meta.get("output_bytes")
        is_read = "content.output_whole" in step.values or "content.output_whole" in step.unloaded
        kept = KeptOutput(
            _step_name(step), str(step.values["content.output_file"]), size if type(size) is int else None, is_read
        )
        self.outputs[self._known.first(step.n)] = kept

    # Calls and results ----------------------------------------------------------------------------------------------

    def _join(self) -> Iterator[Event]:
        """Mark calls that have a result, and those that were interrupted; results whose call is not in the record."""
        waiting: list[Event] = []
        for event in self._events.values():
            if event.name.type == "tool_call":
                waiting.append(event)
            elif event.name.type == "tool_result":
                call = self._call_of(event)
                if call is None:
                    yield event
            elif event.name.type in _TURNS:
                if event.is_interrupted:
                    _interrupt(waiting)
                waiting = []

    def _call_of(self, result: Event) -> Event | None:
        call = None
        if result.call is not None:
            call = self._event(self._known.find(result.call))
        if call is None or call.name.type != "tool_call":
            return None
        call.is_answered = True
        call.is_by_user |= result.is_by_user
        call.is_interrupted |= result.is_interrupted
        call.is_refused = result.is_refused = call.is_refused or result.is_refused
        call.succeeded = result.succeeded
        call.agent_tokens = max(call.agent_tokens, result.agent_tokens)
        call.agent_id = call.agent_id or result.agent_id
        return call


def _interrupt(calls: list[Event]) -> None:
    """The user stopped the agent: calls that had no result, or that this refused, were interrupted."""
    for call in calls:
        if not call.is_answered or (call.is_refused and call.is_by_user):
            call.is_interrupted, call.is_refused = True, False


def _new_event(step: Recorded) -> Event:
    succeeded, tokens = step.meta.get("success"), step.meta.get("agent_tokens")
    return Event(
        _step_name(step),
        step.hash,
        set(),
        _call_named_by(step),
        _text(step.member("agent_id")),
        step.type == "user" and "origin" not in step.meta,
        str(step.meta.get("ts", "")),
        is_interrupted=step.meta.get("interrupted") is True,
        succeeded=succeeded if isinstance(succeeded, bool) else None,
        agent_tokens=tokens if isinstance(tokens, int) else 0,
    )


def _step_name(step: Recorded) -> StepName:
    return StepName(step.n, step.type, _text(step.member("tool")))


def _text(value: Json) -> str | None:
    if isinstance(value, str):
        return value
    return None


def _call_named_by(step: Recorded) -> str | None:
    """The id of the call that a result is of."""
    if step.type != "tool_result":
        return None
    corr, source_id = step.member("corr"), step.member("source_id")
    if isinstance(corr, str):
        return corr
    if isinstance(source_id, str):
        return source_id.removesuffix("/result")
    return None

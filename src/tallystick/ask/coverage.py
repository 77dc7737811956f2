"""Coverage: what the record of a session lacks, as far as the record itself can tell.

Owns the comparison of calls with results and of what several sources reported, and the word for the outcome. Computed
from journals and the ledger, never from the index. Must not know how it is shown.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from tallystick.agents.blind_spots import explaining
from tallystick.ask.shadow import ABOUT, Row, rows_in
from tallystick.display.text import counted
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.recording.entry_index import KnownStep, KnownSteps
from tallystick.workspace.ledger import ledger_entries

_COMPARED = frozenset(("user", "tool_call", "tool_result"))
"""What every source that sees a session at work would tell of it. Model calls, say, only transcripts tell."""
_WITNESSES = frozenset(("hook", "transcript", "acp", "sdk", "otel"))
_DAMAGE = frozenset(("bad_line", "half_line", "line_too_long", "unsealable"))
_MADE_BY_RECORDER = frozenset(("session_start", "session_end", "sighting", "recovery", "gap", "decision"))


class State(enum.StrEnum):
    """How much of a session is in the record."""

    COMPLETE = "complete"
    """Two or more sources told of it, and they agree; every call has its result."""
    PARTIAL = "partial"
    """Only one source told of it, or something that one of them should have reported is missing."""
    DEGRADED = "degraded"
    """Something is known to be lost, or was taken from under us."""


class StepName(msgspec.Struct, frozen=True):
    """A step that a report is about."""

    n: int
    type: str
    tool: str | None


class Alone(msgspec.Struct, frozen=True):
    """A step that some sources reported and `missing`, which tells of the session too, did not; and what can explain that."""

    step: StepName
    told_by: tuple[str, ...]
    missing: str
    because: tuple[str, ...]


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's record has and lacks.

    `sources` counts by source the steps that it told, alone or as a second witness. `only` counts by source and type
    the steps that it alone reported, of all types. `skipped` counts by kind what readers left out. `late` counts steps
    that came by way of the spool, `unauthenticated` those of them of which nothing shows that our hook wrote them.
    `reasons` say why `state` is not better.
    """

    session: str
    agent: str
    source_session: str | None
    state: State
    reasons: tuple[str, ...]
    is_open: bool
    calls: int
    results: int
    sources: dict[str, int]
    only: dict[str, dict[str, int]]
    without_result: tuple[StepName, ...]
    without_call: tuple[StepName, ...]
    alone: tuple[Alone, ...]
    contradictions: tuple[StepName, ...]
    gaps: tuple[StepName, ...]
    differences: tuple[Row, ...]
    """In what the session and its files differed when they were compared last."""
    late: int
    unauthenticated: int
    skipped: dict[str, int]
    refused: int
    blind_spots: tuple[str, ...]


class _Event(msgspec.Struct):
    """One event of a session, no matter who reported it."""

    name: StepName
    sources: set[str]
    call: str | None
    is_prompt: bool
    is_answered: bool = False
    is_refused: bool = False
    is_contradicted: bool = False


def coverage_of(home: Home, session: str) -> Coverage:
    """What the record of a session lacks.

    Raises:
        JournalError: there is no such journal, or it cannot be read. FormatError: a line is none of ours.
    """
    return _Account(read_session(home, session)).report(session, _skipped(home, session))


def _skipped(home: Home, session: str) -> dict[str, int]:
    """What readers left out of the files of a session, by the newest import of each file."""
    by_file: dict[str, dict[str, int]] = {}
    for entry in ledger_entries(home, holding=session.encode()):
        if entry.type != "import" or entry.meta.get("session") != session:
            continue
        source, skipped = entry.values.get("local.source"), entry.member("skipped")
        path = ""
        if isinstance(source, dict):
            path = str(source.get("path"))
        by_file[path] = skipped if isinstance(skipped, dict) else {}
    total: Counter[str] = Counter()
    for counts in by_file.values():
        total.update({kind: count for kind, count in counts.items() if type(count) is int})
    return dict(total)


class _Account:
    """Goes through a journal once."""

    def __init__(self, steps: Iterable[Recorded]) -> None:
        self._known = KnownSteps()
        self._events: dict[int, _Event] = {}
        self._gaps: list[StepName] = []
        self._rows: tuple[Row, ...] = ()
        self._late = 0
        self._unauthenticated = 0
        self._start: Recorded | None = None
        self._last = ""
        for step in steps:
            self._take(step)

    def _take(self, step: Recorded) -> None:
        self._start = self._start or step
        self._last = step.type
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
        self._late += step.meta.get("spooled") is True
        self._unauthenticated += step.meta.get("authenticated") is False
        if step.type == "sighting":
            self._take_sighting(step)
        elif step.type == "warning" and step.meta.get("about") == ABOUT:
            self._rows = rows_in(step)
        elif step.type in ("gap", "recovery") or (step.type == "warning" and step.meta.get("about") == "transcript"):
            self._gaps.append(_step_name(step))
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

    def _event(self, n: Json) -> _Event | None:
        """The event that entry `n` tells."""
        if type(n) is int:
            return self._events.get(self._known.first(n))
        return None

    def _take_event(self, step: Recorded) -> None:
        first = self._known.first(step.n)
        source = str(step.meta.get("source", "?"))
        event = self._events.get(first)
        if event is None:
            event = self._events[first] = _Event(_step_name(step), set(), _call_of(step), _is_prompt(step))
        elif "corroborates" in step.meta:
            event.is_contradicted |= step.meta.get("agrees") is not True
        else:
            event.is_contradicted |= step.meta.get("agrees") is False
        event.sources.add(source)
        event.is_refused |= step.meta.get("decision") == "deny"

    # The report -----------------------------------------------------------------------------------------------------

    def report(self, session: str, skipped: dict[str, int]) -> Coverage:
        """What was found."""
        without_call = tuple(self._without_call())
        calls = [event for event in self._events.values() if event.name.type == "tool_call"]
        unanswered = tuple(event.name for event in calls if not event.is_answered and not event.is_refused)
        sources = Counter(source for event in self._events.values() for source in event.sources)
        witnesses = sorted(_WITNESSES & sources.keys())
        told_by = witnesses or sorted({"watch"} & sources.keys())
        agent = self._word("agent") or "?"
        alone = tuple(self._alone(agent, witnesses))
        contradictions = tuple(event.name for event in self._events.values() if event.is_contradicted)
        reasons = [
            *_losses(len(self._gaps), skipped),
            *_lacks(
                told_by,
                len(unanswered),
                len(without_call),
                len(alone),
                len(contradictions),
            ),
            *_differing(self._rows),
        ]
        state = State.COMPLETE
        if self._gaps or skipped.keys() & _DAMAGE:
            state = State.DEGRADED
        elif reasons:
            state = State.PARTIAL
        unexplained = {spot for name in unanswered for spot in self._why_unanswered(agent, witnesses, name)}
        return Coverage(
            session=session,
            agent=agent,
            source_session=self._word("source_session"),
            state=state,
            reasons=tuple(reasons),
            is_open=self._last != "session_end",
            calls=len(calls),
            results=sum(event.name.type == "tool_result" for event in self._events.values()),
            sources=dict(sorted(sources.items())),
            only=self._only(),
            without_result=unanswered,
            without_call=without_call,
            alone=alone,
            contradictions=contradictions,
            gaps=tuple(self._gaps),
            differences=self._rows,
            late=self._late,
            unauthenticated=self._unauthenticated,
            skipped=dict(sorted(skipped.items())),
            refused=sum(event.is_refused for event in calls),
            blind_spots=tuple(sorted({spot for item in alone for spot in item.because} | unexplained)),
        )

    def _word(self, member: str) -> str | None:
        found = None
        if self._start is not None:
            found = self._start.member(member)
        if isinstance(found, str):
            return found
        return None

    def _without_call(self) -> Iterator[StepName]:
        """Results whose call is not in the record. Calls that have one are marked on the way."""
        for event in self._events.values():
            if event.name.type != "tool_result":
                continue
            call = None
            if event.call is not None:
                call = self._event(self._known.find(event.call))
            if call is None or call.name.type != "tool_call":
                yield event.name
            else:
                call.is_answered = True
                call.is_refused = event.is_refused = call.is_refused or event.is_refused

    def _alone(self, agent: str, witnesses: list[str]) -> Iterator[Alone]:
        """Prompts, calls and results that one of several witnesses does not tell."""
        for event in self._events.values():
            if event.name.type not in _COMPARED or not (event.is_prompt or event.name.type != "user"):
                continue
            if event.name.type == "tool_result" and event.is_refused:
                continue  # what did not run has no result but the word that it was refused
            for missing in witnesses:
                if event.sources & _WITNESSES and missing not in event.sources:
                    spots = explaining(agent, missing, event.name.type, event.name.tool)
                    yield Alone(event.name, tuple(sorted(event.sources)), missing, tuple(spot.when for spot in spots))

    def _why_unanswered(self, agent: str, witnesses: list[str], call: StepName) -> Iterator[str]:
        for source in witnesses:
            yield from (spot.when for spot in explaining(agent, source, "tool_result", call.tool))

    def _only(self) -> dict[str, dict[str, int]]:
        found: dict[str, Counter[str]] = {}
        for event in self._events.values():
            if len(event.sources) == 1:
                (source,) = event.sources
                found.setdefault(source, Counter())[event.name.type] += 1
        return {source: dict(sorted(counts.items())) for source, counts in sorted(found.items())}


def _losses(gaps: int, skipped: dict[str, int]) -> Iterator[str]:
    damaged = sum(skipped.get(kind, 0) for kind in _DAMAGE)
    if gaps:
        yield f"{counted(gaps, 'gap')} in the record, or in what it was made from"
    if damaged:
        yield f"{counted(damaged, 'line')} of its files could not be read"


def _lacks(witnesses: list[str], unanswered: int, orphans: int, alone: int, contradictions: int) -> Iterator[str]:
    if len(witnesses) < 2:
        if witnesses:
            yield f"only one source reported it: {witnesses[0]}"
        else:
            yield "no source reported it directly"
    if unanswered:
        yield f"{counted(unanswered, 'call')} without a result"
    if orphans:
        yield f"{counted(orphans, 'result')} without a call"
    if alone:
        yield f"{counted(alone, 'step')} that one source reported and another did not"
    if contradictions:
        yield f"{counted(contradictions, 'step')} that two sources report differently"


def _differing(rows: tuple[Row, ...]) -> Iterator[str]:
    if rows:
        yield f"{counted(len(rows), 'difference')} from what its files say"


def _step_name(step: Recorded) -> StepName:
    tool = step.member("tool")
    return StepName(step.n, step.type, tool if isinstance(tool, str) else None)


def _is_prompt(step: Recorded) -> bool:
    return step.type == "user" and "origin" not in step.meta


def _call_of(step: Recorded) -> str | None:
    """The id of the call that a result is of."""
    if step.type != "tool_result":
        return None
    corr, source_id = step.member("corr"), step.member("source_id")
    if isinstance(corr, str):
        return corr
    if isinstance(source_id, str):
        return source_id.removesuffix("/result")
    return None

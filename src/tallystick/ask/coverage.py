"""Coverage: what the record of a session lacks, as far as the record itself can tell.

Owns what counts as missing and what only as a remark, and the word for the outcome. Computed from journals and the ledger,
never from the index. Must not know how it is shown.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from tallystick.agents.blind_spots import explaining, is_by_design
from tallystick.ask.coverage_account import WITNESSES, Account, Event, KeptOutput, StepName
from tallystick.ask.coverage_family import Family
from tallystick.ask.shadow import Row
from tallystick.catalog.agents import AGENTS
from tallystick.display.text import counted, one_line
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.journal.read_losses import ReadLosses
from tallystick.workspace.ledger import ledger_entries

_COMPARED = frozenset(("user", "tool_call", "tool_result"))
"""What every source that sees a session at work would tell of it. Model calls, say, only transcripts tell."""
_NAMED = 3
"""So many steps, or files, are named in the reason itself."""


class State(enum.StrEnum):
    """How much of a session is in the record."""

    COMPLETE = "complete"
    """Nothing is known to be missing."""
    PARTIAL = "partial"
    """Something is missing, or told by one source and not by another; the reasons say what."""
    DEGRADED = "degraded"
    """Something is known to be lost, or was taken from under us."""


class Alone(msgspec.Struct, frozen=True):
    """A step that some sources reported and `missing`, which tells of the session too, did not; and what can explain that."""

    step: StepName
    told_by: tuple[str, ...]
    missing: str
    because: tuple[str, ...]


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's record has and lacks.

    `sources` counts by source the steps that it told, alone or as a second witness. `only` counts by source and type
    the steps that it alone reported, of all types. `skipped` counts by kind what readers left out, `damaged` those of it
    that could not be read. `late` counts steps that came by way of the spool, `unauthenticated` those of them of which
    nothing shows that our hook wrote them. `reasons` say what is missing: none if `state` is complete. `remarks` say what
    explains itself. `is_corroborated`: two or more sources told of it, and they agree.
    """

    session: str
    agent: str
    source_session: str | None
    state: State
    reasons: tuple[str, ...]
    remarks: tuple[str, ...]
    is_open: bool
    is_corroborated: bool
    calls: int
    results: int
    sources: dict[str, int]
    only: dict[str, dict[str, int]]
    without_result: tuple[StepName, ...]
    """Calls that should have a result, and have none."""
    running: tuple[StepName, ...]
    """Calls that had no result yet when the session was read last."""
    without_call: tuple[StepName, ...]
    alone: tuple[Alone, ...]
    contradictions: tuple[StepName, ...]
    gaps: tuple[StepName, ...]
    differences: tuple[Row, ...]
    """In what the session and its files differed when they were compared last."""
    outputs: tuple[KeptOutput, ...]
    """Outputs that the agent put into files of its own."""
    unseen_agents: tuple[StepName, ...]
    """Calls that started a sub-agent of which no session is in the record."""
    late: int
    unauthenticated: int
    skipped: dict[str, int]
    damaged: dict[str, int]
    refused: int
    interrupted: int
    blind_spots: tuple[str, ...]

    @property
    def answer(self) -> str:
        """Whether anything is missing, and what, on one line."""
        if self.reasons:
            return "; ".join(self.reasons)
        if self.is_open:
            return "nothing is missing so far"
        return "nothing is missing"


class _Unanswered(msgspec.Struct, frozen=True):
    """Calls without a result, by what is known of it."""

    missing: tuple[Event, ...]
    running: tuple[Event, ...]
    interrupted: tuple[Event, ...]
    by_design: tuple[Event, ...]


def coverage_of(home: Home, session: str) -> Coverage:
    """What the record of a session lacks.

    Raises:
        JournalError: there is no such journal, or it cannot be read. FormatError: a line is none of ours.
    """
    return next(coverages_of(home, (session,)))


def coverages_of(home: Home, sessions: Sequence[str]) -> Iterator[Coverage]:
    """The same of several sessions: the ledger, and what belongs to what, are read once."""
    losses, family = _losses(home, sessions), Family(home)
    for session in sessions:
        yield _Report(session, Account(read_session(home, session)), losses, family).made()


def _losses(home: Home, sessions: Sequence[str]) -> ReadLosses:
    holding = b'"import"'
    if len(sessions) == 1:
        holding = sessions[0].encode()
    losses = ReadLosses()
    for entry in ledger_entries(home, holding=holding):
        source = entry.values.get("local.source")
        if entry.type == "import" and isinstance(source, dict):
            losses.take(entry.meta, str(source.get("path")), str(source.get("digest")))
    return losses


class _Report:
    """The coverage of one session."""

    def __init__(self, session: str, account: Account, losses: ReadLosses, family: Family) -> None:
        self._session = session
        self._account = account
        self._agent = account.word("agent") or "?"
        self._family = family
        sources = Counter(source for event in account.events for source in event.sources)
        self._sources = dict(sorted(sources.items()))
        self._witnesses = sorted(WITNESSES & sources.keys())
        self._calls = [event for event in account.events if event.name.type == "tool_call"]
        self._skipped: Counter[str] = Counter()
        self._damaged: Counter[str] = Counter()
        for _, kinds, damaged in losses.of_session(session):
            self._skipped.update(kinds)
            self._damaged.update({kind: kinds[kind] for kind in damaged & kinds.keys()})
        start = account.start
        self._is_shown_by_parent = start is not None and start.meta.get("partial") is True
        self._made: int | None = None
        if self._is_shown_by_parent:
            self._made = family.calls_made(session)
        self._has_all_calls = self._made is not None and len(self._calls) >= self._made
        self._joined = {source: self._joined_at(source) for source in self._witnesses}

    def made(self) -> Coverage:
        """What was found."""
        account, calls = self._account, self._calls
        unanswered = self._unanswered()
        alone = tuple(self._alone())
        contradictions = tuple(event.name for event in account.events if event.is_contradicted)
        unseen = tuple(self._unseen_agents())
        lost = tuple(self._lost())
        reasons = (
            *lost,
            *self._lacking(unanswered),
            *self._elsewhere(unseen),
            *_disagreeing([item.step for item in alone], contradictions, len(account.rows)),
        )
        state = State.COMPLETE
        if lost:
            state = State.DEGRADED
        elif reasons:
            state = State.PARTIAL
        explained = {spot for event in unanswered.missing for spot in self._why_unanswered(event.name)}
        return Coverage(
            session=self._session,
            agent=self._agent,
            source_session=account.word("source_session"),
            state=state,
            reasons=reasons,
            remarks=tuple(self._remarks(unanswered)),
            is_open=account.end is None,
            is_corroborated=len(self._witnesses) > 1 and state is State.COMPLETE,
            calls=len(calls),
            results=sum(event.name.type == "tool_result" for event in account.events),
            sources=self._sources,
            only=self._only(),
            without_result=_names(unanswered.missing),
            running=_names(unanswered.running),
            without_call=_names(account.results_without_call),
            alone=alone,
            contradictions=contradictions,
            gaps=tuple(account.gaps),
            differences=account.rows,
            outputs=tuple(account.outputs.values()),
            unseen_agents=_names(unseen),
            late=account.late,
            unauthenticated=account.unauthenticated,
            skipped=dict(sorted(self._skipped.items())),
            damaged=dict(sorted(self._damaged.items())),
            refused=sum(event.is_refused for event in calls),
            interrupted=sum(event.is_interrupted for event in calls),
            blind_spots=tuple(sorted({spot for item in alone for spot in item.because} | explained)),
        )

    # Calls without a result -----------------------------------------------------------------------------------------

    def _unanswered(self) -> _Unanswered:
        kinds: dict[str, list[Event]] = {"missing": [], "running": [], "interrupted": [], "by_design": []}
        for event in self._calls:
            if not event.is_answered and not event.is_refused:
                kinds[self._why_without_result(event)].append(event)
        return _Unanswered(**{kind: tuple(events) for kind, events in kinds.items()})

    def _why_without_result(self, call: Event) -> str:
        if call.is_interrupted:
            return "interrupted"
        told_by = call.sources & WITNESSES
        if told_by and all(is_by_design(self._agent, source, "tool_result", call.name.tool) for source in told_by):
            return "by_design"
        if self._account.end is None and call.name.n > self._account.turn:
            return "running"
        return "missing"

    def _why_unanswered(self, call: StepName) -> Iterator[str]:
        for source in self._witnesses:
            yield from (spot.when for spot in explaining(self._agent, source, "tool_result", call.tool))

    # Reasons --------------------------------------------------------------------------------------------------------

    def _lost(self) -> Iterator[str]:
        """What is known to be lost, or was taken from under us."""
        gaps, damaged = self._account.gaps, sum(self._damaged.values())
        if gaps:
            yield f"{counted(len(gaps), 'gap')} in the record, or in what it was made from: {_steps(gaps)}"
        if damaged:
            yield f"{counted(damaged, 'line')} of its files could not be read"

    def _lacking(self, unanswered: _Unanswered) -> Iterator[str]:
        missing, orphans = _names(unanswered.missing), _names(self._account.results_without_call)
        if missing:
            why = ""
            if self._account.end == "compaction":
                why = ", cut off by a compaction"
            yield f"{counted(len(missing), 'call')} without a result{why}: {_steps(missing)}"
        if orphans:
            why = ""
            if orphans[0].n == 1:
                why = ", for its file begins in the middle"
            yield f"{counted(len(orphans), 'result')} without a call{why}: {_steps(orphans)}"

    def _elsewhere(self, unseen: Sequence[Event]) -> Iterator[str]:
        """What is in files of the agent that are not in the record."""
        kept = [output for output in self._account.outputs.values() if not output.is_read]
        if kept:
            paths = _listed([one_line(output.path) for output in kept])
            yield f"{counted(len(kept), 'output')} of which only the beginning is in the record, the rest in {paths}"
        if unseen:
            used = ""
            if tokens := sum(event.agent_tokens for event in unseen):
                used = f"; at least {tokens:,} tokens of theirs are in no total"
            yield f"{counted(len(unseen), 'sub-agent')} without a transcript: {_steps(_names(unseen))}{used}"
        if self._is_shown_by_parent and not self._has_all_calls:
            shown = "may not show all of it"
            if self._made is not None:
                shown = f"shows {len(self._calls):,} of its {counted(self._made, 'call')}"
            yield f"its own transcript was not read: its parent's {shown}"

    def _remarks(self, unanswered: _Unanswered) -> Iterator[str]:
        if not self._sources:
            yield "it has no steps of its own but its beginning"
        if len(self._witnesses) == 1:
            yield f"only one source reported it: {self._witnesses[0]}"
        if self._is_shown_by_parent and self._has_all_calls:
            yield "its parent's transcript shows all of its calls; what it used is at least what is shown"
        for source, since in self._joined.items():
            if since is not None:
                yield f"{source} reported it from {since[:16].replace('T', ' ')} on, when it was connected"
        if unanswered.running:
            running = _steps(_names(unanswered.running))
            yield f"{counted(len(unanswered.running), 'call')} had no result yet when it was read last: {running}"
        if unanswered.by_design:
            tools = _listed(sorted({event.name.tool or "?" for event in unanswered.by_design}))
            yield f"{counted(len(unanswered.by_design), 'call')} of which the agent keeps no result: {one_line(tools)}"
        if interrupted := [event.name for event in self._calls if event.is_interrupted]:
            yield f"{counted(len(interrupted), 'call')} that the user interrupted: {_steps(interrupted)}"

    # Several sources ------------------------------------------------------------------------------------------------

    def _joined_at(self, source: str) -> str | None:
        """When a source began to report a session that was under way; None if it did from the start."""
        start = self._account.start
        compared = [event for event in self._account.events if event.ts and _is_compared(event)]
        own = [event.ts for event in compared if source in event.sources]
        if start is not None and start.meta.get("source") == source and start.meta.get("ts"):
            own.append(str(start.meta["ts"]))
        if not own or all(event.ts >= min(own) for event in compared):
            return None
        return min(own)

    def _alone(self) -> Iterator[Alone]:
        """Prompts, calls and results that one of several witnesses does not tell, though it was there."""
        for event in self._account.events:
            if not _is_compared(event):
                continue
            if event.name.type == "tool_result" and event.is_refused:
                continue  # what did not run has no result but the word that it was refused
            for missing in self._witnesses:
                if event.sources & WITNESSES and missing not in event.sources and not self._is_before(event, missing):
                    spots = explaining(self._agent, missing, event.name.type, event.name.tool)
                    yield Alone(event.name, tuple(sorted(event.sources)), missing, tuple(spot.when for spot in spots))

    def _is_before(self, event: Event, source: str) -> bool:
        since = self._joined[source]
        return since is not None and bool(event.ts) and event.ts < since

    def _only(self) -> dict[str, dict[str, int]]:
        found: dict[str, Counter[str]] = {}
        for event in self._account.events:
            if len(event.sources) == 1:
                (source,) = event.sources
                found.setdefault(source, Counter())[event.name.type] += 1
        return {source: dict(sorted(counts.items())) for source, counts in sorted(found.items())}

    # Sub-agents -----------------------------------------------------------------------------------------------------

    def _unseen_agents(self) -> Iterator[Event]:
        """Calls that started a sub-agent, as far as is known, of which no session is in the record."""
        facts = AGENTS.get(self._agent)
        tools = frozenset[str]()
        if facts is not None:
            tools = frozenset(facts.tools.get("start_agent", ()))
        calls = [event for event in self._calls if event.name.tool in tools]
        starting = [event for event in calls if event.is_answered and event.succeeded is not False]
        spawned = self._family.spawned_by(self._session) if starting else ()
        left = [event for event in starting if event.hash not in spawned]
        unplaced = len(spawned) - (len(starting) - len(left))  # they name the session, not the call
        if len(left) > max(unplaced, 0):
            unplaced = max(unplaced, 0) + self._family.unplaced_near(self._session, tools)
        yield from left[max(unplaced, 0) :]


def _is_compared(event: Event) -> bool:
    return event.name.type in _COMPARED and (event.is_prompt or event.name.type != "user")


def _disagreeing(alone: Sequence[StepName], contradictions: Sequence[StepName], differences: int) -> Iterator[str]:
    if alone:
        yield f"{counted(len(alone), 'step')} that one source reported and another did not: {_steps(alone)}"
    if contradictions:
        yield f"{counted(len(contradictions), 'step')} that two sources report differently: {_steps(contradictions)}"
    if differences:
        yield f"{counted(differences, 'difference')} from what its files say"


def _names(events: Sequence[Event]) -> tuple[StepName, ...]:
    return tuple(event.name for event in events)


def _steps(names: Sequence[StepName]) -> str:
    """The first steps by number and tool, and how many more there are."""
    return _listed([f"{name.n} {one_line(name.tool or name.type)}" for name in names])


def _listed(words: Sequence[str]) -> str:
    more = ""
    if len(words) > _NAMED:
        more = f" and {len(words) - _NAMED:,} more"
    return ", ".join(words[:_NAMED]) + more

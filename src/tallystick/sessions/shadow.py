"""The shadow of a live record: what its transcripts alone would have given, and where the two differ.

Owns what is compared (tree, status, prompts, calls, outcomes, tokens, order) and the list of differences. A pure function
of recorded steps on one side and of what readers say on the other. Must not know how either was read, nor which difference
an agent is known for.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from tallystick.model.recorded import Recorded
from tallystick.model.step import Event, Json, Opening, Ref, SessionKind, Step
from tallystick.sessions.origins import revised_opening, sealed_parent
from tallystick.sessions.states import Moment, Status, after, end_status, is_there, open_status, word_of_end

_TOLD = frozenset(("user", "tool_call", "tool_result", "model_call"))
"""What is compared. Whatever else an agent says, one of the two may well leave out."""
_IN_ORDER = frozenset(("user", "tool_call"))
"""What has an order: a result comes when it comes."""


class Aspect(enum.StrEnum):
    """In what the two differ."""

    TREE = "tree"
    STATUS = "status"
    PROMPT = "prompt"
    CALL = "call"
    OUTCOME = "outcome"
    TOKENS = "tokens"
    ORDER = "order"


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in which a record and its transcripts differ. None: that side has nothing."""

    session: str
    """The agent's own id."""
    aspect: Aspect
    step: str | None = None
    """The id of the step, as the side that has it names it."""
    recorded: Json = None
    transcript: Json = None
    is_late: bool = False
    """A step of it waited on disk while no recorder ran."""


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a session, no matter how often it was reported."""

    type: str
    names: frozenset[str]
    """Every id under which it was reported."""
    tool: str | None = None
    text: str | None = None
    """Of a prompt: what it says, without blanks around it."""
    success: Json = None
    exit_code: Json = None
    tokens: Json = None
    is_late: bool = False
    """It waited on disk while no recorder ran."""


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """What one side has of a session."""

    session: str
    kind: str
    parent: str | None
    """The agent's own id of the session that it belongs to."""
    status: Status | None
    """None: nothing says how it ended."""
    events: tuple[Occurrence, ...]


# What the transcripts say ------------------------------------------------------------------------------------------------


def told(
    events: Iterable[Event], *, shared: Callable[[str], str | None] = lambda _: None, are_ids_global: bool = True
) -> dict[str, Account]:
    """What transcripts say of their sessions, by the agent's ids.

    Args:
        events: of all their files, parents before sub-agents, in the order of each file.
        shared: which session outside of these has an event already.
        are_ids_global: the agent's ids hold for all its sessions; else each has what two of them have.
    """
    telling = _Telling(shared, are_ids_global=are_ids_global)
    for event in events:
        if isinstance(event, Opening):
            telling.openings.setdefault(event.session, event)
        elif isinstance(event, Step):
            telling.take(event)
    return {session: telling.account(session) for session in telling.openings | telling.steps if telling.has(session)}


class _Telling:
    """Events on their way into accounts: an event that another session has is that one's, a common history (13.3)."""

    def __init__(self, shared: Callable[[str], str | None], *, are_ids_global: bool) -> None:
        self.openings: dict[str, Opening] = {}
        self.steps: dict[str, dict[str, Step]] = {}
        self._homes: dict[str, str] = {}
        self._forked: dict[str, str] = {}
        self._shared = shared
        self._are_ids_global = are_ids_global

    def take(self, step: Step) -> None:
        own = self.steps.setdefault(step.session, {})
        key = step.source_id or f"#{len(own)}"
        if self._are_ids_global and step.source_id is not None and key not in own:
            home = self._homes.get(key) or self._shared(key)
            if home is not None and home != step.session:
                if not own:
                    self._forked[step.session] = home
                return
            self._homes[key] = step.session
        own[key] = step

    def has(self, session: str) -> bool:
        """Whether a session has anything of its own."""
        return bool(self.steps.get(session)) or session not in self._forked

    def _holder(self, ref: Ref) -> str | None:
        """Which session has a step, of one and its continuations."""
        first = str(ref.session).partition("~")[0]
        held = (
            name for name, steps in self.steps.items() if name.partition("~")[0] == first and ref.source_id in steps
        )
        return next(held, ref.session)

    def account(self, session: str) -> Account:
        opening, steps = self.openings.get(session), tuple(self.steps.get(session, {}).values())
        kind, parent = SessionKind.ROOT, None
        if opening is not None:
            kind, parent = opening.kind, self._holder(opening.parent) if opening.parent is not None else None
            parent = parent or _text(opening.meta.get("parent_session"))
        if session in self._forked:
            kind, parent = SessionKind.FORK, self._forked[session]
        events = tuple(_said(step, frozenset((name,))) for name, step in self.steps.get(session, {}).items())
        return Account(
            session=session,
            kind=kind.value,
            parent=parent,
            status=_status(_moments(steps)),
            events=tuple(event for event in events if event.type in _TOLD),
        )


def _moments(steps: Sequence[Step]) -> Iterator[Moment]:
    for n, step in enumerate(steps):
        if step.type == "session_end":
            yield Moment(n, is_end=True, word=word_of_end(step.meta.get("status"), step.meta.get("success")))


def _status(moments: Iterable[Moment]) -> Status | None:
    last = None
    for moment in moments:
        last = moment
    if last is None:
        return None
    return end_status(last.word)


# What is recorded --------------------------------------------------------------------------------------------------------


def recorded(journals: Mapping[str, Sequence[Recorded]]) -> dict[str, Account]:
    """What a record has of its sessions, by the agent's own ids.

    Args: journals: the steps of each, by our own id.
    """
    names = {sid: _text(steps[0].member("source_session")) or sid for sid, steps in journals.items() if steps}
    accounts = (_account(steps, names) for steps in journals.values() if steps)
    return {account.session: account for account in accounts}


def _account(steps: Sequence[Recorded], names: Mapping[str, str]) -> Account:
    opening = revised_opening(steps)
    sealed, claim = sealed_parent(opening), opening.member("parent_source")
    parent = names.get(sealed[0]) if sealed is not None else None
    if sealed is None and isinstance(claim, dict):
        parent = _text(claim.get("session"))
    return Account(
        session=names[steps[0].session],
        kind=_text(opening.member("kind")) or SessionKind.ROOT.value,
        parent=parent or _text(steps[0].member("parent_session")),
        status=_status_of(steps),
        events=tuple(_events(steps)),
    )


def _status_of(steps: Sequence[Recorded]) -> Status:
    now, there = Status.ACTIVE, False
    for step in steps:
        there |= is_there(step.type, step.meta.get("source"))
        if step.type == "session_end" and "corroborates" not in step.meta:
            now = after(
                now, Moment(step.n, is_end=True, word=word_of_end(step.member("status"), step.member("success")))
            )
        elif step.type == "session_start" and step.n:
            now = after(now, Moment(step.n, is_end=False, is_resumed=step.meta.get("resumed") is True))
            there = is_there(step.type, step.meta.get("source"))
    if now is Status.ACTIVE:
        return open_status(there=there)
    return now


def _events(steps: Sequence[Recorded]) -> Iterator[Occurrence]:
    first: dict[int, int] = {}
    found: dict[int, Occurrence] = {}
    for step in steps:
        earlier = step.meta.get("revises", step.meta.get("corroborates"))
        first[step.n] = first.get(earlier, earlier) if type(earlier) is int else step.n
        if step.type == "sighting":
            _note_sightings(step, first, found)
            continue
        said = _said(step, frozenset((_text(step.member("source_id")) or f"#{step.n}",)))
        known = found.get(first[step.n])
        if known is not None:
            said = _both(known, said, is_newer="revises" in step.meta)
        found[first[step.n]] = said
    yield from (said for said in found.values() if said.type in _TOLD)


def _note_sightings(step: Recorded, first: Mapping[int, int], found: dict[int, Occurrence]) -> None:
    seen = step.member("steps")
    for item in seen if isinstance(seen, list) else ():
        n, name = item.get("n"), item.get("source_id")
        known = found.get(first.get(n, -1)) if type(n) is int else None
        if known is not None and isinstance(name, str):
            found[first[n]] = msgspec.structs.replace(known, names=known.names | {name})


def _both(known: Occurrence, said: Occurrence, *, is_newer: bool) -> Occurrence:
    """What two reports of one event say: the newer where it revises, else the first, and the second where that is silent."""
    (one, other) = (said, known) if is_newer else (known, said)
    return Occurrence(
        type=known.type,
        names=known.names | said.names,
        tool=known.tool,
        text=one.text if one.text is not None else other.text,
        success=one.success if one.success is not None else other.success,
        exit_code=one.exit_code if one.exit_code is not None else other.exit_code,
        tokens=one.tokens if one.tokens is not None else other.tokens,
        is_late=known.is_late or said.is_late,
    )


def _said(step: Step | Recorded, names: frozenset[str]) -> Occurrence:
    kind = step.type
    if kind == "user" and "origin" in step.meta:
        kind = "note"  # no human gave it
    text = step.values.get("content.text")
    return Occurrence(
        type=kind,
        names=names,
        tool=_text(step.meta.get("tool")),
        text=text.strip() if kind == "user" and isinstance(text, str) else None,
        success=step.meta.get("success"),
        exit_code=step.meta.get("exit_code"),
        tokens=step.meta.get("tokens"),
        is_late=step.meta.get("spooled") is True,
    )


def _text(value: Json) -> str | None:
    if isinstance(value, str) and value:
        return value
    return None


# Comparing ---------------------------------------------------------------------------------------------------------------


def differences(record: Mapping[str, Account], transcripts: Mapping[str, Account]) -> list[Difference]:
    """Where a record and its transcripts differ, session by session."""
    found: list[Difference] = []
    for session in {**transcripts, **record}:
        mine, theirs = record.get(session), transcripts.get(session)
        if mine is not None and theirs is not None:
            found += _of_session(mine, theirs)
        elif theirs is not None:
            found.append(Difference(session=session, aspect=Aspect.TREE, transcript=theirs.kind))
        elif mine is not None:
            found.append(Difference(session=session, aspect=Aspect.TREE, recorded=mine.kind))
    return found


def _of_session(record: Account, transcript: Account) -> Iterator[Difference]:
    hangs = [record.kind, record.parent], [transcript.kind, transcript.parent]
    if hangs[0] != hangs[1]:
        yield _difference(record, Aspect.TREE, None, *hangs)
    if record.status is not transcript.status and (transcript.status is not None or record.status is Status.ACTIVE):
        yield _difference(record, Aspect.STATUS, None, record.status, transcript.status)
    by_name = {name: event for event in record.events for name in event.names}
    pairs: list[tuple[Occurrence, Occurrence]] = []
    for event in transcript.events:
        (name,) = event.names
        match = by_name.get(name)
        if match is None:
            yield _difference(record, _ASPECTS[event.type], name, None, _words(event))
        else:
            pairs.append((match, event))
            yield from _of_event(record, match, event, name)
    yield from _left_over(record, pairs)
    yield from _order(record, pairs)


_ASPECTS = {
    "user": Aspect.PROMPT,
    "tool_call": Aspect.CALL,
    "tool_result": Aspect.OUTCOME,
    "model_call": Aspect.TOKENS,
}


def _left_over(record: Account, pairs: Sequence[tuple[Occurrence, Occurrence]]) -> Iterator[Difference]:
    """What the record has and the transcript has not, or has once where the record has it twice."""
    matched = {id(mine) for mine, _ in pairs}
    for event in record.events:
        if id(event) not in matched:
            yield _difference(record, _ASPECTS[event.type], min(event.names), _words(event), None)


def _of_event(record: Account, mine: Occurrence, theirs: Occurrence, name: str) -> Iterator[Difference]:
    if theirs.text is not None and mine.text != theirs.text:
        yield _difference(record, Aspect.PROMPT, name, mine.text, theirs.text)
    for member in ("success", "exit_code"):
        own, other = getattr(mine, member), getattr(theirs, member)
        if other is not None and own != other:
            yield _difference(record, Aspect.OUTCOME, name, {member: own}, {member: other})
    if theirs.tokens is not None and mine.tokens != theirs.tokens:
        yield _difference(record, Aspect.TOKENS, name, mine.tokens, theirs.tokens)


def _order(record: Account, pairs: Sequence[tuple[Occurrence, Occurrence]]) -> Iterator[Difference]:
    """The first event that does not stand where the transcript has it. What was called at once has no order.

    Of calls of one answer of a model that are made at once, each has a hook of its own, and these run beside each other.
    """
    places = {id(event): place for place, event in enumerate(record.events)}
    told_order = [(mine, turn) for mine, turn in _turns(mine for mine, _ in pairs) if mine.type in _IN_ORDER]
    own_order = sorted(told_order, key=lambda one: places[id(one[0])])
    for (mine, turn), (theirs, told_turn) in zip(own_order, told_order, strict=True):
        if turn != told_turn:
            found = _difference(record, Aspect.ORDER, None, min(mine.names), min(theirs.names))
            yield msgspec.structs.replace(found, is_late=mine.is_late or theirs.is_late)
            return


def _turns(events: Iterable[Occurrence]) -> Iterator[tuple[Occurrence, int]]:
    """Events with the number of their turn: calls that follow each other, with no result between them, are one."""
    turn, last = 0, ""
    for event in events:
        turn += not (event.type == last == "tool_call")
        last = event.type
        yield event, turn


def _difference(account: Account, aspect: Aspect, step: str | None, mine: Json, theirs: Json) -> Difference:
    return Difference(session=account.session, aspect=aspect, step=step, recorded=mine, transcript=theirs)


def _words(event: Occurrence) -> str:
    return event.tool or event.type

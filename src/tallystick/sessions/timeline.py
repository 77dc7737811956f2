"""The steps of one or several sessions in one line, as they are replayed: what belongs to a session where it hangs.

Owns that order, which steps belong to a sub-agent that has no session of its own, and what stands for sub-agents that are
folded away. Must not know where steps are read from, nor how they are shown. Sessions by the clock: merging.py.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from tallystick.catalog.agents import AGENTS
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

MAIN = "main"
_OVER = frozenset(("goal_end", "workflow_end", "session_end"))
"""What a session does when its sub-agents are done, those among them that tell no end."""
DEEPEST = 32
"""Sessions that hang deeper stay folded: each one that is open holds a file."""


class Below(enum.StrEnum):
    """What is done about the sub-agents, continuations and forks of a session."""

    INLINE = "inline"
    FOLD = "fold"
    HIDE = "hide"


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How much a session or a sub-agent did. `sessions` counts those that belong to it, at whatever depth."""

    steps: int = 0
    tool_calls: int = 0
    failures: int = 0
    tokens: int = 0
    sessions: int = 0
    refusals: int = 0

    def plus(self, step: Recorded) -> Counts:
        """With one more step."""
        return Counts(
            steps=self.steps + 1,
            tool_calls=self.tool_calls + (step.type == "tool_call"),
            failures=self.failures + (step.meta.get("success") is False),
            tokens=self.tokens + _tokens(step.meta.get("tokens")),
            sessions=self.sessions,
            refusals=self.refusals,
        )


class Adding:
    """Adds steps up. A failure that is reported again, by a step that revises the one before, is still one."""

    def __init__(self) -> None:
        self._failed: set[tuple[str, int]] = set()

    def plus(self, counts: Counts, step: Recorded) -> Counts:
        """Counts with one more step."""
        more = counts.plus(step)
        if more.failures == counts.failures:
            return more
        is_known = (step.session, step.meta.get("revises")) in self._failed
        self._failed.add((step.session, step.n))
        if is_known:
            return msgspec.structs.replace(more, failures=counts.failures)
        return more


def count_all(steps: Iterable[Recorded]) -> Counts:
    """How much some steps come to."""
    counts, adding = Counts(), Adding()
    for step in steps:
        counts = adding.plus(counts, step)
    return counts


class Track(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is replayed.

    `hangs_on` is the hash of the step that it belongs to, in the session `parent`; where only the agent says so,
    `is_claimed`. `source_session` is the agent's own id. `counts` are known where the index has them.
    """

    session: str
    agent: str
    source_session: str | None = None
    kind: str = "root"
    parent: str | None = None
    hangs_on: str | None = None
    is_claimed: bool = False
    started: str | None = None
    counts: Counts | None = None


class Beat(msgspec.Struct, frozen=True, gc=False):
    """One step of a replay: whose it is, and how deep that hangs below the session that was asked for.

    With `folded`, it stands for all steps of a session (its first one) or of a sub-agent (its last one): so many.
    """

    step: Recorded
    track: Track
    depth: int = 0
    folded: Counts | None = None
    role: str | None = None
    """The sub-agent that acts, where it has no session of its own."""


Read = Callable[[Track], Iterator[Recorded]]
"""Gives the steps of a session, in order."""


def time_of(step: Recorded) -> str:
    """When a step happened, else when it was recorded; empty if it says neither. Such times order by their text."""
    ts = step.meta.get("ts")
    if not isinstance(ts, str):
        ts = step.meta.get("recorded")
    if isinstance(ts, str):
        return ts
    return ""


def nested(tops: Sequence[Track], children: Mapping[str, Sequence[Track]], read: Read, below: Below) -> Iterator[Beat]:
    """Sessions one after the other, each with what belongs to it after the step on which it hangs.

    A session whose step is not known stands where its own time says. No session comes twice below one that was asked for.
    """
    for top in tops:
        yield from _Nest(children, read, below).beats(top)


class _Open:
    """A session that is being read, and those that belong to it and have not come yet."""

    def __init__(self, track: Track, steps: Iterator[Recorded], depth: int, hanging: Iterable[Track]) -> None:
        self.track, self.steps, self.depth = track, steps, depth
        self.placed: dict[str, list[Track]] = {}
        self.loose: list[Track] = []
        self.due: list[Track] = []
        self.held: Recorded | None = None
        for child in hanging:
            if child.hangs_on is not None:
                self.placed.setdefault(child.hangs_on, []).append(child)
            else:
                self.loose.append(child)
        self.loose.sort(key=lambda child: child.started or "~", reverse=True)

    def next(self) -> Recorded | None:
        """The next step; None at the end, or if a session is due before it."""
        step, self.held = self.held, None
        if step is None:
            step = next(self.steps, None)
        if step is None:
            self.due = [child for hanging in self.placed.values() for child in hanging] + self.loose[::-1]
            self.placed, self.loose = {}, []
        elif self.loose and (self.loose[-1].started or "~") < time_of(step):
            self.held = step
            self.due = [self.loose.pop()]
            return None
        return step


class _Nest:
    """One session with all that belongs to it."""

    def __init__(self, children: Mapping[str, Sequence[Track]], read: Read, below: Below) -> None:
        self._children = children
        self._read = read
        self._below = below
        self._seen: set[str] = set()

    def beats(self, top: Track) -> Iterator[Beat]:
        open_ = [self._open(top, 0)]
        while open_:
            at = open_[-1]
            if at.due:
                child = at.due.pop(0)
                if child.session in self._seen:
                    continue
                if self._below is Below.FOLD or at.depth + 1 > DEEPEST:
                    self._seen.add(child.session)
                    yield from self._folded(child, at.depth + 1)
                else:
                    open_.append(self._open(child, at.depth + 1))
                continue
            step = at.next()
            if step is not None:
                yield Beat(step, at.track, at.depth)
                at.due = at.placed.pop(step.hash, [])
            elif not at.due:
                open_.pop()

    def _open(self, track: Track, depth: int) -> _Open:
        self._seen.add(track.session)
        hanging = () if self._below is Below.HIDE else self._children.get(track.session, ())
        return _Open(track, iter(self._read(track)), depth, hanging)

    def _folded(self, track: Track, depth: int) -> Iterator[Beat]:
        """One beat for a whole session. It is read only if no one has counted it."""
        first = next(iter(self._read(track)), None)
        if first is None:
            return
        counts = track.counts
        if counts is None:
            counts = count_all(self._read(track))
        below = _size(self._children, track.session)
        yield Beat(first, track, depth, msgspec.structs.replace(counts, sessions=below))


def _size(children: Mapping[str, Sequence[Track]], session: str) -> int:
    """How many sessions belong to one, at whatever depth."""
    seen, waiting = {session}, [session]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child.session not in seen:
                seen.add(child.session)
                waiting.append(child.session)
    return len(seen) - 1


def folded_runs(beats: Iterable[Beat]) -> Iterator[Beat]:
    """Beats with each session that belongs to the one asked for as one beat, which counts the steps that came of it."""
    held: Beat | None = None
    sessions: set[str] = set()
    for beat in beats:
        if beat.depth == 0 or (beat.depth == 1 and (held is None or beat.track.session != held.track.session)):
            if held is not None:
                yield _counted(held, sessions)
            held, sessions = None, set()
        if beat.depth == 0:
            yield beat
            continue
        if held is not None and held.folded is not None:
            counts = held.folded
        else:
            counts = Counts()
        first = beat
        if held is not None:
            first = held
        sessions.add(beat.track.session)
        held = Beat(first.step, first.track, first.depth, counts.plus(beat.step))
    if held is not None:
        yield _counted(held, sessions)


def _counted(beat: Beat, sessions: set[str]) -> Beat:
    counts = beat.folded
    if counts is None:
        counts = Counts()
    sessions.discard(beat.track.session)
    return msgspec.structs.replace(beat, folded=msgspec.structs.replace(counts, sessions=len(sessions)))


# Sub-agents within a session ------------------------------------------------------------------------------------------


class Roles:
    """Which steps of sessions are a sub-agent's that has no session of its own: by its role, in some agents' logs."""

    def __init__(self, agent: str) -> None:
        facts = AGENTS.get(agent)
        self._is_marked = facts is not None and facts.marks_roles
        self._acting: set[str] = set()

    def role(self, step: Recorded) -> str | None:
        """The role of the sub-agent whose step it is; its start and its end are its own."""
        role = step.member("agent_role")
        if not isinstance(role, str) or role == MAIN:
            return None
        if step.type == "subagent_start":
            self._acting.add(role)
            return role
        is_its = self._is_marked or role in self._acting
        if step.type == "subagent_end":
            self._acting.discard(role)
        if is_its:
            return role
        return None


def with_roles(beats: Iterable[Beat], below: Below) -> Iterator[Beat]:
    """Beats with the steps of sub-agents that have no session of their own marked, folded into their end, or left out."""
    sessions: dict[str, Roles] = {}
    folded: dict[tuple[str, str], Beat] = {}
    adding = Adding()
    for beat in beats:
        if beat.folded is not None:
            yield beat
            continue
        roles = sessions.get(beat.track.session)
        if roles is None:
            roles = sessions[beat.track.session] = Roles(beat.track.agent)
        role = roles.role(beat.step)
        if role is None:
            if beat.step.type in _OVER:
                yield from _never_ended(folded, beat.track.session, below)
            yield beat
            continue
        key, kind = (beat.track.session, role), beat.step.type
        if below is Below.INLINE or kind == "subagent_start":
            yield _of_role(beat, role)
        elif kind == "subagent_end":
            done = folded.pop(key, None)
            yield _of_role(beat, role, done.folded if done is not None and below is Below.FOLD else None)
        else:
            held = folded.get(key)
            if held is not None and held.folded is not None:
                counts = held.folded
            else:
                counts = Counts()
            folded[key] = _of_role(beat, role, adding.plus(counts, beat.step))
    for session in sessions:
        yield from _never_ended(folded, session, below)


def _never_ended(folded: dict[tuple[str, str], Beat], session: str, below: Below) -> list[Beat]:
    """What a session's sub-agents did of which no end is reported, as it is folded: no one asks for it any more."""
    done = [folded.pop(key) for key in list(folded) if key[0] == session]
    if below is Below.FOLD:
        return done
    return []


def _of_role(beat: Beat, role: str, folded: Counts | None = None) -> Beat:
    return Beat(beat.step, beat.track, beat.depth, folded, role)


def _tokens(tokens: Json) -> int:
    if not isinstance(tokens, dict):
        return 0
    kinds = ("input", "output", "cache_read", "cache_write")
    return sum(tokens[kind] for kind in kinds if type(tokens.get(kind)) is int)

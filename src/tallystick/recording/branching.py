"""How the sessions of a program split and come together again: sub-agents, forks, continuations, merges, discards.

Owns the steps that say so, in the session that it happens to, the end of the session that is taken over or given up,
and what a session has from the one that it belongs to. A session that has ended may still be forked, merged or
discarded; one that was merged or discarded is that for good. Must not know how a step finds its parents. Sources:
docs/format.md 7, sessions/states.py.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from tallystick.errors import UsageError
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Ref, SessionKind, Step
from tallystick.recording.record import sealable
from tallystick.sessions.states import ENDS, Status, meaning

if TYPE_CHECKING:
    from tallystick.recording.recorder import Session


class Branching:
    """What a Session can do about other sessions. It is a part of that class, and of no other."""

    @property
    def _here(self) -> Session:
        return cast("Session", self)

    def child(
        self, agent: str | None = None, session: str | None = None, *, at: int | None = None, **meta: Json
    ) -> Session:
        """A session of a sub-agent, hanging on the last step of this one, or on entry `at` of it. See Recorder.session."""
        return _begin(self._here, SessionKind.CHILD, agent, session, at, meta)

    def fork(self, session: str | None = None, *, goal: str | None = None, **meta: Json) -> Session:
        """A session that goes another way from the last step of this one, which says so with a `fork`."""
        fork = _begin(self._here, SessionKind.FORK, None, session, None, {"goal": goal, **meta})
        note_fork(self._here, fork, goal)
        return fork

    def merge(self, other: Session, *, reason: str | None = None, **meta: Json) -> Recorded:
        """Take over what a sub-agent or a fork did: it ends as merged, and the `merge` here follows from its last step.

        Raises:
            UsageError: it is this session, or it was merged or discarded before.
        """
        return settle(self._here, other, Status.MERGED, meta, reason)

    def discard(self, other: Session, *, reason: str | None = None, **meta: Json) -> Recorded:
        """Throw away what a sub-agent or a fork did: it ends as discarded, and a `discard` here says so.

        Raises what `merge` raises.
        """
        return settle(self._here, other, Status.DISCARDED, meta, reason)

    def compact(self, summary: str, **meta: Json) -> Session:
        """End this session with a `compaction` step and go on in a continuation that begins with the summary."""
        here, name = self._here, "compaction/0"
        step = here.step("compaction", content={"text": summary}, source_id=name, **meta)
        here.close("completed")
        base, _, number = here.source_session.rpartition("~")
        if base and number.isdigit():
            next_id = f"{base}~{int(number) + 1}"
        else:
            next_id = f"{here.source_session}~1"
        following = here.recorder.session(
            here.agent,
            next_id,
            kind=SessionKind.CONTINUATION,
            parent=Ref(session=here.source_session, source_id=name),
            **_inherited(here),
        )
        following.step("user", content={"text": summary}, origin="summary", compaction=step.n)
        return following


def _begin(
    session: Session, kind: SessionKind, agent: str | None, name: str | None, at: int | None, meta: Mapping[str, Json]
) -> Session:
    more = {**_inherited(session), **meta}
    return session.recorder.session(
        agent if agent is not None else session.agent,
        name if name is not None else f"{session.source_session}/{uuid.uuid4().hex[:16]}",
        kind=kind,
        parent=Ref(session=session.source_session, agent=session.agent, n=at),
        source=session.source,
        **{key: value for key, value in more.items() if value is not None},
    )


def _inherited(session: Session) -> dict[str, Json]:
    """What a session that belongs to this one has from it: what its start says, no matter who began it."""
    start = session.read(0)
    said = {"run": start.member("run"), "workspace": start.text("content.workspace")}
    return {name: value for name, value in said.items() if value is not None}


_TYPES = {Status.MERGED: "merge", Status.DISCARDED: "discard"}


def end_of(word: str) -> Status:
    """The status that a program ends a session with. Raises UsageError: it is no end."""
    found = meaning(word)
    if found not in ENDS:
        raise UsageError(f"{word!r} is not an end of a session", hint=f"use {', '.join(ENDS)}")
    return found


def note_fork(session: Session, fork: Session, goal: str | None) -> None:
    """Say in a session that another one goes another way from its last step."""
    with _open(session, "fork"):
        _put(session, "fork", fork, {"content.goal": goal}, {})


def settle(session: Session, other: Session, status: Status, meta: Mapping[str, Json], reason: str | None) -> Recorded:
    """End another session as merged into this one, or as discarded, and say so here.

    Raises:
        UsageError: it is this session, or it was merged or discarded before.
    """
    if other.id == session.id:
        raise UsageError(f"session {session.id[:8]} cannot become {status.value} by itself")
    with session.recorder.session_writer.lock:
        now = other.record().status
        if now in _TYPES:
            raise UsageError(f"session {other.id[:8]} is already {now.value}", hint="what goes on is another session")
        other.step("session_end", status=status.value)
        with _open(session, _TYPES[status]):
            return session.read(_put(session, _TYPES[status], other, {"content.reason": reason}, meta))


def _put(session: Session, kind: str, other: Session, values: Mapping[str, Json], meta: Mapping[str, Json]) -> int:
    """A step that follows from where this session stands and from the last step of another."""
    step = Step(
        session=session.source_session,
        type=kind,
        source=session.source,
        meta=sealable({"child": other.source_session, **meta}),
        values=sealable({name: value for name, value in values.items() if value is not None}),
        after=(*session.ends(), Ref(session=other.source_session, agent=other.agent)),
    )
    return session.put(step).n


@contextmanager
def _open(session: Session, reason: str) -> Iterator[None]:
    """Hold a session; one that has ended ends again as it had ended."""
    with session.recorder.session_writer.lock, session.record().reopened(session.source.value, reason):
        yield

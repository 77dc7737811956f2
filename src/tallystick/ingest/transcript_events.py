"""Transcripts that are followed: their events on their way into the record.

Owns what is recorded of a file and what is not: events that the record has already, histories that another session began, and
losses, which are counted. Must not know how a file is read (file_followers.py), nor when.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from tallystick.agents import Adapter
from tallystick.capture.history import Piece
from tallystick.capture.transcript import Clock
from tallystick.errors import FormatError, TallystickError
from tallystick.graph.graph import Graph, GraphError
from tallystick.graph.lookup import known_step
from tallystick.ingest.common_history import CommonHistory, Whose
from tallystick.ingest.import_ import LossCount, ReadTo, import_entries
from tallystick.model.ids import SessionId
from tallystick.model.recorded import Recorded
from tallystick.model.step import Event, Json, Loss, Opening, Ref, SessionKind, Source, Step
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.origins import OPENING, sealed_parent

_EXAMPLES = 3
_PATIENCE_S = 0.02
"""An agent may be waiting: an index that someone has locked is asked again, in another thread if there is one."""
_MOST_IN_VAIN = 50
"""So often is an index asked that does not answer, before it is one that is not there."""
_NEW = frozenset((Outcome.RECORDED, Outcome.REVISED, Outcome.EXTENDED, Outcome.CONTRADICTED))

Refresh: TypeAlias = Callable[[], object]
"""Has the index know all that is on record, as far as that can be had. Raises TallystickError where it cannot."""


class Followed(Protocol):
    """A file that is followed."""

    path: Path
    adapter: Adapter
    agent: str
    session: str
    sessions: set[str]
    """The sessions that asked for it, as hooks name them."""
    parent: str | None
    """The file of the session whose sub-agent this one is of."""

    @property
    def is_slow(self) -> bool:
        """Whether `advance` may take long, unless `prepare` was called."""
        ...

    @property
    def waits_for_thread(self) -> bool:
        """Whether there is something that only `prepare` can get."""
        ...

    @property
    def quiet_s(self) -> float:
        """For how many seconds there has been nothing new."""
        ...

    def prepare(self) -> None:
        """Do what takes long and needs no lock."""
        ...

    def advance(self) -> int | None:
        """Do the next small thing: how many events it recorded, None if there is nothing to do.

        Raises:
            JournalError: the store cannot be written; the same is tried again the next time.
        """
        ...

    def finish(self) -> None:
        """Record what was held back, and note in the ledger how far the file was read."""
        ...


class TranscriptFile(msgspec.Struct, frozen=True):
    """A file that is to be followed."""

    adapter: Adapter
    session: str
    """The session that asked for it, as its hook names it."""
    path: Path
    parent: str | None = None
    """The file of the session whose sub-agent this one is of."""


class Recording:
    """What all followed files have in common: events in, steps out."""

    def __init__(self, session_writer: SessionWriter, file: TranscriptFile, refresh: Refresh, clock: Clock) -> None:
        self.path = file.path
        self.adapter = file.adapter
        self.agent = file.adapter.NAME.removesuffix("-legacy")
        self.session = file.session
        self.sessions = {file.session}
        self.parent = file.parent
        self._session_writer = session_writer
        self._clock = clock
        self._refresh = refresh
        self._last_news = clock()
        self._pending: deque[tuple[Event, Piece]] = deque()
        self._openings: dict[str, Opening] = {}
        self._common: CommonHistory[Piece] = CommonHistory(self._elsewhere, session_writer.writer.record_of)
        self._is_index_fresh = False
        self._has_index = True
        self._in_vain = 0
        self._sids: dict[str, SessionId] = {}
        self._steps: dict[str, int] = {}
        self._losses: dict[str, LossCount] = {}
        self._begins = 0
        """From which byte on what is lost is counted here: what is before was read by another."""

    @property
    def quiet_s(self) -> float:
        """For how many seconds there has been nothing new."""
        return self._clock() - self._last_news

    # Events ---------------------------------------------------------------------------------------------------------

    def _record_next(self) -> int:
        """Record the event that waits longest. It waits on if the store cannot be written."""
        event, piece = self._pending[0]
        recorded = 0
        if isinstance(event, Opening):
            self._openings.setdefault(event.session, event)
        elif isinstance(event, Loss):
            self._lose(event, piece)
        else:
            whose = self._whose(event)
            if whose is None or (whose is Whose.OWN and self._release(event.session)):
                return 0
            if whose is Whose.OWN:
                recorded = self._record(event, piece)
            else:
                self._pass_by(event, piece, whose)
        self._pending.popleft()
        return recorded

    def _lose(self, loss: Loss, piece: Piece) -> None:
        known = self._losses.setdefault(loss.kind, LossCount())
        known.count += 1
        known.fault |= loss.fault
        if loss.detail is not None and len(known.examples) < _EXAMPLES:
            if piece.number:
                known.examples.append(f"line {piece.number}: {loss.detail}")
            else:
                known.examples.append(loss.detail)

    def _record(self, step: Step, piece: Piece) -> int:
        with self._session_writer.lock:
            try:
                outcome = self._session_writer.add_to(self._open(step.session), step).outcome
            except FormatError as error:
                self._lose(Loss(kind="unsealable", detail=f"{step.type}: {error}", fault=True), piece)
                return 0
        if outcome not in _NEW:
            return int(outcome is Outcome.CORROBORATED)
        self._steps[step.session] = self._steps.get(step.session, 0) + 1
        return 1

    def _agent_of(self, session: str) -> str:
        opening = self._openings.get(session)
        if opening is not None:
            return opening.agent
        return self.adapter.NAME

    def _existing(self, session: str) -> SessionRecord | None:
        return self._session_writer.writer.find(self._agent_of(session), session)

    def _open(self, session: str) -> SessionRecord:
        record = self._existing(session)
        opening = self._openings.get(session) or Opening(session=session, agent=self.adapter.NAME)
        if record is None:
            record = self._session_writer.open(opening, fork_of=self._common.forks.get(session))
        elif session not in self._sids:
            self._tell_opening(record, opening)
        self._sids[session] = record.sid
        return record

    def _tell_opening(self, record: SessionRecord, opening: Opening) -> None:
        """What the file says of a session that another source has begun: its parent, its version, its branch, its model."""
        start = record.opening
        known = {}
        if start is not None:
            known = {**start.meta, **start.values}
        meta = {key: value for key, value in opening.meta.items() if known.get(key) != value}
        values = {key: value for key, value in opening.values.items() if known.get(key) != value}
        belongs, parent = self._belonging(record, opening)
        if not (meta or values or belongs):
            return
        step = Step(
            session=opening.session,
            type="system",
            source_id=f"{opening.session}/opening",
            ts=opening.ts,
            meta={**meta, **belongs, "event": OPENING},
            values=values,
        )
        if belongs:
            self._session_writer.revise_opening(record, step, parent)
        else:
            self._session_writer.add_to(record, step)

    def _belonging(self, record: SessionRecord, opening: Opening) -> tuple[dict[str, Json], str | None]:
        """How the session belongs to others, where the record has that otherwise: members, and the entry of its parent."""
        kind, parent, claimed = opening.kind, self._common.forks.get(opening.session), opening.parent
        if parent is not None:
            kind, claimed = SessionKind.FORK, None
        elif claimed is not None:
            parent = self._session_writer.writer.foreign(opening.agent, claimed)
        if parent is None and claimed is None:
            return {}, None  # a file that names no parent does not say that there is none
        start = record.opening
        if start is not None and start.member("kind") == kind.value and parent in start.parents:
            return {}, None
        if parent is None and claimed is not None:
            if start is not None and start.parents:
                return self._beside_a_sealed_parent(start, opening, claimed)
            claim = {"session": claimed.session, "step": claimed.source_id}
            return {"kind": kind.value, "parent_source": {k: v for k, v in claim.items() if v is not None}}, None
        return {"kind": kind.value}, parent

    def _beside_a_sealed_parent(
        self, start: Recorded, opening: Opening, claimed: Ref
    ) -> tuple[dict[str, Json], str | None]:
        """What is sealed is surer than what is only claimed, unless the file names another session that is on record.

        A hook reports a sub-agent's sub-agent as the root's.
        """
        holder, sealed = self._session_writer.writer.find(opening.agent, str(claimed.session)), sealed_parent(start)
        if holder is None or sealed is None or sealed[0] == holder.sid:
            return {}, None
        return {"kind": opening.kind.value}, self._session_writer.writer.foreign(
            opening.agent, Ref(session=claimed.session)
        )

    # Common histories -----------------------------------------------------------------------------------------------

    @property
    def needs_index(self) -> bool:
        """Whether the next event may be another session's, and the index has not been asked lately."""
        try:
            event = self._pending[0][0]
        except IndexError:  # nothing waits, or another thread has just recorded it
            return False
        if self._is_index_fresh or not isinstance(event, Step):
            return False
        return self._may_be_shared(event, self._existing(event.session))

    def refresh_index(self) -> None:
        """Bring the index up to date, which may take long. Without it nothing is shared, and the session is whole."""
        try:
            self._refresh()
        except TallystickError:
            self._has_index = False
        self._is_index_fresh = True

    def _whose(self, step: Step) -> Whose | None:
        """Whether the event is its session's own, or one that it has in common with the session it was forked from (13.3).

        None: the index did not answer just now, and is to be asked again.
        """
        record = self._existing(step.session)
        if not self._may_be_shared(step, record):
            return Whose.OWN
        try:
            return self._common.judge(step, record, self._agent_of(step.session))
        except GraphError:
            self._in_vain += 1
            self._has_index = self._in_vain < _MOST_IN_VAIN
            self._is_index_fresh = False
            return None

    def _pass_by(self, step: Step, piece: Piece, whose: Whose) -> None:
        if whose is Whose.UNDECIDED:
            self._common.hold(step, piece)
            return
        for own, of in self._common.released(step.session, self._agent_of(step.session)):
            self._record(own, of)

    def _release(self, session: str) -> bool:
        """Have what waited for an event of the session recorded before it; whether there was anything."""
        held = self._common.released(session, self._agent_of(session))
        if held:
            self._common.claim(session)
        self._pending.extendleft(reversed(held))
        return bool(held)

    def _release_all(self) -> bool:
        """Have everything recorded that waits for an event that does not come."""
        released = 0
        for session in self._common.left():
            released += self._release(session)
        return released > 0

    def _may_be_shared(self, step: Step, record: SessionRecord | None) -> bool:
        return self.adapter.GLOBAL_IDS and self._has_index and self._common.may_share(step, record)

    def _elsewhere(self, agent: str, source_id: str) -> tuple[str, str] | None:
        """(session, hash) of the entry that has an event of the agent, as far as the index knows. Raises GraphError."""
        with closing(Graph(self._session_writer.home.graph, patience_s=_PATIENCE_S)) as graph:
            found = known_step(graph, agent, source_id)
        if found is None:
            return None
        return found.session, found.hash

    # Notes ----------------------------------------------------------------------------------------------------------

    def _note(self, kind: str, meta: dict[str, Json], values: dict[str, Json]) -> Step:
        session = next(reversed(self._sids), self.session)
        values = {"content.path": str(self.path), **values}
        return Step(
            session=session, type=kind, source=Source.WATCH, meta={"about": "transcript", **meta}, values=values
        )

    def _note_read(self, offset: int, digest: str) -> None:
        """Say in the ledger how far the file was read: what is in it up to there is recorded, and durable."""
        read = ReadTo(self.path, self.adapter.NAME, self._begins, offset, digest)
        entries = list(import_entries(read, self._sids, self._steps, self._losses))
        with self._session_writer.lock:
            self._session_writer.seal()
            self._session_writer.archive.seal((), then=entries)

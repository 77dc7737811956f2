"""Transcripts that are followed: their events on their way into the record.

Owns what is recorded of a file and what is not: events that the record has already, histories that another session began, and
losses, which are counted. Must not know how a file is read (file_followers.py), nor when.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from tallystick.agents import Adapter
from tallystick.capture.history import Piece
from tallystick.capture.transcript import Clock
from tallystick.errors import FormatError, TallystickError
from tallystick.graph.graph import Graph
from tallystick.graph.lookup import known_step
from tallystick.ingest.import_ import LossCount, ReadTo, import_entries
from tallystick.model.ids import SessionId
from tallystick.model.step import Event, Json, Loss, Opening, Source, Step
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.indexing import refresh_index

_EXAMPLES = 3
_PATIENCE_S = 0.02
"""An agent may be waiting: an index that someone has locked is one that is not there."""
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

    def __init__(
        self,
        session_writer: SessionWriter,
        file: TranscriptFile,
        *,
        refresh: Refresh | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.path = file.path
        self.adapter = file.adapter
        self.agent = file.adapter.NAME.removesuffix("-legacy")
        self.session = file.session
        self.sessions = {file.session}
        self.parent = file.parent
        self._session_writer = session_writer
        self._clock = clock
        self._refresh = refresh or partial(refresh_index, session_writer.home)
        self._last_news = clock()
        self._pending: deque[tuple[Event, Piece]] = deque()
        self._openings: dict[str, Opening] = {}
        self._forks: dict[str, str] = {}
        self._unshared: set[str] = set()
        self._ancestors: list[SessionId] = []
        self._is_index_fresh = False
        self._has_index = True
        self._sids: dict[str, SessionId] = {}
        self._steps: dict[str, int] = {}
        self._losses: dict[str, LossCount] = {}

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
            recorded = self._record(event, piece)
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
        if self._is_shared(step):
            return 0
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
            record = self._session_writer.open(opening, fork_of=self._forks.get(session))
        elif session not in self._sids:
            self._tell_opening(record, opening)
        self._sids[session] = record.sid
        return record

    def _tell_opening(self, record: SessionRecord, opening: Opening) -> None:
        """What the file says of a session that another source has begun: its version, its branch, its model."""
        start = record.read(0)
        if start is not None:
            known = {**start.meta, **start.values}
        else:
            known = {}
        meta = {key: value for key, value in opening.meta.items() if known.get(key) != value}
        values = {key: value for key, value in opening.values.items() if known.get(key) != value}
        if not meta and not values:
            return
        self._session_writer.add_to(
            record,
            Step(
                session=opening.session,
                type="system",
                source_id=f"{opening.session}/opening",
                ts=opening.ts,
                meta={**meta, "event": "session-opening"},
                values=values,
            ),
        )

    # Common histories -----------------------------------------------------------------------------------------------

    @property
    def needs_index(self) -> bool:
        """Whether the next event may be another session's, and the index has not been asked lately."""
        try:
            event = self._pending[0][0]
        except IndexError:  # nothing waits, or another thread has just recorded it
            return False
        return isinstance(event, Step) and not self._is_index_fresh and self._may_be_shared(event)

    def refresh_index(self) -> None:
        """Bring the index up to date, which may take long. Without it nothing is shared, and the session is whole."""
        try:
            self._refresh()
        except TallystickError:
            self._has_index = False
        self._is_index_fresh = True

    def _may_be_shared(self, step: Step) -> bool:
        """A history is shared from its beginning: once an event is the session's own, no one else is asked."""
        if not self.adapter.GLOBAL_IDS or step.source_id is None or step.session in self._unshared:
            return False
        record = self._existing(step.session)
        return record is None or record.known.find(step.source_id) is None

    def _is_shared(self, step: Step) -> bool:
        """Whether another session of this agent has the event: then this one forks from there (13.3)."""
        if not self._has_index or not self._may_be_shared(step):
            return False
        record = self._existing(step.session)
        found = self._elsewhere(self._agent_of(step.session), step.source_id or "")
        if found is None or (record is not None and found[0] == record.sid):
            self._unshared.add(step.session)
            return False
        if record is None:
            self._forks[step.session] = f"{found[0]}#{found[1]}"
        return True

    def _elsewhere(self, agent: str, source_id: str) -> tuple[str, str] | None:
        """(session, hash) of the entry that has an event of the agent, as far as the index knows."""
        for sid in self._ancestors:
            record = self._session_writer.writer.record_of(sid, agent)
            n = record.known.find(source_id)
            if n is not None:
                return sid, record.known.hash_at(n)
        try:
            with closing(Graph(self._session_writer.home.graph, patience_s=_PATIENCE_S)) as graph:
                found = known_step(graph, agent, source_id)
        except TallystickError:
            return None
        if found is None:
            return None
        self._ancestors.append(SessionId(found.session))
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
        read = ReadTo(self.path, self.adapter.NAME, offset, digest)
        entries = list(import_entries(read, self._sids, self._steps, self._losses))
        with self._session_writer.lock:
            self._session_writer.seal()
            self._session_writer.archive.seal((), then=entries)

"""The session-log interface of the headless agent: a program adds events to sessions, which stores keep.

Owns sessions as a program holds them: who is told of which event when, what becomes of an event that a store refuses, and
what `start`, `flush` and `close` promise. Must not know how a store keeps events. Decision 0024 has the reasons.
"""

from __future__ import annotations

import builtins
import json
import logging
import os
import secrets
import threading
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from tallystick.errors import FormatError, JournalError, TallystickError
from tallystick.journal.headless import FileStore
from tallystick.journal.headless_file import read_back
from tallystick.model.step import Json
from tallystick.recording.flush_timer import FlushTimer
from tallystick.recording.jsonify import plain
from tallystick.recording.session_journal import JournalStore
from tallystick.recording.session_store import Reader, Store
from tallystick.recording.session_times import now_text, timed
from tallystick.scrubbing.members import scrub_members
from tallystick.sessions.session_changes import MAPS, changes
from tallystick.sessions.session_events import Events, Listed
from tallystick.sessions.session_log import Event, EventMeta, Log, TaintNode, event_from, refuse_misspelt, safe_members
from tallystick.sessions.session_spelling import as_read, error_text, status, success
from tallystick.sessions.session_taint import Blocks
from tallystick.sessions.session_words import Status

_logger = logging.getLogger("tallystick")
_MOST_WAITING = 1_000

OnEvent = Callable[[Event], object]


class Session:
    """A session that a program adds events to. Safe to use from several threads, tasks and forked processes.

    Its members are those of the agent's format; `SessionManager.update` and `flush` keep those that a program has changed.
    Without a store the events stay in memory, until `start` is given one.
    """

    def __init__(self, log: Log | None = None, *, on_event: OnEvent | None = None) -> None:
        """A session with the members and events of `log`; it gets the id and times that this does not say, and is running."""
        log = log or Log()
        self.id = log.id or secrets.token_hex(16)
        self.workflow_name = log.workflow_name
        self.inputs, self.state, self.outputs = dict(log.inputs), dict(log.state), dict(log.outputs)
        self._status: str = log.status or Status.RUNNING
        self.result, self.error = log.result, log.error
        self.created_at = log.created_at or now_text()
        self.updated_at = log.updated_at or self.created_at
        self.on_event = on_event
        """Called with each event once it has its number and is kept, in the order of the numbers, before `add_event`
        returns. What it raises is logged. It may add events; it must not wait for another thread that does."""
        self._store: Store | None = None
        self._noted: Callable[[], None] = _nothing
        self._blocks = Blocks()
        self._memory: list[Event] = []
        self._last_seq = 0
        self._waiting: deque[Event] = deque()
        self._untold: deque[Event] = deque()
        self._lost = self._lost_untold = 0
        self._failure: Exception | None = None
        self._kept_state = Log(status=Status.RUNNING)
        self._reader: Reader | None = None
        self._is_synced, self._has_more = True, False
        self._is_closed = False
        self._begin_process()
        for event in log.events:
            self._remember(event, max(event.seq, self._last_seq + 1))

    def attach(self, store: Store, noted: Callable[[], None], reader: Reader | None = None) -> None:
        """Say which store has this session, and what reads it there. For managers."""
        self._store, self._noted, self._kept_state = store, noted, _state(self.as_log())
        if reader is not None:
            self._reader = reader
            self._last_seq = reader.last_seq()
            for event in reader.blocks():
                self._blocks.take(event)

    def _begin_process(self) -> None:
        self._process = os.getpid()
        self._adding, self._telling = threading.RLock(), threading.RLock()

    def _here(self) -> Session:
        """This session, in a forked child with locks of its own; what waited when it was forked is its parent's to keep."""
        if self._process != os.getpid():
            self._begin_process()
            self._waiting.clear()
            self._untold.clear()
            self._reader = None
        return self

    # Members --------------------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """How it stands: one of Status. To set another one raises ValueError; one that a file has is kept."""
        return self._status

    @status.setter
    def status(self, word: str) -> None:
        self._status = status(word)

    @property
    def events(self) -> Events:
        """The events so far, no matter who added them. What is new is looked at, and events are read when asked for."""
        store = self._here()._store
        if store is None:
            return Events(Listed(self._memory), range(len(self._memory)))
        if self._reader is None:
            self._reader = store.reader(self.id)
        return self._reader.events()

    def current_seq_id(self) -> int:
        """The number of the newest event that was added here, or was there when the session was got; 0: none exists."""
        return self._last_seq

    def start_correlation(self) -> str:
        """A new id for what belongs together: the checks of a call, the call, its result. 8 hex digits."""
        return secrets.token_hex(4)

    def taint_lineage(self, *block_ids: str) -> tuple[TaintNode, ...]:
        """Where blocks came from that `security_block` events told of, as trees for an event's `meta`."""
        return self._blocks.lineage(*block_ids)

    def as_log(self) -> Log:
        """The session's own members as a value, without events."""
        members = {name: getattr(self, name) for name in ("id", "workflow_name", "created_at", "updated_at")}
        members |= {name: _as_json(getattr(self, name)) for name in MAPS}
        members |= {"status": str(self.status), "result": _as_text(self.result), "error": _as_text(self.error)}
        return as_read(Log, members)

    # Adding ---------------------------------------------------------------------------------------------------------

    def start(self, target: SessionManager | Store | None = None) -> None:
        """Keep events in the store of a manager, or in a store; those so far are added to it. None: as it is.

        A session that a manager made or got needs no start. One that was closed goes on.

        Raises:
            TallystickError: the store refuses the session.
        """
        self._here()._is_closed = False
        if target is not None:
            self.bind(target)

    def bind(self, target: SessionManager | Store) -> None:
        """Have a store keep the session, unless one does. Raises what `start` raises."""
        if isinstance(target, SessionManager):
            store, noted = target.store, target.noted
        else:
            store, noted = target, _nothing
        with self._here()._adding:
            if self._store is not None:
                return
            store.create(msgspec.structs.replace(self.as_log(), status=Status.RUNNING))
            self._store, self._noted, self._kept_state = store, noted, Log(status=Status.RUNNING)
            self._last_seq = store.last_seq(self.id)
            if self._last_seq:
                there = list(store.reader(self.id).events())
            else:
                there = []
            before, self._memory = self._memory, []
            self._waiting.extend(event for event in before if event not in there)
            self._is_synced = False
            self._keep_waiting(is_told=True)

    def add_event(self, event: Event | Mapping[str, Json] | None = None, **members: Json) -> int:
        """Add an event, given as such or by its members under the names that JSON has; its number is returned.

        It survives the death of the process when this returns, and a loss of power after `flush`. An event that the store
        refuses for now gets no number (0) and is kept for the next attempt: nothing is raised here, `flush` and `close` do.

        Raises:
            TypeError: a member is misspelt. ValueError: the type is; or the time or the success is not one.
        """
        with self._here()._adding:
            made = self._event(event, members)
            if self._store is None:
                self._remember(made, self._last_seq + 1)
                seq = self._last_seq
            else:
                self._waiting.append(made)
                seq = self._keep_waiting()
        self._tell()
        if self._is_closed:
            self._flush_late()
        return seq

    def _event(self, event: Event | Mapping[str, Json] | None, members: Mapping[str, Json]) -> Event:
        if not isinstance(event, Event) or members or not isinstance(event.meta, EventMeta | None):
            given = safe_members(event, foreign=plain) if isinstance(event, Event) else event or {}
            said = {**given, **members}
            refuse_misspelt(said)
            event = event_from({**said, "error": error_text(said.get("error"))}) or Event(type="")
        success(event.success)
        try:
            return self._blocks.placed(timed(event))
        except (AttributeError, TypeError):  # a lineage of other things than nodes: as JSON it is kept all the same
            return self._blocks.placed(timed(event_from(safe_members(event, foreign=plain)) or Event(type="")))

    def _remember(self, event: Event, seq: int) -> None:
        """Keep an event in memory, with that number."""
        kept = read_back(scrub_members({**safe_members(event, foreign=plain), "seq": seq})) or event
        self._memory.append(kept)
        self._number(kept, is_told=False)

    def _number(self, event: Event, *, is_told: bool) -> None:
        """Take note of an event that has its number. `is_told`: no one need be told of it any more."""
        self._last_seq = event.seq
        self._blocks.take(event)
        if self.on_event is not None and not is_told:
            self._untold.append(event)

    def _keep_waiting(self, *, is_told: bool = False) -> int:
        """Have the store keep the events that wait, in order; the number of the last one, 0 if it was refused."""
        store, seq = self._store, 0
        assert store is not None, "only called with a store"
        while self._waiting:
            try:
                members = safe_members(self._waiting[0], foreign=plain)
                self._is_synced, self._has_more = False, True
                self._tell_gap(store)
                seq = store.append(self.id, members)
            except Exception as error:  # of any kind, the agent goes on
                self._failure, seq = error, 0
                if not _may_pass(error):
                    self._lose()  # it must not stop those that come after it
                    continue
                while len(self._waiting) > _MOST_WAITING:
                    self._lose()
                return 0
            event, self._last_seq = self._waiting.popleft(), seq
            if event.type == "security_block" or (self.on_event is not None and not is_told):
                kept = read_back({**store.clean(members), "seq": seq}) or event
                self._number(kept, is_told=is_told)
        self._noted()
        return seq

    def _lose(self) -> None:
        lost = self._waiting.popleft()
        if not self._lost:
            _logger.error("a %s of session %s was not recorded: %s", lost.type, self.id[:8], self._failure)
        self._lost, self._lost_untold = self._lost + 1, self._lost_untold + 1

    def _tell_gap(self, store: Store) -> None:
        """Have the store say that events are missing, before the next one."""
        if self._lost_untold:
            reason = type(self._failure).__name__
            store.note_gap(self.id, events=self._lost_untold, reason=reason, timestamp=now_text())
            self._lost_untold = 0

    def _tell(self) -> None:
        """Tell who listens of the events that have a number, in the order of the numbers."""
        with self._telling:
            while self._untold:
                event = self._untold.popleft()
                try:
                    if self.on_event is not None:
                        self.on_event(event)
                except Exception:  # the agent goes on, whatever a listener does
                    _logger.exception("on_event of session %s, event %d", self.id[:8], event.seq)

    # Promises -------------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Return when everything that was added survives a loss of power. Without a store there is nothing to do.

        Raises:
            JournalError: events could not be kept; those that may be later are kept in memory for the next attempt.
        """
        store = self._here()._store
        if store is None:
            return
        with self._adding:
            self._keep_waiting()
        self._tell()
        try:
            self._keep_state(store, self._kept_state)
        finally:
            self._raise_losses()

    def keep(self) -> None:
        """Flush, and end a session again that has ended and went on with events from here. Raises what `flush` raises."""
        if self._has_more and self.status != Status.RUNNING:
            self._kept_state = msgspec.structs.replace(self._kept_state, status="")
        self.flush()

    def _keep_state(self, store: Store, before: Log) -> None:
        """Have the store keep what of the session was changed here, and the events durably that were added here."""
        log = self.as_log()
        state = _state(log)
        is_changed = bool(changes(before, state))
        if self._is_synced and not is_changed:
            return
        self.updated_at = now_text()
        if is_changed:
            store.update(msgspec.structs.replace(log, updated_at=self.updated_at), since=before)
            self._kept_state, self._has_more = state, False
        else:
            store.sync(self.id, updated_at=self.updated_at)
        self._is_synced = True

    def _raise_losses(self) -> None:
        failure, lost = self._failure, self._lost
        self._failure, self._lost = None, 0
        if self._waiting:
            raise JournalError(
                f"{len(self._waiting)} events of session {self.id[:8]} are not recorded yet: {failure}",
                hint="they are kept in memory: flush again when the store can be written",
            ) from failure
        if lost:
            raise JournalError(
                f"{lost} events of session {self.id[:8]} could not be recorded: {failure}",
                hint="the record has a gap for them",
            ) from failure

    def close(self) -> None:
        """Flush, and give up what is open. A second time does nothing. Events that come later are recorded all the same.

        The status stays as it is: `running` unless the program said how it ended.

        Raises:
            JournalError: what `flush` raises.
        """
        if self._here()._is_closed:
            return
        self._is_closed = True
        if self._store is None:
            return
        try:
            self.flush()
        finally:
            self._store.release(self.id)

    def _flush_late(self) -> None:
        """Make an event durable that came after `close`: no one will flush any more."""
        try:
            self.flush()
        except TallystickError as error:
            _logger.error("an event after the close of session %s: %s", self.id[:8], error)


def _as_json(values: Any) -> Json:
    """What a program says of its session, as JSON."""
    try:
        return msgspec.to_builtins(values, enc_hook=plain, str_keys=True)
    except (TypeError, ValueError, RecursionError):
        return plain(values)


def _as_text(value: Any) -> str:
    """What a program says in place of a text, as one: an exception by its class and what it says, anything else as JSON."""
    value = error_text(value)
    made = _as_json(value) if value is not None else ""
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)


def _may_pass(error: Exception) -> bool:
    """Whether a store may take an event later that it refuses now: the disk is full, the file was moved."""
    return isinstance(error, OSError | TallystickError) and not isinstance(error, FormatError)


def _nothing() -> None:
    """For sessions whose store needs no thread."""


def _state(log: Log) -> Log:
    return msgspec.structs.replace(log, created_at="", updated_at="")


def _moment(time: str) -> float:
    """A time as a number, to order sessions by; one that is not a time comes first."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError):
        return 0.0


class SessionManager:
    """Makes, finds and updates sessions in one store. As a context manager it closes the store at the end."""

    def __init__(self, store: Store | None = None, *, home: str | Path | None = None) -> None:
        """Use a store: FileStore(folder), JournalStore(home); None: the journals at `home` (TALLY_HOME, else ~/.tally).

        Raises:
            JournalError: it cannot be opened or made.
        """
        self.store: Store
        if store is None:
            self.store = JournalStore(home)
        else:
            self.store = store
        self._begin_process()

    def _begin_process(self) -> None:
        self._process, settle = os.getpid(), self.store.settle
        self._keeper = FlushTimer(settle, settle) if isinstance(self.store, FileStore) else None

    def noted(self) -> None:
        """Say that an event was kept: a thread makes it durable soon, where the store has none of its own."""
        if self._process != os.getpid():  # a forked child has no such thread
            self._begin_process()
        if self._keeper is not None:
            self._keeper.note()

    def create(
        self, workflow_name: str, inputs: Mapping[str, Json] | None = None, *, on_event: OnEvent | None = None
    ) -> Session:
        """A new session, running. Raises TallystickError: the store refuses it."""
        session = Session(Log(workflow_name=workflow_name, inputs=inputs or {}), on_event=on_event)
        self.store.create(session.as_log())
        return self._attached(session)

    def get(self, session: str) -> Session:
        """A session of the store, to look at or to go on with. Raises NotFoundError: it is not there."""
        reader = self.store.reader(session)
        return self._attached(Session(reader.log()), reader)

    def list(self) -> builtins.list[Session]:
        """The sessions of the store, the newest first. One that cannot be read is left out, and the program's log says so."""
        found = []
        for name in self.store.sessions():
            try:
                found.append(self.get(name))
            except TallystickError as error:
                _logger.warning("session %s is not listed: %s", name[:80], error)
        return sorted(found, key=lambda session: (_moment(session.created_at), session.id), reverse=True)

    def _attached(self, session: Session, reader: Reader | None = None) -> Session:
        session.attach(self.store, self.noted, reader)
        return session

    def update(self, session: Session) -> None:
        """Keep what was changed of a session: status, result, error, outputs, state, inputs. What others changed stays.

        Its events are kept too, if it has no store yet.

        Raises:
            JournalError: it cannot be kept, or events cannot.
        """
        session.bind(self)
        session.keep()

    def add_event(self, session: str, event: Event | Mapping[str, Json]) -> int:
        """Add an event to a session that no one here holds, durably; its number. Raises what `get` and `flush` raise."""
        found = self.get(session)
        seq = found.add_event(event)
        found.flush()
        return seq

    def close(self) -> None:
        """Make everything durable and close the store."""
        if self._keeper is not None:
            self._keeper.stop()
        self.store.settle()
        self.store.close()

    def __enter__(self) -> SessionManager:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class FileManager(SessionManager):
    """A SessionManager over the files of a folder."""

    def __init__(self, folder: str | Path) -> None:
        """Use the files in `folder`. Raises JournalError: it cannot be made."""
        super().__init__(FileStore(folder))

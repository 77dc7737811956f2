"""The session_writer: events of any number of sessions, taken down as they happen, durable and sealed in time.

Owns the promises of DESIGN 5 about one process that records live: acknowledged steps survive the process, power loss after
100 ms, sealed after 32 steps or 2 s, and bounded memory. Must not know where events come from: hooks, editors, proxies and
programs all record through here.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from types import TracebackType
from typing import TypeAlias

import msgspec

from tallystick.errors import SigningError
from tallystick.journal.durable import sync_folder
from tallystick.journal.file import JournalFile, Unsynced, sync_alone
from tallystick.journal.home import Home
from tallystick.journal.signing import RefusedBySigner, signer_place
from tallystick.model.ids import SessionId
from tallystick.model.step import Event, Json, Loss, Opening, Step
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.flush_timer import FlushTimer
from tallystick.recording.record import OnStep, SessionRecord
from tallystick.recording.store import local_zone, open_archive
from tallystick.recording.writer import Writer
from tallystick.seal.extension import Code
from tallystick.workspace.settings import read_setting

_LOG = logging.getLogger("tallystick")
SEAL_STEPS = 32
_CALL_SECONDS = 0.25
"""How long a call is kept waiting for its signature."""
_ASIDE_SECONDS = 1.0
"""How long the thread of its own waits for one: anyone who begins a session waits for the ledger meanwhile."""
_SIGNER_SECONDS = 0.1
"""So long it is taken as known whether a signer guards the store."""
_MOST_SESSIONS = 64
_MOST_STEPS = 200_000


class Taken(msgspec.Struct, frozen=True):
    """What became of a step: its session, the number of the entry that has it, and how it got there."""

    session: SessionId
    n: int
    outcome: Outcome


LedgerEntry: TypeAlias = tuple[Mapping[str, Json], Mapping[str, Json]]
"""An entry of the ledger: its `meta`, and its values."""


class SessionWriter:
    """Records live events into one store. Use it as a context manager, or call `close`: that seals what is pending.

    Safe to use from several threads; several processes may record into one store and into one session.
    """

    def __init__(
        self,
        home: Home,
        *,
        always_sync: bool | None = None,
        aside: bool = False,
        sealed: Callable[[Sequence[SessionId]], object] | None = None,
    ) -> None:
        """Open the store at `home`; it is made if it is not there.

        Args:
            always_sync: make every step survive a loss of power before the call that records it returns; None: what the
                setting `journal.fsync` says.
            aside: leave sealing and waiting for the disk to the thread of its own, also after 32 steps: who records, in an
                event loop perhaps, waits for an append and never for a disk.
            sealed: called in that thread with the sessions that it has sealed.

        Raises:
            JournalError: the store cannot be opened or made. FormatError: its config.toml is damaged.
        """
        self.home = home
        self.archive = open_archive(home, make=True)
        self.writer = Writer(self.archive, local_zone(), keep_open=1 << 30)
        self.callbacks: list[OnStep] = []
        self.lock = threading.RLock()
        if always_sync is not None:
            self._always_sync = always_sync
        else:
            self._always_sync = read_setting(home, "journal.fsync") == "always"
        self._changed: dict[SessionId, SessionRecord] = {}
        self._unsealed: dict[SessionId, int] = {}
        self._aside = aside
        self._after_seal = sealed
        self._noted: dict[str, LedgerEntry] = {}
        self._adding = 0
        self._is_sealing = False
        self._sealed = threading.Condition(self.lock)
        self.signing_problem: SigningError | None = None
        """Why the newest steps are under no head: the signer does not answer, or refuses. They are durable all the same."""
        self._keeper = self._new_keeper()
        self._is_guarded = False
        self._signer_looked_at = float("-inf")

    @property
    def refused(self) -> str | None:
        """Why the signer refuses, where that is a sign of tampering, and not of a signer that is away or busy."""
        problem = self.signing_problem
        is_refusal = isinstance(problem, RefusedBySigner) and problem.code not in (Code.BUSY, Code.FAILED)
        if is_refusal:
            return str(problem)
        return None

    def _new_keeper(self) -> FlushTimer:
        if self._aside:
            return FlushTimer(self._sync_aside, self._unraised(self._seal_aside))
        return FlushTimer(self.sync, self._unraised(self.seal))

    def _unraised(self, seal: Callable[[], None]) -> Callable[[], None]:
        """Sealing for those who only record: without a signature it is tried again, and no one is kept from going on."""

        def try_to() -> None:
            try:
                seal()
            except SigningError as error:
                if self.signing_problem is None:
                    _LOG.warning("%s", error)
                self.signing_problem = error
                self._keeper.note()
            else:
                self.signing_problem = None

        return try_to

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Taking down ----------------------------------------------------------------------------------------------------

    def take(self, agent: str, events: Iterable[Event]) -> list[Taken]:
        """Record events of an agent in order. A Loss is no one's step: anyone who hands it over reports it.

        Raises:
            FormatError: a step cannot be sealed. JournalError: it cannot be written.
        """
        taken = []
        for event in events:
            if isinstance(event, Opening):
                self.open(event)
            elif not isinstance(event, Loss):
                taken.append(self.add(agent, event))
        return taken

    def open(self, opening: Opening, *, fork_of: str | None = None) -> SessionRecord:
        """The record of a session, begun with a `session_start` if it has none. `fork_of` is what Writer.open says."""
        with self.lock:
            record, made = self.writer.open(opening, fork_of=fork_of)
            record.callbacks = self.callbacks
            if made:
                self._note(record)
                if self.callbacks:
                    record.call_back(0)
            return record

    def add(self, agent: str, step: Step) -> Taken:
        """Record one step of an agent's session, which is begun if it is not there."""
        with self.lock:
            record = self.writer.find(agent, step.session)
            if record is None:
                record = self.open(Opening(session=step.session, agent=agent, source=step.source))
            return self.add_to(record, step)

    def add_to(self, record: SessionRecord, step: Step) -> Taken:
        """Record one step of a session that is open here."""
        with self.lock:
            record.callbacks = self.callbacks
            self._adding += 1
            try:
                outcome, n = record.add(step, lambda ref: self.writer.foreign(record.agent, ref))
            finally:
                self._adding -= 1
            self._note(record)
            return Taken(record.sid, n, outcome)

    def revise_opening(self, record: SessionRecord, step: Step, parent: str | None) -> None:
        """Record how a session that is open here began, as a source says that could know: see SessionRecord."""
        with self.lock:
            record.callbacks = self.callbacks
            record.revise_opening(step, parent)
            self._note(record)

    def _note(self, record: SessionRecord) -> None:
        """Do what is due after a step: make it durable if that is always wanted, seal after 32 steps of one session."""
        unsealed = self._unsealed[record.sid] = self._unsealed.get(record.sid, 0) + 1
        self._changed[record.sid] = record
        if self._always_sync:
            sync_alone(record.journal)
        if unsealed >= SEAL_STEPS and not self._aside:
            self._unraised(self.seal)()  # of all sessions: one signature covers them
            return
        self._keeper.note()
        if unsealed >= SEAL_STEPS:
            self._keeper.hurry()

    def note_in_ledger(self, meta: Mapping[str, Json], values: Mapping[str, Json]) -> None:
        """Have an entry appended to the ledger with the next seal; of one type only the newest is."""
        with self.lock:
            self._noted[str(meta["type"])] = (meta, values)

    # Promises -------------------------------------------------------------------------------------------------------

    def make_durable(self, sid: SessionId) -> None:
        """Make what is recorded of one session survive a loss of power, now: an intent before its call is let go."""
        settle = self.unsettled(sid)
        if settle is not None:
            settle()

    def unsettled(self, sid: SessionId) -> Callable[[], None] | None:
        """What makes a session durable unchanged now, to be called once, in any thread; None: it is so already.

        The call raises JournalError if the disk refuses.
        """
        with self.lock:
            record = self._changed.get(sid)
            pending = None
            if record is not None:
                pending = record.journal.unsynced()
        if record is None or pending is None:
            return None
        return partial(_settle, record.journal, pending)

    def before_effects(self, sid: SessionId) -> Callable[[], None] | None:
        """What is to be done before a call with effects is let go, to be called once, in any thread; None: nothing.

        Its intent is made durable, and where a signer of another user guards the store, it is under a head, too. If the
        signer does not answer in a moment, or refuses, the call is not kept waiting, nor are those after it until it
        signs again: `signing_problem` says so. Raises what `unsettled` raises.
        """
        settle = self.unsettled(sid)
        if not self._has_signer():
            return settle

        def settle_and_seal() -> None:
            if settle is not None:
                settle()
            if self.signing_problem is None:
                self._unraised(partial(self._seal_one, sid))()

        return settle_and_seal

    def _has_signer(self) -> bool:
        """Whether a signer of another user guards the store; as it was a moment ago, for it is asked for each call."""
        now = time.monotonic()
        if now - self._signer_looked_at >= _SIGNER_SECONDS:
            self._is_guarded = signer_place(self.home) is not None
            self._signer_looked_at = now
        return self._is_guarded

    def _seal_one(self, sid: SessionId) -> None:
        """Have a session under a head; with what others wait for, by one signature."""
        until = time.monotonic() + _CALL_SECONDS
        while (left := until - time.monotonic()) > 0 and self.signing_problem is None:
            with self.lock:
                if self._is_sealing:
                    self._sealed.wait(left)
                    continue
                if sid not in self._changed:
                    return
            self._seal_aside(left)
        raise self.signing_problem or SigningError("the signer does not sign in time", hint="`tally signer status`")

    def sync(self) -> None:
        """Make everything recorded so far survive a loss of power."""
        with self.lock:
            for record in self._changed.values():
                sync_alone(record.journal)

    def seal(self) -> None:
        """Make everything recorded so far durable, and sign a head that covers it."""
        with self.lock:
            if self._adding and self._aside:  # a callback asks, while its step is still being written
                self._keeper.hurry()
                return
            while self._is_sealing:
                self._sealed.wait()
            for record in list(self._changed.values()):
                record.flush_sightings()
            if self._changed:
                self.archive.seal(list(self._changed), then=tuple(self._noted.values()))
            self._changed, self._unsealed, self._noted = {}, {}, {}
            self._keeper.sealed()
            self._forget_some()

    def seal_soon(self) -> None:
        """Have it sealed by the thread of its own, now; no one waits for that."""
        self._keeper.hurry()

    def _sync_aside(self) -> None:
        """The same as `sync`, and no one waits for it."""
        with self.lock:
            pending = [
                (record.journal, unsynced)
                for record in self._changed.values()
                if (unsynced := record.journal.unsynced()) is not None
            ]
        folders = set().union(*(journal.settle(unsynced) for journal, unsynced in pending))
        for folder in folders:
            sync_folder(folder)

    def _seal_aside(self, seconds: float | None = None) -> None:
        """The same as `seal`, and no one waits for it but who seals, too.

        Args:
            seconds: how long a signer is waited for; None: what there is time for, shortly where it did not answer before.
        """
        if seconds is None:
            seconds = _CALL_SECONDS
            if self.signing_problem is None:
                seconds = _ASIDE_SECONDS
        with self.lock:
            while self._is_sealing:
                self._sealed.wait()
            for record in list(self._changed.values()):
                record.flush_sightings()
            changed, unsealed, noted = self._changed, self._unsealed, self._noted
            self._changed, self._unsealed, self._noted, self._is_sealing = {}, {}, {}, True
        try:
            self.archive.seal(list(changed), then=tuple(noted.values()), seconds=seconds)
        except BaseException as error:
            with self.lock:
                self._changed, self._unsealed = changed | self._changed, unsealed | self._unsealed
                if not isinstance(
                    error, SigningError
                ):  # else they are in the ledger, and only the signature is wanting
                    self._noted = noted | self._noted
            raise
        finally:
            with self.lock:
                self._is_sealing = False
                if not self._changed:
                    self._keeper.sealed()
                self._forget_some()
                self._sealed.notify_all()
        if self._after_seal is not None:
            self._after_seal(list(changed))

    def _forget_some(self) -> None:
        """Close the sessions that were not used for longest, so that memory does not grow: they can be read again.

        One that has something to be sealed stays: under load there always is one.
        """
        records = self.writer.records()
        steps, left = sum(len(record.known) for record in records), len(records)
        for record in records:
            if left <= _MOST_SESSIONS and (steps <= _MOST_STEPS or left == 1):
                break
            if record.sid not in self._changed:
                steps, left = steps - len(record.known), left - 1
                self.writer.release(record.sid)

    @property
    def is_poisoned(self) -> bool:
        """Whether the disk refused to make a journal durable: this process can append to it no more, a new one can."""
        with self.lock:
            return any(record.journal.failed for record in self.writer.records())

    def recover(self) -> None:
        """Keep promises again after a failure to write was reported: what was not sealed then is sealed with the next."""
        self._keeper.stop()
        self._keeper = self._new_keeper()

    def close(self) -> None:
        """Seal what is pending and close the store's files. Sessions that were not closed stay open in the record."""
        self._keeper.stop()
        with self.lock, closing(self.archive), closing(self.writer):  # its files also where a disk refuses the rest
            self._changed |= {record.sid: record for record in self.writer.records()}
            self._unraised(self._seal_all)()

    def _seal_all(self) -> None:
        self.seal()
        self.archive.sign()  # also a store whose maker died before it had signed


def _settle(journal: JournalFile, pending: Unsynced) -> None:
    for folder in journal.settle(pending):
        sync_folder(folder)

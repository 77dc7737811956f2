"""The Python API: an agent of one's own records its sessions.

    with Recorder() as recorder, recorder.session(agent="my-agent") as session:
        session.prompt("fix the failing test")
        with session.tool_call("Bash", {"command": "pytest -q"}) as call:
            call.output = run(...)

Owns the life of a recorder: how its store is opened, what is done before and after a fork, and at exit. A forked child
shares its parent's open files, and with them the locks on these files; it has locks that no one will ever release, and no
threads. So it drops all of that and opens the store again when it first records. Must not know what is recorded: the
session does. Identity, sealing and durability are record.py's and journal's.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import uuid
import weakref
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tallystick.errors import TallystickError
from tallystick.journal.home import Home, default_folder
from tallystick.model.step import Json, Opening, Ref, SessionKind, Source
from tallystick.recording.checkpoints.auto import Checkpointing
from tallystick.recording.isolation import defined
from tallystick.recording.record import OnStep, as_said
from tallystick.recording.session import Session
from tallystick.recording.session_writer import SessionWriter

if TYPE_CHECKING:
    from tallystick.recording.run_config.declared import RunsUnder

_PATIENCE_SECONDS = 2.0
_shared: dict[tuple[str, bool | None], Recorder] = {}
"""Recorders of stores that sessions came to this process for, pickled."""
_all: weakref.WeakSet[Recorder] = weakref.WeakSet()
_held: list[threading.RLock] = []


class Recorder:
    """Records sessions into one store. Use it as a context manager, or call `close`: that seals what is pending.

    Several recorders, in threads or processes, may write to one store and to one session. A forked child may go on with
    the recorder and the sessions it inherits; pickled, they open the store again where they arrive.
    """

    def __init__(self, home: str | Path | None = None, *, always_sync: bool | None = None) -> None:
        """Open the store at `home` (default: TALLY_HOME, else ~/.tally); it is made if it is not there.

        Args:
            always_sync: make every step survive a loss of power before the call that records it returns; default: what
                the setting `journal.fsync` says. Otherwise steps do so at most 100 ms later.

        Raises:
            JournalError: the store cannot be opened or made. FormatError: its config.toml is damaged.
        """
        self.home = Home(Path(home) if home is not None else default_folder(os.environ))
        self._always_sync = always_sync
        self._opening = threading.Lock()
        self._callbacks: list[OnStep] = []
        self._session_writer: SessionWriter | None = SessionWriter(self.home, always_sync=always_sync, aside=True)
        self._session_writer.callbacks = self._callbacks
        self._checkpoints: Checkpointing | None = None
        _watch(self)

    @property
    def session_writer(self) -> SessionWriter:
        """What takes the steps down; opened again in a child that was forked.

        Raises:
            JournalError: the recorder was closed.
        """
        if self._session_writer is not None:
            return self._session_writer
        return self._open_again()

    def _open_again(self) -> SessionWriter:
        with self._opening:
            if self._session_writer is None:
                self._session_writer = SessionWriter(self.home, always_sync=self._always_sync, aside=True)
                self._session_writer.callbacks = self._callbacks
                _watch_in_child(self)
            return self._session_writer

    @property
    def checkpoints(self) -> Checkpointing:
        """Makes the automatic checkpoints of what is recorded here."""
        if self._checkpoints is None:
            self._checkpoints = Checkpointing(self.session_writer)
        return self._checkpoints

    @property
    def busy(self) -> threading.RLock | None:
        """What is held while a step is written: who forks waits for it."""
        if self._session_writer is None:
            return None
        return self._session_writer.lock

    def abandon(self) -> None:
        """In a forked child: leave what was inherited alone, and open the store again when something is recorded."""
        inherited, self._session_writer = self._session_writer, None
        self._checkpoints = None  # those that wait are the parent's to make
        self._opening = threading.Lock()
        if inherited is not None:
            inherited.archive.close()  # this gives up the descriptors and, being copies, none of the parent's locks

    def __reduce__(self) -> tuple[Any, ...]:
        return _recorder_of, (str(self.home.folder), self._always_sync)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def on_step(self, callback: OnStep) -> None:
        """Have `callback` called with every step recorded here, once it is sealed, before the recording call returns."""
        self._callbacks.append(callback)

    def session(
        self,
        agent: str,
        session: str | None = None,
        *,
        cwd: str | None = None,
        kind: SessionKind = SessionKind.ROOT,
        parent: Ref | None = None,
        source: Source = Source.SDK,
        goal: str | None = None,
        workspace: str | None = None,
        configuration: RunsUnder | None = None,
        **meta: Json,
    ) -> Session:
        """Begin a session, or go on with the one that has this id.

        Args:
            agent: the agent's name. session: its own id of the session; a new one is made up if it has none.
            source: by which way its steps reach us, where that is not this API.
            goal: what it is for. workspace: the program's name for the place it works on. Child sessions share it.
            configuration: what it runs under (`Session.runs_under`); None: its agent, version and model, which are in its
                start.
            meta: further members of `session_start`, for example `model`, `agent_version`, or `run`, which is inherited too.
        """
        values = {"personal.cwd": cwd, "content.goal": goal, "content.workspace": workspace}
        opening = Opening(
            session=session if session is not None else uuid.uuid4().hex,
            agent=agent,
            kind=kind,
            parent=parent,
            source=source,
            meta=meta,
            values=as_said({name: value for name, value in values.items() if value is not None}),
        )
        if kind is SessionKind.CHILD:
            opening = defined(self.session_writer, opening)
        begun = Session(self, self.session_writer.open(opening), opening)
        if configuration is not None:
            begun.runs_under(configuration)
        return begun

    def seal(self) -> None:
        """Make everything recorded so far durable, and sign a head that covers it."""
        self.session_writer.seal()

    def close(self) -> None:
        """Seal what is pending and close the store's files. Sessions that were not closed stay open in the record."""
        if self._session_writer is not None:
            self.checkpoints.settle()
            self._session_writer.close()


def _recorder_of(folder: str, always_sync: bool | None) -> Recorder:
    key = (folder, always_sync)
    if key not in _shared:
        _shared[key] = Recorder(folder, always_sync=always_sync)
        _watch_in_child(_shared[key])
    return _shared[key]


# Forks and ends --------------------------------------------------------------------------------------------------------


def _watch(recorder: Recorder) -> None:
    """Have a recorder told of forks, and closed when the program ends."""
    _all.add(recorder)


def _watch_in_child(recorder: Recorder) -> None:
    """The same for one that a forked child opened: a child of multiprocessing does not run what `atexit` has."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        reference = weakref.ref(recorder)
        util.Finalize(None, _close_one, args=(reference,), exitpriority=0)


def _close_one(reference: weakref.ref[Recorder]) -> None:
    recorder = reference()
    if recorder is not None:
        with contextlib.suppress(TallystickError):
            recorder.close()


def _close_all() -> None:
    for recorder in list(_all):
        with contextlib.suppress(TallystickError):
            recorder.close()


def _before() -> None:
    """Let writes in progress end, so that the child inherits no half of one. Not for ever: a fork must not hang."""
    for recorder in list(_all):
        lock = recorder.busy
        if lock is not None and lock.acquire(timeout=_PATIENCE_SECONDS):
            _held.append(lock)


def _after_in_parent() -> None:
    while _held:
        _held.pop().release()


def _after_in_child() -> None:
    _held.clear()
    for recorder in list(_all):
        recorder.abandon()


os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
atexit.register(_close_all)

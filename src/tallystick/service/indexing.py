"""The recorder's side of its indexer: what it is asked for, whether it lives, and when another one is started.

Owns which sessions wait to be indexed. The recorder itself writes no row and reads none for it: nothing here waits for the
indexer, which is a process of its own (indexer.py), and nothing of it reaches an answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import logging
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from tallystick.graph.graph import FileStamp, file_stamp
from tallystick.journal.home import Home
from tallystick.service.helper_process import start_helper
from tallystick.workspace.index_writer import Reply, Request

_LOG = logging.getLogger(__name__)
_REFRESH_SECONDS = 10.0
_ENDING_SECONDS = 1.0
_MOST_SESSIONS_A_REQUEST = 1000


class State(enum.Enum):
    """How an indexer is."""

    ENDED = "ended"
    """None runs: nothing was recorded for a while."""
    IDLE = "idle"
    WORKING = "working"
    FAILED = "failed"
    """The last one, or the last request: it is tried again after a pause."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How long an indexer may take for things, in seconds."""

    silence: float = 30.0
    """At work it says so every half second; one that says nothing for so long hangs, and is killed."""
    first_pause: float = 1.0
    """Before another one is started where one failed; twice as long each further time."""
    longest_pause: float = 60.0


def start_indexer(home: Home) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """A new indexer of a store, and the connection over which it is asked. Raises OSError."""
    ours, its = socket.socketpair()
    try:
        process = start_helper(home, "indexer", its.fileno())
    except BaseException:
        ours.close()
        raise
    finally:
        its.close()
    ours.setblocking(False)
    return process, ours


class _Running:
    """An indexer that was started."""

    def __init__(self, process: subprocess.Popen[bytes], connection: socket.socket) -> None:
        self.process = process
        self._connection = connection
        self._bytes = b""
        self.is_ending = False
        """Whether it has hung up, and does nothing any more but close its files."""

    def ask(self, request: Request) -> None:
        """Ask it for something. Raises OSError."""
        self._connection.sendall(msgspec.json.encode(request) + b"\n")

    def replies(self) -> list[Reply]:
        """What it has said since; nothing of what cannot be understood."""
        with contextlib.suppress(OSError):
            while data := self._connection.recv(1 << 16):
                self._bytes += data
            self.is_ending = True
        *lines, self._bytes = self._bytes.split(b"\n")
        found = []
        for line in lines:
            with contextlib.suppress(msgspec.DecodeError):
                found.append(msgspec.json.decode(line, type=Reply))
        return found

    def end(self, seconds: float) -> None:
        """Have it end, and kill it where it does not in some seconds."""
        self._connection.close()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Indexing:
    """The sessions of one store that were sealed and are not in its index yet, and the process that takes them in."""

    def __init__(
        self,
        home: Home,
        *,
        limits: Limits | None = None,
        start: Callable[[Home], tuple[subprocess.Popen[bytes], socket.socket]] = start_indexer,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._limits = limits or Limits()
        self._start = start
        self._monotonic = monotonic
        self._due: dict[str, None] = {}
        self._is_all_due = False
        self._asked: Request | None = None
        self._heard = 0.0
        self._running: _Running | None = None
        self._file: FileStamp | None = None
        self._failures = 0
        self._not_before = float("-inf")
        self._changed = threading.Condition()
        self._rounds_wanted = self._rounds_done = self._round_asked = 0
        self._is_closed = False
        self.problem: str | None = None
        """Why the index is not brought up to date; None: it is."""

    # In any thread --------------------------------------------------------------------------------------------------

    def note(self, sessions: Iterable[str]) -> None:
        """Some sessions were sealed. Called in the thread that seals."""
        with self._changed:
            self._due.update(dict.fromkeys(sessions))

    def refresh(self) -> None:
        """Have the index know all that is on record, and wait for that a while; in the event loop it is not waited for."""
        with self._changed:
            self._rounds_wanted += 1
            self._is_all_due, wanted = True, self._rounds_wanted
            if not _is_in_event_loop():
                self._changed.wait_for(lambda: self._is_closed or self._rounds_done >= wanted, _REFRESH_SECONDS)

    @property
    def is_current(self) -> bool:
        """Whether the index has all that was sealed."""
        with self._changed:
            return not self._is_due and self._asked is None and self.problem is None

    # In the event loop ----------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Hear what the indexer says, and ask it for what is due. Never raises, and waits for no one."""
        self._hear()
        self._see_whether_it_lives()
        self._see_whether_the_file_is_the_same()
        is_free = self._asked is None and (self._running is None or not self._running.is_ending)
        if is_free and self._is_due and self._monotonic() >= self._not_before:
            try:
                self._ask()
            except OSError as error:
                self._failed(f"the indexer cannot be started: {error}")

    @property
    def _is_due(self) -> bool:
        return bool(self._due) or self._is_all_due

    def _ask(self) -> None:
        if self._running is None:
            self._running = _Running(*self._start(self._home))
        with self._changed:
            sessions = tuple(self._due)[:_MOST_SESSIONS_A_REQUEST]
            asked = Request(sessions=None if self._is_all_due else sessions, again=self._file == _REPLACED)
            self._is_all_due, self._round_asked = False, self._rounds_wanted
            for session in sessions:
                del self._due[session]
        self._asked, self._heard = asked, self._monotonic()
        try:
            self._running.ask(asked)
        except OSError:  # it has just ended, for no one asked: the next one is asked
            self._put_back()

    def _hear(self) -> None:
        if self._running is None:
            return
        was_ending = self._running.is_ending
        replies = self._running.replies()
        if replies or self._running.is_ending != was_ending:
            self._heard = self._monotonic()
        for reply in replies:
            if reply.error is not None:
                self._failed(reply.error)
            elif reply.done is not None and self._asked is not None:
                self._done(reply)

    def _done(self, reply: Reply) -> None:
        with self._changed:
            self._rounds_done = self._round_asked
            self._changed.notify_all()
        self._asked, self._failures, self._file, self.problem = None, 0, reply.file, None

    def _see_whether_it_lives(self) -> None:
        running = self._running
        if running is None:
            return
        code = running.process.poll()
        if code is not None:
            running.end(0.0)
            self._running = None
            if code:
                self._failed(f"the indexer ended with {code}: run/indexer.log may say why")
            self._put_back()  # it may have been asked while it was ending
        elif (self._asked or running.is_ending) and self._monotonic() - self._heard > self._limits.silence:
            running.process.kill()
            running.end(_ENDING_SECONDS)
            self._running = None
            self._failed(f"the indexer said nothing for {self._limits.silence:g} s, and was ended")

    def _see_whether_the_file_is_the_same(self) -> None:
        """A file that is not as the indexer left it is looked through, and one that is another file is rebuilt."""
        if self._asked is not None or self._file is None or self._file == _REPLACED:
            return
        if self._running is not None and self._running.is_ending:
            return
        now, was = file_stamp(self._home.graph), self._file
        if self._running is None:  # then a command may have written it
            now, was = FileStamp(now.inode), FileStamp(was.inode)
        self._is_all_due = self._is_all_due or now != was
        if now.inode != was.inode:
            self._file = _REPLACED

    def _failed(self, why: str) -> None:
        if why != self.problem:
            _LOG.warning("%s", why)
        self.problem = why
        pause = min(self._limits.first_pause * 2**self._failures, self._limits.longest_pause)
        self._failures += 1
        self._not_before = self._monotonic() + pause
        self._put_back()

    def _put_back(self) -> None:
        asked, self._asked = self._asked, None
        if asked is None:
            return
        self.note(asked.sessions or ())
        self._is_all_due = self._is_all_due or asked.sessions is None

    def close(self) -> None:
        """End the indexer. What is still due is indexed by anyone who reads the index next."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._running is not None:
            self._running.end(_ENDING_SECONDS)
            self._running = None

    def told(self) -> dict[str, Any]:
        """What is reported of it."""
        with self._changed:
            waiting = len(self._due)
        pid = None
        if self._running is not None:
            pid = self._running.process.pid
        said = {"pid": pid, "state": self._state.value, "waiting": waiting, "failures": self._failures}
        return {**said, "problem": self.problem}

    @property
    def _state(self) -> State:
        if self.problem is not None:
            return State.FAILED
        if self._asked is not None:
            return State.WORKING
        if self._running is not None:
            return State.IDLE
        return State.ENDED


_REPLACED = FileStamp(-1)
"""The file is not the one that was written last."""


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True

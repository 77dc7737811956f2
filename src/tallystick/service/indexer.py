"""`python -m tallystick.service.indexer STORE`: the process that writes a store's index while a recorder runs.

Owns who asks, what is done for all of them at once, and when the process ends: when its recorder does, when a command wants
to write itself, or when no one asks for a while. Whatever is wrong with the file, it makes it again from the journals. Must
not know how rows are made; the lines that are said are workspace/index_writer.py's.

Its stdin is a socket to the recorder, which asks over it as commands do over `run/indexer.sock`.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from tallystick.capture.place import Place, listen
from tallystick.errors import TallystickError
from tallystick.graph.graph import (
    DamagedError,
    FileStamp,
    Graph,
    Mode,
    OutdatedError,
    empty_graph,
    file_stamp,
    remove_graph,
)
from tallystick.graph.journals import Depth, Projected
from tallystick.journal.home import Home
from tallystick.service.process_log import log_to
from tallystick.service.retaining import Retaining
from tallystick.trust.verify_log import note_broken_log
from tallystick.workspace.index_writer import Reply, Request, become_writer
from tallystick.workspace.indexing import bring_up_to_date

_LOG = logging.getLogger(__name__)
IDLE_SECONDS = 60.0
_NICE = 10
_BEAT_SECONDS = 0.5
_CLAIM_SECONDS = 0.05
_MOST_REQUEST_BYTES = 1 << 20
_BACKLOG = 64
_SIGNAL_AT_END_OF_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2); the parent is the thread that started this process."""


class _Ending(Exception):
    """This process is to end."""


class Caller:
    """One that asks, over its connection."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.asks: Request | None = None
        self.is_gone = False
        self._bytes = b""

    def read(self) -> None:
        """Take what it says. One that says something else than a request is one that left."""
        try:
            data = self.connection.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._bytes += data
        self.is_gone = not data or len(self._bytes) > _MOST_REQUEST_BYTES
        self._take_request()

    def _take_request(self) -> None:
        line, end, rest = self._bytes.partition(b"\n")
        if not end or self.asks is not None:
            return
        self._bytes = rest
        try:
            self.asks = msgspec.json.decode(line, type=Request)
        except msgspec.DecodeError:
            self.is_gone = True

    def answer(self, reply: Reply) -> None:
        """Say what became of its request; the next one may be there already."""
        self.asks = None
        self.tell(reply)
        self._take_request()

    def tell(self, reply: Reply) -> None:
        """Say something to it; it is not waited for."""
        try:
            self.connection.sendall(msgspec.json.encode(reply) + b"\n")
        except OSError:  # also where it does not read what it was told
            self.is_gone = True


class IndexFile:
    """The index, open as long as this process lives, and made again where it is of no use."""

    def __init__(self, home: Home, beat: Beat) -> None:
        self._home = home
        self._beat = beat
        self._graph: Graph | None = None
        self._has_all = False
        self.stamp = FileStamp()
        """Of the file as it was left."""

    def update(self, wanted: Request) -> Projected:
        """Bring it up to date; the first time all of it, whatever is asked for.

        Raises:
            TallystickError: it cannot be written, or not be read even where it was made again.
        """
        try:
            if not (wanted.again or self._is_replaced):
                try:
                    self._look_through_what_others_wrote()
                    return self._updated(wanted)
                except DamagedError as error:
                    _LOG.warning("the index is rebuilt: %s", error)
            self.close()
            note_broken_log(self._home)  # what shows in this file only is sealed before it is gone
            remove_graph(self._home.graph)
            return self._updated(wanted)
        finally:
            self.note_stamp()

    @property
    def _is_replaced(self) -> bool:
        return self._graph is not None and self._graph.is_moved

    def _look_through_what_others_wrote(self) -> None:
        """What SQLite holds of the file in memory hides that someone wrote into it. Raises DamagedError."""
        if self._graph is not None and file_stamp(self._home.graph) != self.stamp:
            self.close()
            self._graph = self._opened()
            self._graph.check()

    def note_stamp(self) -> None:
        """The file is as this process left it."""
        self.stamp = file_stamp(self._home.graph)

    def _updated(self, wanted: Request) -> Projected:
        if self._graph is None:
            self._graph = self._opened()
        sessions = None
        if self._has_all:
            sessions = wanted.sessions
        done = bring_up_to_date(
            self._home, self._graph, sessions=sessions, depth=wanted.depth, progress=self._beat.progress
        )
        self._has_all = True
        return done

    def _opened(self) -> Graph:
        try:
            graph = Graph(self._home.graph, Mode.WRITE)
        except OutdatedError:
            graph = empty_graph(self._home.graph)
        graph.watch(self._beat)
        return graph

    def close(self) -> None:
        """Close it."""
        if self._graph is not None:
            self._graph.close()
        self._graph, self._has_all = None, False


class Beat:
    """What is done now and then while a long piece of work goes on: callers hear that it does."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers
        self._last = 0.0
        self._read = 0

    def __call__(self) -> bool:
        """Tell them, if it is time; whether the work is to stop."""
        now = time.monotonic()
        if now - self._last >= _BEAT_SECONDS:
            self._last = now
            self._callers.listen(0.0)
            self._callers.tell(Reply(read=self._read))
            self._read = 0
        return self._callers.has_ended

    def progress(self, read: int) -> None:
        """So many bytes more of the journals were read. Raises _Ending: the work is to stop."""
        self._read += read
        if self():
            raise _Ending


class Callers:
    """The recorder, and those who connect to the socket."""

    def __init__(self, front: socket.socket, listening: socket.socket) -> None:
        self._front = Caller(front)
        self._listening = listening
        self._all = [self._front]

    @property
    def has_ended(self) -> bool:
        """Whether the recorder has ended, or someone else wants to write."""
        return self._front.is_gone or any(caller.asks.leave for caller in self._all if caller.asks is not None)

    def listen(self, seconds: float) -> None:
        """Take what is said within some seconds."""
        sources = {caller.connection: caller for caller in self._all}
        ready, _, _ = select.select([self._listening, *sources], [], [], seconds)
        for source in ready:
            if source is self._listening:
                self._accept()
            else:
                sources[source].read()
        for caller in [caller for caller in self._all if caller.is_gone and caller is not self._front]:
            caller.connection.close()
            self._all.remove(caller)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self._listening.accept()
            self._all.append(Caller(connection))

    def waiting(self) -> list[Caller]:
        """Those who wait for an answer."""
        return [caller for caller in self._all if caller.asks is not None]

    def close(self) -> None:
        """Hang up."""
        for caller in self._all:
            caller.connection.close()

    def tell(self, reply: Reply) -> None:
        """Say something to all who wait."""
        for caller in self.waiting():
            caller.tell(reply)


class Indexer:
    """One indexer while it runs."""

    def __init__(self, home: Home, callers: Callers, retaining: Retaining) -> None:
        self._callers = callers
        self._index = IndexFile(home, Beat(callers))
        self._retaining = retaining

    def run(self, idle_seconds: float) -> None:
        """Do what is asked for until it is over."""
        last_use = time.monotonic()
        try:
            while not self._callers.has_ended and time.monotonic() - last_use < idle_seconds:
                self._callers.listen(_BEAT_SECONDS)
                waiting = self._callers.waiting()
                if waiting and not self._callers.has_ended:
                    self._answer(waiting)
                    last_use = time.monotonic()
                elif self._retaining.is_due:
                    self._retaining.work()
                    self._index.note_stamp()
        except _Ending:
            pass
        finally:
            self._callers.close()  # first: what closing the file changes in it is no stranger's
            self._index.close()

    def _answer(self, waiting: Sequence[Caller]) -> None:
        reply = self._done(joined([caller.asks for caller in waiting if caller.asks is not None]))
        for caller in waiting:
            caller.answer(reply)

    def _done(self, wanted: Request) -> Reply:
        try:
            return Reply(done=self._index.update(wanted), file=self._index.stamp)
        except TallystickError as error:
            if self._callers.has_ended:  # which is why SQLite was interrupted
                raise _Ending from error
            _LOG.warning("the index was not brought up to date: %s", error)
            return Reply(error=str(error), file=self._index.stamp)
        except _Ending:
            raise
        except Exception as error:  # a fault of ours: the next request may be about other sessions
            _LOG.exception("the index was not brought up to date")
            self._index.close()
            return Reply(error=f"a fault of Tallystick: {type(error).__name__}", file=self._index.stamp)


def joined(requests: Sequence[Request]) -> Request:
    """One request that does what some ask for."""
    sessions: dict[str, None] | None = {}
    for request in requests:
        if request.sessions is None:
            sessions = None
        elif sessions is not None:
            sessions.update(dict.fromkeys(request.sessions))
    return Request(
        sessions=None if sessions is None else tuple(sessions),
        depth=_deepest([request.depth for request in requests]),
        again=any(request.again for request in requests),
    )


def _deepest(depths: Sequence[Depth]) -> Depth:
    """A depth that has all of some."""
    if len(set(depths)) == 1:
        return depths[0]
    return Depth.TEXT


def run(folder: str | Path, front: socket.socket, *, idle_seconds: float = IDLE_SECONDS) -> int:
    """Be the indexer of a store until its recorder ends or no one asks any more; the process's exit code."""
    home = Home(Path(folder))
    place = Place(home.folder)
    log_to(place.indexer_log)
    if not _claimed(home, front):
        return 0
    listening = listen(place.indexer_socket)
    listening.listen(_BACKLOG)
    try:
        Indexer(home, Callers(front, listening), Retaining(home)).run(idle_seconds)
    finally:
        with contextlib.suppress(OSError):
            place.indexer_socket.unlink()  # while the claim is ours
    return 0


def _claimed(home: Home, front: socket.socket) -> bool:
    """Wait for the claim on the index; False if the recorder ends before that."""
    while become_writer(home) is None:
        time.sleep(_CLAIM_SECONDS)
        if select.select([front], [], [], 0.0)[0] and not front.recv(1, socket.MSG_PEEK):
            return False
        with contextlib.suppress(OSError):
            front.sendall(msgspec.json.encode(Reply()) + b"\n")
    return True


def _go_on_when_the_recorder_ends() -> None:
    """Have the kernel continue this process when its recorder dies: if it is stopped, it would hold the claim for ever."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SIGNAL_AT_END_OF_PARENT, int(signal.SIGCONT), 0, 0, 0)


def main(words: Iterable[str]) -> int:
    """Be the indexer of a store that a recorder has started, in its main thread."""
    _go_on_when_the_recorder_ends()
    os.umask(0o077)
    os.nice(_NICE)
    (folder,) = words
    return run(folder, socket.socket(fileno=0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The processes of a large import: some read and sort out files, one keeps the index; this one seals.

Owns when they are worth it, how they are started and how they end. What is sealed, and in which order, is not theirs: files
come in the order in which they are sealed, so the record is that of an import by one process. They are forks, made before
anything of the store is open, and end with this process, however that ends. Must not know what an event means.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tallystick.agents import Adapter
from tallystick.capture.discover import Found, Refused
from tallystick.capture.history import HistoryFile, Piece
from tallystick.errors import SourceError
from tallystick.journal.home import Home

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

WORTH_BYTES = 16 << 20
"""Fewer are read in less time than is saved."""
_MOST_READERS = 4
_BATCH_BYTES, _BATCH_PIECES = 256 << 10, 256
_GONE = (EOFError, OSError)


class Source(Protocol):
    """A history file that is being read (`capture.history.HistoryFile`)."""

    @property
    def position(self) -> int:
        """How many bytes were read."""
        ...

    @property
    def offset(self) -> int:
        """How many of them are whole lines."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 of those, in hex."""
        ...

    def pieces(self) -> Iterator[Piece]:
        """Its events. Raises SourceError."""
        ...


class Files:
    """Files, read by this process when they are asked for."""

    ahead = 0
    """How many files are announced before they are opened."""

    def expect(self, found: Found) -> None:
        """A file will be opened soon."""

    def open(self, found: Found, adapter: Adapter) -> Source:
        """A file that is read now."""
        return HistoryFile(found.path, adapter, found.text)


class ImportWorkers:
    """Processes that read files, and one that is free for other work. Use as a context manager, which ends them."""

    def __init__(self, readers: Sequence[Worker], indexer: Worker) -> None:
        self.files = _FilesAhead(readers)
        self.indexer = indexer
        self._children = (*readers, indexer)

    def __enter__(self) -> ImportWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            child.end()


def start_workers(
    home: Home,
    found: Sequence[Found | Refused],
    adapters: Mapping[str, Adapter],
    index: Callable[[Home, Connection], None],
) -> ImportWorkers | None:
    """Start the processes for an import of some files; None: one process is as fast, or none can be made safely.

    Args:
        index: what the process of the index does, with the connection that names what has grown.
    """
    files = [item for item in found if isinstance(item, Found)]
    spare = _cores() - 1
    if spare < 1 or sum(file.size for file in files) < WORTH_BYTES or _has_threads():
        return None
    known = {str(file.path): file for file in files}

    def read(connection: Connection) -> None:
        _read_files(connection, known, adapters)

    children: list[Worker] = []
    gc.collect()
    gc.freeze()  # so that the pages of what is loaded stay shared
    try:
        for _ in range(min(spare, _MOST_READERS, len(files))):
            children.append(Worker(read, children))
        indexer = Worker(lambda connection: index(home, connection), children)
    except OSError:  # no more processes for this user
        for child in children:
            child.end()
        return None
    finally:
        gc.unfreeze()
    return ImportWorkers(children, indexer)


def _has_threads() -> bool:
    """Whether a fork would leave the locks of other threads held for ever."""
    return threading.active_count() > 1


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Worker:
    """A fork that does one thing, connected with its parent. It ends when the connection does."""

    def __init__(self, work: Callable[[Connection], None], others: Sequence[Worker]) -> None:
        """Fork. `others`: the children so far, whose connections are not for this one. Raises OSError."""
        from multiprocessing.connection import Pipe

        self.connection, its = Pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for other in (*others, self):
                other.connection.close()  # or the others would not see that the parent is gone
            _be_child(work, its)
        its.close()

    def takes_more(self) -> bool:
        """Whether something can be sent to it without waiting for it."""
        from select import select

        return bool(select([], [self.connection.fileno()], [], 0)[1])

    def end(self) -> None:
        """Have it end now, and wait for it."""
        self.connection.close()
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
            self.pid = 0


def _be_child(work: Callable[[Connection], None], connection: Connection) -> None:
    """The child's side. It never returns: what its parent would do at its end is not its own."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent says what becomes of it
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with contextlib.suppress(*_GONE):
            work(connection)
        code = 0
    finally:
        os._exit(code)


# Reading -------------------------------------------------------------------------------------------------------------


def _read_files(connection: Connection, files: Mapping[str, Found], adapters: Mapping[str, Adapter]) -> None:
    """Read the files that are named on a connection, one after the other, until it is closed."""
    while True:
        found = files[connection.recv()]
        try:
            for message in _read(HistoryFile(found.path, adapters[found.agent], found.text)):
                connection.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
        except SourceError as error:
            connection.send(_Failed(str(error)))
        except _GONE:
            raise
        except Exception as error:  # a fault of a reader takes no other file with it
            connection.send(_Failed(f"{found.path} cannot be read: {type(error).__name__}: {error}"))


class _Failed(str):
    """Why a file could not be read."""


def _read(file: HistoryFile) -> Iterator[tuple[list[tuple[Piece, int]], int, int, str | None]]:
    """A file in batches: pieces with the position after each, position, offset, and in the last one the digest."""
    batch: list[tuple[Piece, int]] = []
    sent = 0
    for piece in file.pieces():
        batch.append((piece, file.position))
        if len(batch) >= _BATCH_PIECES or file.position - sent >= _BATCH_BYTES:
            yield batch, file.position, file.offset, None
            batch, sent = [], file.position
    yield batch, file.position, file.offset, file.digest


class _FilesAhead(Files):
    """Files that other processes read, in the order in which they are announced."""

    def __init__(self, readers: Sequence[Worker]) -> None:
        self._readers = readers
        self._by_path: dict[Path, Worker] = {}
        self._gone: set[int] = set()
        self._next = 0
        self.ahead = 2 * len(readers)

    def expect(self, found: Found) -> None:
        """Have a file read."""
        number = self._next % len(self._readers)
        self._next += 1
        reader = self._readers[number]
        with contextlib.suppress(*_GONE):
            reader.connection.send(str(found.path))
            self._by_path[found.path] = reader

    def open(self, found: Found, adapter: Adapter) -> Source:
        """A file that is being read; by this process, if the one that should has ended."""
        reader = self._by_path.pop(found.path, None)
        if reader is None or id(reader) in self._gone:
            return super().open(found, adapter)
        return _FarFile(found.path, reader.connection, lambda: self._gone.add(id(reader)))


class _FarFile:
    """A file that another process reads."""

    def __init__(self, path: Path, connection: Connection, gone: Callable[[], None]) -> None:
        self.position = self.offset = 0
        self.digest = ""
        self._path = path
        self._connection = connection
        self._gone = gone

    def pieces(self) -> Iterator[Piece]:
        """Its events. Raises SourceError: it cannot be read, or the process that reads it has ended."""
        while not self.digest:
            batch, position, offset, digest = self._message()
            for piece, self.position in batch:
                yield piece
            self.position, self.offset, self.digest = position, offset, digest or ""

    def _message(self) -> Any:
        try:
            message = pickle.loads(self._connection.recv_bytes())
        except _GONE as error:
            self._gone()
            raise SourceError(
                f"{self._path} cannot be read: the process that read it has ended", hint="import it again"
            ) from error
        if isinstance(message, _Failed):
            raise SourceError(message)
        return message

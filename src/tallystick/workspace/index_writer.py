"""Who writes the index: the writer's claim on it, and asking the indexer that holds the claim.

Owns `run/indexer.lock`, `run/indexer.sock` and the lines said there. While a recorder runs, its indexer is the one that
writes; a command asks it, or takes the claim where no indexer runs. SQLite keeps two writers apart in any case: the claim
spares them each other's work. Must not know how an index is made (indexing.py), nor what an indexer does meanwhile
(service/indexer.py).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from tallystick.capture.place import Place, connect
from tallystick.graph.graph import FileStamp, GraphError
from tallystick.graph.journals import Depth, Projected
from tallystick.journal.home import Home

PATIENCE_S = 5.0
"""How long another writer is waited for."""
SILENCE_S = 15.0
"""An indexer at work says so every half second: one that says nothing for so long has died or hangs."""
_LOOK_AGAIN_S = 0.02
_MOST_PID_BYTES = 32

Progress = Callable[[int], None]
"""Called with how many bytes more of the journals were read."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What an indexer is asked for: an index that has what the journals hold now."""

    sessions: tuple[str, ...] | None = None
    """Of these sessions; None: of all."""
    depth: Depth = Depth.ROWS
    again: bool = False
    """Whether it begins with an empty index, because a stranger replaced the file."""
    leave: bool = False
    """Whether it is to end, and let someone else write."""


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of an indexer's answer: it goes on (`read` bytes more), or it has ended, well or not."""

    read: int = 0
    done: Projected | None = None
    error: str | None = None
    file: FileStamp = FileStamp()
    """Which file the index is, and when this indexer wrote it last, once it has ended."""


class _Own:
    """The store whose index this process writes as its indexer."""

    folder: Path | None = None


def become_writer(home: Home) -> int | None:
    """Claim the index of a store for the life of this process; None if another process has it. Raises OSError."""
    descriptor = _lock(Place(home.folder).indexer_lock)
    if descriptor is not None:
        _Own.folder = home.folder
    return descriptor


def writer_of(home: Home) -> int | None:
    """The process that holds the claim on the index of a store; None if none does, or it could not say which it is."""
    try:
        descriptor = os.open(Place(home.folder).indexer_lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            said = file.read(_MOST_PID_BYTES)
            return int(said) if said.strip().isdigit() else None
    return None


@contextlib.contextmanager
def claim(home: Home) -> Iterator[bool]:
    """Whether this process may write the index now; it is not waited for. A store that no recorder had needs no claim."""
    if _Own.folder == home.folder:
        yield True
        return
    try:
        descriptor = _lock(Place(home.folder).indexer_lock)
    except OSError:  # no recorder ran here, or nothing can be written here
        yield True
        return
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextlib.contextmanager
def claimed(home: Home) -> Iterator[None]:
    """Be the one that writes the index, for what no indexer can do; one that runs is asked to end, and starts again.

    Raises:
        GraphError: another process writes it, and does not end.
    """
    until = time.monotonic() + PATIENCE_S
    while True:
        with claim(home) as is_mine:
            if is_mine:
                yield
                return
        with contextlib.suppress(GraphError):
            ask(home, Request(leave=True))
        look_again(home, until)


def look_again(home: Home, until: float) -> None:
    """Wait a moment for another writer, until a time. Raises GraphError then."""
    if time.monotonic() >= until:
        raise GraphError(
            f"{home.graph} is being written by another process",
            hint="try again; `tally doctor` says whether that process is stopped",
        )
    time.sleep(_LOOK_AGAIN_S)


def ask(home: Home, request: Request, progress: Progress = lambda _bytes: None) -> Projected | None:
    """Have the indexer of a store do something, and wait until it has; None: none listens, or it ended meanwhile.

    Raises:
        GraphError: the index cannot be written, or the indexer does not answer.
    """
    try:
        with connect(Place(home.folder).indexer_socket, SILENCE_S) as connection:
            connection.sendall(msgspec.json.encode(request) + b"\n")
            return _answer(connection, progress)
    except TimeoutError as error:
        hint = "`tally doctor` says which process it is"
        raise GraphError(f"the indexer of {home.folder} does not answer", hint=hint) from error
    except OSError:
        return None


def _answer(connection: socket.socket, progress: Progress) -> Projected | None:
    with connection.makefile("rb") as lines:
        for line in lines:
            reply = msgspec.json.decode(line, type=Reply)
            if reply.error is not None:
                raise GraphError(reply.error)
            if reply.done is not None:
                return reply.done
            progress(reply.read)
    return None


def _lock(path: Path) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    with contextlib.suppress(OSError):  # on a full disk no one is named
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
    return descriptor

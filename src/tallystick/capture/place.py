"""Where the recorder of a store is to be found, and that there is only one.

Owns the files in `run/` and the lock that makes an instance the only one. Must not know what the recorder does.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import sys
import time
from pathlib import Path

from tallystick.capture.peers import peer_of
from tallystick.errors import JournalError

SOCKET = "recorder.sock"
_CONNECT_SECONDS = 1.0
_SINCE_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Place:
    """The recorder's files in a store: `run/recorder.sock`, `.pid`, `.lock`, `http.json`, `deliveries`; and the spool."""

    def __init__(self, store: Path) -> None:
        self.run = store / "run"
        self.socket = self.run / SOCKET
        self.pid = self.run / "recorder.pid"
        self.lock = self.run / "recorder.lock"
        self.python = self.run / "python"
        """The interpreter in which Tallystick is installed, for plugins that run in another one."""
        self.log = self.run / "recorder.log"
        self.decider_log = self.run / "decider.log"
        self.unfinished = self.run / "unfinished.json"
        self.http = self.run / "http.json"
        self.indexer_lock = self.run / "indexer.lock"
        self.indexer_socket = self.run / "indexer.sock"
        self.indexer_log = self.run / "indexer.log"
        self.shadower_log = self.run / "shadower.log"
        self.spool = store / "spool"
        self.torn = store / "torn"
        self.deliveries = self.run / "deliveries"
        self.killed: int | None = None
        """The pid of the recorder before the one that holds the claim here, if that one did not end by itself."""
        self.stranger: int | None = None
        """The pid of a process that listened in the recorder's place when it was claimed here."""

    def claim(self) -> int | None:
        """Become the only recorder of the store: a descriptor that holds the claim; None if there is another one.

        Raises:
            JournalError: the store's folder cannot be made. OSError: the lock's file cannot.
        """
        for folder in (self.run.parent, self.run, self.spool):  # each for this user only, which `parents` are not
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise JournalError(
                    f"cannot make the folder {folder}: {error.strerror}", hint="choose another store with --home"
                ) from error
        descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        self.killed = self._left_behind()
        self.stranger = listener(self.socket)
        with contextlib.suppress(OSError):  # a full disk keeps no one from deciding
            self.pid.write_text(f"{os.getpid()}\n", "ascii")
            self.python.write_bytes(os.fsencode(sys.executable) + b"\n")
        return descriptor

    def _left_behind(self) -> int | None:
        """The pid that a recorder has left which was ended by someone else, and not by the machine's going down."""
        try:
            if self.pid.stat().st_mtime < time.time() - time.clock_gettime(_SINCE_BOOT):
                return None
        except OSError:
            return None
        return _pid_in(self.pid)

    def leave(self, descriptor: int) -> None:
        """Give the claim up. The socket and the pid go first, so that no one finds what is no more."""
        if self._is_lock(descriptor):  # else `run/` was removed, and what is there now is another recorder's
            for path in (self.socket, self.pid):
                with contextlib.suppress(OSError):
                    path.unlink()
        os.close(descriptor)

    def _is_lock(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(self.lock.stat(), os.fstat(descriptor))
        except OSError:
            return False

    @property
    def is_claimed(self) -> bool:
        """Whether a process holds the claim."""
        try:
            descriptor = os.open(self.lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def owner(self) -> int | None:
        """The pid of the recorder that holds the claim; None if no one does, or its pid cannot be found."""
        if not self.is_claimed:
            return None
        return _pid_in(self.pid) or listener(self.socket)

    def other_listener(self) -> int | None:
        """The pid of a process that listens in the recorder's place and is not the one that holds the claim.

        None where no one listens, where the recorder does, and where the system does not tell.
        """
        found = listener(self.socket)
        if found is None or not self.is_claimed:  # the recorder claims before it listens
            return found
        recorded = _pid_in(self.pid)
        if recorded in (None, found):
            return None
        return found


def listener(path: Path) -> int | None:
    """The pid of the process that listens on a socket in `run/`, answering or not; None where no one does."""
    try:
        with connect(path, _CONNECT_SECONDS) as connection:
            return peer_of(connection).pid
    except OSError:
        return None


def connect(path: Path, seconds: float) -> socket.socket:
    """A connection to a socket in `run/`, whose path may be too long for one; each answer is waited for `seconds`.

    Raises:
        OSError: no one listens, or no one answers in time.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        short = Path(f"/proc/self/fd/{folder}/{path.name}")  # where there is /proc
        connection.connect(str(short if short.exists() else path))
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(folder)
    return connection


def listen(path: Path) -> socket.socket:
    """A socket in `run/` to which this user may connect. The working directory becomes `run/`, for names always fit.

    Raises:
        OSError: it cannot be made.
    """
    os.chdir(path.parent)
    with contextlib.suppress(FileNotFoundError):
        path.unlink()  # the claim is ours, so this is a dead process's
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(path.name)
    finally:
        os.umask(before)
    listening.setblocking(False)
    return listening


def _pid_in(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None

"""The values that steps showed, as a store keeps them: keyed digests beside the journals, a line a step, for its user alone.

Owns the file `keys/read.values`, when it is read again, how long it grows, and that an erasure takes its lines. Must not
know how a value is compared: scrubbing.fingerprints does. Journals do not change for it, and verification never reads it.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import logging
import os
import threading
from collections.abc import Collection, Iterable

from tallystick.errors import JournalError
from tallystick.journal.durable import exchange_file, one_writer, write_whole
from tallystick.journal.home import Home
from tallystick.journal.keys import KNOWN_KEY_BYTES, known_key
from tallystick.journal.opening import open_file, open_to_read
from tallystick.scrubbing.fingerprints import prints_of

_log = logging.getLogger("tallystick")
_MOST_BYTES = 8 << 20
"""Of a longer file, the older half goes."""


class ReadValues:
    """What steps showed, in one store. Safe to use from several threads and processes."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._path = home.read_values
        self._key: bytes | None = None
        self._kept: dict[str, str] = {}
        """What is kept of each step, as it is written."""
        self._seen = (0, 0)
        """Which file was read, and how far."""
        self._lock = threading.Lock()

    def key(self) -> bytes:
        """The key of the digests; empty where nothing was kept yet."""
        if self._key is None:
            with contextlib.suppress(JournalError):
                self._key = known_key(self._home)
        return self._key or b""

    def new_key(self) -> bytes:
        """The same, made if it is first wanted; empty where it cannot be."""
        with contextlib.suppress(JournalError, OSError):
            self._key = self._key or known_key(self._home, new=os.urandom(KNOWN_KEY_BYTES))
        return self._key or b""

    def note(self, sid: str, n: int, values: Iterable[bytes]) -> None:
        """Keep what a step showed. A store that cannot be written records all the same."""
        try:
            if self.shown(_name(sid, n)):
                return
            prints = prints_of(values, self.new_key())
            if prints and self._key:
                self._append(f"{_name(sid, n)} {base64.b64encode(prints).decode('ascii')}\n")
        except (OSError, JournalError) as error:
            _log.warning("what a step showed is not kept in %s: %s", self._path, error)

    def shown(self, step: str) -> bytes:
        """What is kept of a step, by its name `SESSION:n`; nothing, if nothing is."""
        with self._lock:
            with contextlib.suppress(OSError, JournalError):
                self._refresh()
            try:
                return base64.b64decode(self._kept.get(step, ""))
            except binascii.Error:  # a damaged line
                return b""

    def _append(self, line: str) -> None:
        with one_writer(self._path.parent):
            if self._path.exists() and self._path.stat().st_size > _MOST_BYTES:
                lines = _lines(self._home)
                exchange_file(self._path, lines[len(lines) // 2 :])
            descriptor = open_file(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                write_whole(descriptor, line.encode())
            finally:
                os.close(descriptor)

    def _refresh(self) -> None:
        try:
            found = os.stat(self._path)  # noqa: PTH116 asked for each call
        except FileNotFoundError:
            self._kept, self._seen = {}, (0, 0)
            return
        inode, size = self._seen
        if found.st_ino != inode or found.st_size < size:
            self._kept, size = {}, 0
        if found.st_size > size:
            with open_to_read(self._path) as file:
                file.seek(size)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            for line in whole.decode("ascii", "replace").splitlines():
                name, _, prints = line.partition(" ")
                self._kept[name] = prints
            self._seen = found.st_ino, size + len(whole)


def forget_values(home: Home, sid: str, numbers: Collection[int]) -> None:
    """Forget what some steps of a session showed.

    Raises:
        JournalError, OSError: the disk refused.
    """
    if not home.read_values.exists():
        return
    gone = tuple(f"{_name(sid, n)} ".encode() for n in numbers)
    with one_writer(home.read_values.parent):
        lines = _lines(home)
        left = [line for line in lines if not line.startswith(gone)]
        if len(left) < len(lines):
            exchange_file(home.read_values, left)


def _lines(home: Home) -> list[bytes]:
    with open_to_read(home.read_values) as file:
        return file.read().splitlines(keepends=True)


def _name(sid: str, n: int) -> str:
    return f"{sid[:12]}:{n}"

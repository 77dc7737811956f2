"""The values that are known to be secrets, as a store keeps them: keyed digests in a file that only its user reads.

Owns the file, when it is read again because another process added to it, and that it does not grow for ever. Must not know
how a value is known from its digest: scrubbing.known_values does. A store whose file cannot be read or written records all
the same: then a value is found where the rules find it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tallystick.errors import JournalError
from tallystick.journal.durable import exchange_file, one_writer, write_whole
from tallystick.journal.home import Home
from tallystick.journal.keys import KNOWN_KEY_BYTES, known_key
from tallystick.journal.opening import open_file, open_to_read
from tallystick.scrubbing.known_values import MOST_VALUES, KnownValues

_log = logging.getLogger("tallystick")


class KnownFile:
    """The known values of one store. Safe to use from several threads, and several processes may use one store."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._path = str(home.known_values)
        self._key = b""
        self._has_kept_key = False
        self._values: KnownValues | None = None
        self._seen = (0, 0)
        """Which file was read, and how far."""
        self._is_held = False
        self._is_refused = False
        self._lock = threading.RLock()

    def current(self) -> KnownValues | None:
        """The values that are known now; None: they cannot be read. No file is made for it."""
        with self._lock:
            if self._is_held:
                return self._values
            try:
                self._refresh()
            except (OSError, JournalError) as error:
                self._refuse(error)
                return None
            return self._values

    def keep(self) -> None:
        """Keep what was learned since the last time."""
        with self._lock:
            learned = self._values.new_lines() if self._values is not None else []
            if not learned:
                return
            try:
                with one_writer(self._home.known_values.parent):
                    self._append(learned)
            except (OSError, JournalError) as error:
                self._refuse(error)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Meanwhile, what other processes learn is not known here: what is scrubbed twice is scrubbed alike."""
        with self._lock:
            self.current()
            self._is_held = True
            try:
                yield
            finally:
                self._is_held = False

    def _refresh(self) -> None:
        try:
            found = os.stat(self._path)  # noqa: PTH116 asked for each step
        except FileNotFoundError:
            if self._values is None:
                self._read_key()
            return
        if not self._has_kept_key:
            self._read_key()
        inode, size = self._seen
        if found.st_ino != inode or found.st_size < size:
            size = 0
        if found.st_size > size:
            self._seen = found.st_ino, self._take_from(size)

    def _read_key(self) -> None:
        """Use the key that is kept; without one, a new one until something is to be kept."""
        kept = known_key(self._home)
        if kept is not None or self._values is None:
            self._key = kept or os.urandom(KNOWN_KEY_BYTES)
            self._values, self._seen = KnownValues(self._key), (0, 0)
        self._has_kept_key = kept is not None

    def _take_from(self, at: int) -> int:
        """Take the whole lines from there on; where they end."""
        with open_to_read(self._home.known_values) as file:
            file.seek(at)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        for line in whole.decode("ascii", "replace").splitlines():
            if self._values is not None and line:
                self._values.take(line)
        return at + len(whole)

    def _append(self, lines: list[str]) -> None:
        self._has_kept_key = known_key(self._home, new=self._key) == self._key
        if not self._has_kept_key:  # another process was first: by its key, what was learned is not known
            return
        self._refresh()
        kept = self._values.lines() if self._values is not None else []
        if self._seen[1] > 2 * MOST_VALUES * max(map(len, kept)):
            exchange_file(self._home.known_values, (f"{line}\n".encode() for line in kept))
            return
        descriptor = open_file(self._home.known_values, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            write_whole(descriptor, "".join(f"{line}\n" for line in lines).encode())
        finally:
            os.close(descriptor)

    def _refuse(self, error: Exception) -> None:
        if not self._is_refused:
            _log.warning("the known secrets in %s are not used: %s", self._home.known_values, error)
        self._is_refused = True

"""The bytes of files that are about to run, read within bounds.

Owns the bounds (256 KiB, 100 ms), the digest, and that a file which is the same as before is not read again: at the
same place on the disk, of the same size and times, the time of its last change of any kind included, which no program
can set. Must not know why someone asks, nor what is in a file.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256

from tallystick.policy.world import MOST_BYTES, Content, Unread

_MOST_SECONDS = 0.1
_PIECE = 64 << 10
_MOST_KEPT_BYTES = 8 << 20
_MOST_KEPT = 2000
_FRESH_NS = 50_000_000
"""A file that changed so lately may change again without its times showing it."""
_HEAD = 8 << 10

_Same = tuple[int, int, int, int, int]


class Contents:
    """What files hold. Safe for several threads."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, now_ns: Callable[[], int] = time.time_ns
    ) -> None:
        """`clock` in seconds tells how long reading takes; `now_ns` is the time that files' times are compared with."""
        self._clock = clock
        self._now_ns = now_ns
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[_Same, Content]] = OrderedDict()
        self._bytes = 0

    def read(self, path: str) -> Content | Unread:
        """What a file holds now, links followed. Waits for no pipe, and reads no device."""
        started = self._clock()
        try:
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        except (FileNotFoundError, NotADirectoryError):
            return Unread.MISSING
        except (OSError, ValueError):  # no right to it, a loop of links, a zero byte
            return Unread.UNREADABLE
        try:
            return self._of(path, file, started)
        except OSError:
            return Unread.UNREADABLE
        finally:
            os.close(file)

    def _of(self, path: str, file: int, started: float) -> Content | Unread:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return Unread.UNREADABLE
        if found.st_size > MOST_BYTES:
            if b"\0" in os.read(file, _HEAD):
                return Unread.BINARY
            return Unread.TOO_LARGE
        same = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        with self._lock:
            kept = self._kept.get(path)
            if kept is not None and kept[0] == same:
                self._kept.move_to_end(path)
                return kept[1]
        data = bytearray()
        while len(data) <= MOST_BYTES:
            piece = os.read(file, _PIECE)
            if self._clock() - started > _MOST_SECONDS:
                return Unread.TOO_SLOW
            if not piece:
                content = Content(digest=f"sha256:{sha256(data).hexdigest()}", text=data.decode("utf-8", "replace"))
                if self._now_ns() - max(found.st_mtime_ns, found.st_ctime_ns) > _FRESH_NS:
                    self._keep(path, same, content)
                return content
            data += piece
        return Unread.TOO_LARGE

    def _keep(self, path: str, same: _Same, content: Content) -> None:
        with self._lock:
            old = self._kept.pop(path, None)
            self._bytes += len(content.text) - (len(old[1].text) if old is not None else 0)
            self._kept[path] = (same, content)
            while self._bytes > _MOST_KEPT_BYTES or len(self._kept) > _MOST_KEPT:
                _, (_, oldest) = self._kept.popitem(last=False)
                self._bytes -= len(oldest.text)

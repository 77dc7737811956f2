"""Which process has a file open for writing, as far as looking shows it; on Linux only.

Owns the sampling of `/proc` for the descendants of one process. A process is named if it was seen with the file open,
and never guessed: most writes are over before anyone looks. Links below `/proc/PID/fd` are read, no content and no
environment.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator

import psutil

from tallystick.model.effect import Holder

_KEPT_S = 2.0
"""For how long after it was seen a process may be named."""
_ACTIVE_S = 1.0
"""For how long after an effect there is sampling."""
_MOST_SAMPLING = 0.05
"""The share of time that sampling may take."""
_LEAST_PAUSE_S = 0.02
_MOST_PROCESSES = 256
_MOST_DESCRIPTORS = 512
_MOST_PATHS = 10_000
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR


class Holders:
    """The files that the descendants of a process were seen to have open for writing."""

    def __init__(self, pid: int, *, proc: str = "/proc", clock: Callable[[], float] = time.monotonic) -> None:
        """Sample the descendants of `pid`: not itself, if it is this process, which records."""
        self._pid = pid
        self._proc = proc
        self._clock = clock
        self._seen: dict[str, tuple[float, Holder]] = {}
        self._until = float("-inf")
        self._next = float("-inf")
        self.is_able = sys.platform == "linux"

    def stir(self) -> None:
        """Effects arrive: sample now, and for a while."""
        self._until = self._clock() + _ACTIVE_S
        self.tick()

    def tick(self) -> None:
        """Sample, if it is time to."""
        now = self._clock()
        if not self.is_able or now > self._until or now < self._next:
            return
        self._sample(now)
        took = self._clock() - now
        self._next = now + took + max(_LEAST_PAUSE_S, took / _MOST_SAMPLING)

    def of(self, path: str) -> Holder | None:
        """The process that was seen to have the file open a moment ago."""
        found = self._seen.get(path)
        if found is not None and self._clock() - found[0] <= _KEPT_S:
            return found[1]
        return None

    def _sample(self, now: float) -> None:
        if len(self._seen) > _MOST_PATHS:
            self._seen.clear()
        for pid in self._descendants():  # parents first: a child that inherited the file is nearer to the writing
            paths = list(self._written_by(pid))
            if paths:
                holder = Holder(pid, self._name(pid))
                self._seen |= dict.fromkeys(paths, (now, holder))

    def _descendants(self) -> list[int]:
        with contextlib.suppress(psutil.Error, OSError):
            root = psutil.Process(self._pid)
            if self._pid == os.getpid():
                own = []
            else:
                own = [self._pid]
            return (own + [process.pid for process in root.children(recursive=True)])[:_MOST_PROCESSES]
        return []

    def _written_by(self, pid: int) -> Iterator[str]:
        folder = f"{self._proc}/{pid}/fd"
        try:
            with os.scandir(folder) as found:
                numbers = [item.name for item, _ in zip(found, range(_MOST_DESCRIPTORS), strict=False)]
        except OSError:
            return
        for number in numbers:
            with contextlib.suppress(OSError, ValueError):
                path = os.readlink(f"{folder}/{number}")  # noqa: PTH115 - many of them
                if path.startswith("/") and not path.startswith("/dev/") and self._is_writing(pid, number):
                    yield path

    def _is_writing(self, pid: int, number: str) -> bool:
        with open(f"{self._proc}/{pid}/fdinfo/{number}", encoding="ascii") as info:  # noqa: PTH123 - many of them
            for line in info:
                if line.startswith("flags:"):
                    return int(line.split()[1], 8) & _ACCESS != os.O_RDONLY
        return False

    def _name(self, pid: int) -> str:
        try:
            with open(f"{self._proc}/{pid}/comm", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as above
                return file.read(64).strip() or "?"
        except OSError:
            return "?"

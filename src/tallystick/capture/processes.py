"""The processes that a command starts, and which of them have a file open, seen by looking again and again.

Owns the tree of one command's processes, and on Linux the sampling of `/proc` for files that its descendants write. Limits: a
process that begins and ends between two looks is not seen, and on macOS one whose parent has ended before the first look
is no one's. Who writes a file is named if it was seen with the file open, and never guessed. Links below `/proc/PID/fd` are
read, no content and no environment. Must not know what is recorded.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import msgspec
import psutil

from tallystick.model.effect import Holder

_LEAST_PAUSE_S = 0.02
_MOST_PAUSE_S = 0.25
_MOST_LOOKING = 0.03
"""The share of time that looking may take."""
_YOUNG_S = 1.0
"""For how long a process may still become another program: a command begins as a copy of its parent."""
_MOST_ARGS_BYTES = 64 << 10
_SET_CHILD_SUBREAPER = 36


class Seen(msgspec.Struct, frozen=True):
    """A process: who it is (a number may be given again, so with its beginning in epoch milliseconds), and what it runs.

    `parent` is the process of the tree that it belongs to, None for the first one.
    """

    pid: int
    began_ms: int
    args: tuple[str, ...]
    parent: tuple[int, int] | None

    @property
    def key(self) -> tuple[int, int]:
        """What names it in its tree."""
        return self.pid, self.began_ms


class ProcessTree:
    """The processes that descend from one, as far as they are seen. Make it before the first one is started."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._own = os.getpid()
        self._there = set(psutil.pids())
        self._root: Seen | None = None
        self._tree: dict[int, Seen] = {}
        self._young: dict[int, float] = {}
        self._took = 0.0

    def begin(self, pid: int, args: Sequence[str]) -> Seen:
        """The first process, which was just started with `args`; it may have ended already."""
        began = time.time()
        with contextlib.suppress(psutil.Error, OSError):
            began = psutil.Process(pid).create_time()
        self._root = Seen(pid, round(began * 1000), tuple(args), None)
        self._tree[pid] = self._root
        self._young[pid] = self._clock()
        self._there.add(pid)
        return self._root

    @property
    def pause(self) -> float:
        """How many seconds to wait before the next look, so that looking costs little."""
        return min(max(_LEAST_PAUSE_S, self._took / _MOST_LOOKING), _MOST_PAUSE_S)

    def look(self) -> list[Seen]:
        """The processes that are new, parents first, and young ones that run something else than when they were seen."""
        began = self._clock()
        self._reap()
        now = set(psutil.pids())
        new, self._there = now - self._there, now
        for gone in self._tree.keys() - now:
            del self._tree[gone]
            self._young.pop(gone, None)
        found = self._changed(began)
        while adopted := [seen for pid in sorted(new) if (seen := self._belonging(pid)) is not None]:
            for seen in adopted:
                self._tree[seen.pid] = seen
                self._young[seen.pid] = began
                new.discard(seen.pid)
            found += adopted
        self._took = self._clock() - began
        return found

    def _reap(self) -> None:
        """Take leave of orphans that became ours and have ended: no one else does, and each would keep its number."""
        for pid in self._tree:
            if self._root is not None and pid != self._root.pid:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)

    def _belonging(self, pid: int) -> Seen | None:
        """The process, if it is of the tree: its parent is, or it lost its parent and became ours."""
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            above = process.ppid()
            if above == self._own:
                parent = self._root
            else:
                parent = self._tree.get(above)
            if parent is not None:
                return _seen(process, parent.key)
        return None

    def _changed(self, now: float) -> list[Seen]:
        found = []
        for pid, since in list(self._young.items()):
            known = self._tree[pid]
            with contextlib.suppress(psutil.Error, OSError):
                again = _seen(psutil.Process(pid), known.parent)
                if again != known and again.key == known.key and again.args:
                    self._tree[pid] = again
                    found.append(again)
            if now - since > _YOUNG_S:
                del self._young[pid]
        return found

    def left(self) -> int:
        """How many processes of the tree were there at the last look, the first one apart, that have not ended."""
        count = 0
        for pid in self._tree.keys() - {self._root.pid if self._root is not None else 0}:
            with contextlib.suppress(psutil.Error, OSError):
                count += psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        return count


def _seen(process: psutil.Process, parent: tuple[int, int] | None) -> Seen:
    args, left = [], _MOST_ARGS_BYTES
    for arg in process.cmdline() or [process.name()]:  # one that has just ended has a name only
        args.append(arg[:left])
        left -= len(arg)
        if left <= 0:
            break
    return Seen(process.pid, round(process.create_time() * 1000), tuple(args), parent)


def adopt_orphans() -> bool:
    """Have processes that lose their parent become this process's, on Linux: they stay in sight. Whether that worked."""
    if sys.platform != "linux":
        return False
    with contextlib.suppress(OSError, AttributeError):
        return bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    return False


def is_stopped(pid: int) -> bool:
    """Whether a process is held: by a signal, by Ctrl-Z, or by a debugger. SIGCONT continues it."""
    try:
        return psutil.Process(pid).status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
    except (psutil.Error, OSError):
        return False


_KEPT_S = 2.0
"""For how long after it was seen a process may be named."""
_ACTIVE_S = 1.0
"""For how long after an effect there is sampling."""
_MOST_SAMPLING = 0.05
"""The share of time that sampling may take."""
_LEAST_WAIT_S = 0.02
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
        self._next = now + took + max(_LEAST_WAIT_S, took / _MOST_SAMPLING)

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

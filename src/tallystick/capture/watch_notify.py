"""What the system says of changes in folders, by `watchfiles`.

Owns which folders are given to the system and what happens when it fails. On Linux each known folder is given by itself, for
there the library would follow links out of the workspace, and spend watches on folders that are passed over; elsewhere the
roots are given with all that is below them. Must not know what is different: an event is a hint where to look.

What the library does not say: that the system's queue was too short, and anything about names that are not UTF-8 (it
then fails for good, and is started again). Both are made up for by looking again.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from tallystick.errors import SourceError

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

ADDED, MODIFIED, DELETED = 1, 2, 3
"""What the library says happened to a path."""
_STEP_MS = 25
_GROUP_MS = 100
_RESTING = 10
"""After a start that took T, the next one is at least so many T away."""
_ATTEMPTS = 4


class Told(msgspec.Struct, frozen=True):
    """Paths with what was said of each. `fault`: why something may be missing."""

    paths: dict[str, set[int]]
    fault: str | None = None


class Notify:
    """The system's events of a changing set of folders."""

    def __init__(self, roots: Iterable[str], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._roots = tuple(roots)
        self._clock = clock
        self._running: RustNotify | None = None
        self._is_broken = False
        self._not_before = float("-inf")

    @property
    def wait_s(self) -> float:
        """For how long it should not be started again, so that starting costs little."""
        return max(0.0, self._not_before - self._clock())

    def start(self, folders: Iterable[str]) -> Told:
        """Watch these folders from now on, and no others; what the ones before still had to tell.

        Raises:
            SourceError: the system refuses, for example because it has no more watches to give.
        """
        wanted = list(folders if sys.platform == "linux" else self._roots)
        began = self._clock()
        try:
            running = _watching(wanted)
        finally:
            self._not_before = self._clock() + (self._clock() - began) * _RESTING
        # Both watch for a moment, so that nothing is missed.
        if self._running is None or self._is_broken:
            rest = Told({})
        else:
            rest = self.take(0.001, Stopping(lambda: False))
        self.close()
        self._running, self._is_broken = running, False
        return rest

    def take(self, seconds: float, stop: Stopping) -> Told:
        """What was reported; waits for at most so long for something, and not after `stop`."""
        if self._running is None or self._is_broken:
            time.sleep(min(seconds, _STEP_MS / 1000))
            return Told({})
        step = min(_STEP_MS, max(1, int(seconds * 1000)))
        try:
            said = self._running.watch(_GROUP_MS, step, max(1, int(seconds * 1000)), stop)
        except RuntimeError as error:
            self._is_broken = True  # it says the same for ever from now on
            return Told({}, fault=str(error)[:500])
        if isinstance(said, str):
            return Told({})
        paths: dict[str, set[int]] = {}
        for change, path in said:
            paths.setdefault(path, set()).add(change)
        return Told(paths)

    @property
    def is_broken(self) -> bool:
        """Whether it has to be started again."""
        return self._is_broken

    def close(self) -> None:
        """Watch nothing any more."""
        if self._running is not None:
            with contextlib.suppress(RuntimeError):
                self._running.close()
            self._running = None


class Stopping:
    """Asked again and again, at the pace of the library, whether to stop: a moment for what must be done often."""

    def __init__(self, is_set: Callable[[], bool], tick: Callable[[], None] = lambda: None) -> None:
        self._is_set = is_set
        self._tick = tick

    def is_set(self) -> bool:
        """Whether to stop."""
        self._tick()
        return self._is_set()


def is_watchable(path: str) -> bool:
    """Whether the library takes a path: it wants UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _watching(folders: list[str]) -> RustNotify:
    """A running watch on those of the folders that are there and may be read."""
    from watchfiles._rust_notify import RustNotify

    for attempt in range(_ATTEMPTS):
        wanted = [folder for folder in folders if is_watchable(folder) and os.access(folder, os.R_OK | os.X_OK)]
        try:
            return RustNotify(wanted, False, False, 300, sys.platform != "linux", attempt == _ATTEMPTS - 1)
        except (FileNotFoundError, PermissionError):
            continue  # one of them went away meanwhile
        except (OSError, RuntimeError) as error:
            raise SourceError(
                f"the system gives no watch on {len(wanted):,} folders: {error}"[:500],
                hint="on Linux, the sysctl fs.inotify.max_user_watches says how many there are",
            ) from error
    raise SourceError("the folders to be watched come and go too quickly")

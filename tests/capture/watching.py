"""A watch in a thread, for tests: what it saw, and waiting for it with a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from tallystick.capture.watch import Batch, Watch
from tallystick.capture.watch_storm import WatchGap
from tallystick.model.effect import FileEffect

_DEADLINE_S = 30.0


def wait_for(is_so: Callable[[], object], what: str = "it") -> None:
    """Wait until something is so.

    Raises:
        TimeoutError: it is not so after half a minute.
    """
    until = time.monotonic() + _DEADLINE_S
    while not is_so():
        if time.monotonic() > until:
            raise TimeoutError(f"{what} did not happen")
        time.sleep(0.01)


class Watching:
    """A context in which folders are watched."""

    def __init__(self, watch: Watch, folder: Path) -> None:
        self.watch = watch
        self.batches: list[Batch] = []
        self._folder = folder
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Watching:
        self.watch.begin()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def _run(self) -> None:
        for batch in self.watch.batches(self._stop):
            self.batches.append(batch)

    def end(self) -> None:
        """Stop, and take what the last look found."""
        self._stop.set()
        self._thread.join()

    @property
    def effects(self) -> list[FileEffect]:
        """What was seen so far."""
        return [effect for batch in list(self.batches) for effect in batch.effects]

    @property
    def gaps(self) -> list[WatchGap]:
        """What was not told one by one."""
        return [gap for batch in list(self.batches) for gap in batch.gaps]

    def told(self) -> list[tuple[str, str]]:
        """Kind and path below the folder of each effect."""
        return [(effect.kind.value, effect.path.removeprefix(f"{self._folder}/")) for effect in self.effects]

    def wait(self, kind: str, path: str) -> FileEffect:
        """Wait for an effect."""
        wait_for(lambda: (kind, path) in self.told(), f"{kind} {path}")
        return next(item for item in self.effects if (item.kind.value, item.path) == (kind, f"{self._folder}/{path}"))

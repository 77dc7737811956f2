"""Reading a journal as it grows.

Owns noticing new lines and a replaced file (an erasure rewrites it; the entries stay the same). Polls: it works on every
file system and costs one stat a turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tallystick.journal.home import Home
from tallystick.journal.read import read_file
from tallystick.model.recorded import Recorded

POLL_SECONDS = 0.1


def follow_file(
    home: Home,
    path: Path,
    *,
    start_n: int = 0,
    stop: Callable[[], bool] | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> Iterator[Recorded | None]:
    """The steps from number `start_n` on, then those that come; None whenever all that is there has been given.

    Ends after a `session_end` that is the last entry, or when `stop()` says so.
    """
    offset, inode, next_n, ended = 0, path.stat().st_ino, start_n, False
    while True:
        if path.stat().st_ino != inode:
            offset, inode = 0, path.stat().st_ino
        for placed in read_file(home, path, start=offset):
            offset = placed.end
            if placed.step.n >= next_n:
                next_n = placed.step.n + 1
                ended = placed.step.type == "session_end"
                yield placed.step
        if ended or (stop is not None and stop()):
            return
        yield None
        wait(POLL_SECONDS)

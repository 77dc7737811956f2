"""One way of a relay: a source, the lines that were read from it, and what waits for its target.

Owns reading and writing without ever waiting for a slow reader. Must not know what decides about a line.
"""

from __future__ import annotations

import contextlib
import os
import select
from collections import deque

from tallystick.capture._relay_lines import Lines, Piece
from tallystick.capture._relay_observer import Way

_READ_BYTES = 1 << 18
# select promises room for so many bytes. Our own stdin and stdout stay as they are: others may share them, and to make
# them non-blocking would do it to all.
_AT_ONCE = select.PIPE_BUF


class Stream:
    """Bytes on their way. `source` and `target` are None once they are closed or have ended."""

    def __init__(self, way: Way, source: int, target: int, *, hold_bytes: int) -> None:
        self.way = way
        self.source: int | None = source
        self.target: int | None = target
        self.lines = Lines(hold_bytes)
        self.pending: deque[Piece] = deque()
        """Lines that were read and about which no one has been asked."""
        self.waiting = 0
        """Bytes that wait for the target."""
        self._queue: deque[memoryview] = deque()
        self._inside = False
        self._between: list[bytes] = []

    def read(self) -> bytes | None:
        """Bytes from the source; empty at its end; None if none exist now."""
        assert self.source is not None
        try:
            return os.read(self.source, _READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def put(self, data: bytes) -> None:
        """Send bytes on, as soon as the target takes them."""
        if not data:
            return
        self._append(data)
        self._inside = not data.endswith(b"\n")
        if self._between and not self._inside:
            between, self._between = self._between, []
            for line in between:
                self._append(line)

    def put_between(self, line: bytes) -> None:
        """Send a line that is not of this stream, where a line ends."""
        if self._inside:
            self._between.append(line)
        else:
            self._append(line)

    def _append(self, data: bytes) -> None:
        if self.target is not None:
            self._queue.append(memoryview(data))
            self.waiting += len(data)

    def write(self) -> None:
        """Write what the target takes now. If no one reads any more, the source is closed too: its writer shall feel it."""
        assert self.target is not None
        head = self._queue[0]
        try:
            wrote = os.write(self.target, head[:_AT_ONCE] if self.way is Way.FROM_CHILD else head)
        except BlockingIOError:
            return
        except OSError:
            self.break_off()
            return
        self.waiting -= wrote
        if wrote == len(head):
            self._queue.popleft()
        else:
            self._queue[0] = head[wrote:]

    def break_off(self) -> None:
        """Forget what waits and close both ends."""
        self._queue.clear()
        self.pending.clear()
        self.waiting = 0
        self.close_source()
        self.close_target()

    def close_source(self) -> None:
        """Read no more, so that who writes there learns it."""
        if self.source is not None:
            _shut(self.source, ours=self.way is Way.FROM_CHILD)
            self.source = None

    def close_target(self) -> None:
        """End what the target reads."""
        if self.target is not None:
            _shut(self.target, ours=self.way is Way.TO_CHILD)
            self.target = None


def _shut(descriptor: int, *, ours: bool) -> None:
    """Close a pipe of ours; let a descriptor that was lent lead nowhere: its number must not be given to another file."""
    with contextlib.suppress(OSError):
        if ours:
            os.close(descriptor)
            return
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)

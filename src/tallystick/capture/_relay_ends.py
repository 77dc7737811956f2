"""What a relay moves bytes between: the child with its pipes, and each way from a source to a target.

Owns reading and writing without ever waiting for a slow reader, the child's start and end, and what our own signals do
meanwhile. Must not know what decides about a line, nor what is said over the pipes.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TypeAlias

from tallystick.capture._relay_lines import Lines, Piece
from tallystick.capture._relay_observer import Way
from tallystick.errors import SourceError

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


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None


class Child:
    """A running command. `stdin` and `stdout` are our ends of its pipes; they do not block."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it.

        Raises:
            SourceError: it cannot be started.
        """
        its_stdin, self.stdin = os.pipe()
        self.stdout, its_stdout = os.pipe()
        try:
            self._process = subprocess.Popen(command, stdin=its_stdin, stdout=its_stdout)
        except (OSError, ValueError) as error:
            os.close(self.stdin)
            os.close(self.stdout)
            if isinstance(error, OSError) and error.strerror:
                reason = error.strerror
            else:
                reason = str(error)
            raise SourceError(f"{command[0]}: cannot be started: {reason}") from error
        finally:
            os.close(its_stdin)
            os.close(its_stdout)
        for end in (self.stdin, self.stdout):
            os.set_blocking(end, False)
        self.has_exited = False

    @property
    def returncode(self) -> int:
        """Its exit code, -N if signal N ended it. Waits for it."""
        return self._process.wait()

    def on_exit(self, call: Callable[[], None]) -> None:
        """Call `call`, from another thread, once the child has exited."""

        def wait() -> None:
            self._process.wait()
            self.has_exited = True
            call()

        threading.Thread(target=wait, name="relay-child", daemon=True).start()

    def send(self, number: int) -> None:
        """Send it a signal, if it is still there."""
        self._process.send_signal(number)


class Signals:
    """Signals to us, for the child. A Ctrl-C at a terminal reaches the child by itself, and twice is more than once."""

    def __init__(self, *, is_terminal: bool) -> None:
        self.sent: list[int] = []
        self._child: Child | None = None
        self._early: list[int] = []
        self._before: dict[int, _Handler] = {}
        self._is_terminal = is_terminal

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup, hang-ups stay ignored
                    self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def send_to(self, child: Child) -> None:
        """From now on pass signals on to `child`, and those that came before it was there."""
        self._child = child
        early, self._early = self._early, []
        for number in early:
            self._take(number, None)

    def _take(self, number: int, _: FrameType | None) -> None:
        if self._child is None:
            self._early.append(number)
        elif not (number == signal.SIGINT and self._is_terminal):
            self.sent.append(number)
            self._child.send(number)

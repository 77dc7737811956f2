"""The child of a relay: its start, its end, and the signals on the way to it.

Owns the pipes to the child and what our own signals do. Must not know what is said over the pipes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TypeAlias

from tallystick.errors import SourceError

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

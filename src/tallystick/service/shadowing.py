"""The recorder's side of comparing sessions that have ended with their transcripts, while no one waits.

Owns which are compared, when, and for how long that may take. The recorder itself reads neither journal nor transcript
for it: that is done by a process that ends with its work (shadower.py).
"""

from __future__ import annotations

import logging
import subprocess
import time
from collections.abc import Callable
from typing import Any

import msgspec

from tallystick.journal.home import Home
from tallystick.service.helper_process import start_helper

_SETTLING_SECONDS = 5.0
"""So long an end takes to be sealed, and to be known to the indexer."""
_MOST_SECONDS = 300.0
_MOST_SESSIONS = 256
_LOG = logging.getLogger(__name__)

Ended = Callable[[], tuple[str, str] | None]
"""Gives a session that has ended (agent, its own id) and that was not given before; None if none has."""


def start_shadower(home: Home) -> subprocess.Popen[bytes]:
    """A process that compares the sessions that its stdin names. Raises OSError."""
    return start_helper(home, "shadower", subprocess.PIPE)


class Shadowing:
    """The sessions of one recorder."""

    def __init__(
        self,
        home: Home,
        ended: Ended,
        is_indexed: Callable[[], bool],
        *,
        start: Callable[[Home], subprocess.Popen[bytes]] = start_shadower,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Compare what `ended` gives. is_indexed: whether the index has what was recorded so far; it is not waited for."""
        self._home = home
        self._ended = ended
        self._is_indexed = is_indexed
        self._start = start
        self._monotonic = monotonic
        self._waiting: list[tuple[str, str]] = []
        self._not_before = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self.problem: str | None = None
        """Why sessions could not be compared the last time; None: they could."""

    @property
    def is_due(self) -> bool:
        """Whether sessions have ended, and none are being compared."""
        while len(self._waiting) < _MOST_SESSIONS and (found := self._ended()) is not None:
            self._waiting.append(found)
            self._not_before = self._monotonic() + _SETTLING_SECONDS
        if self.is_at_work or not self._waiting:
            return False
        return self._monotonic() >= self._not_before and self._is_indexed()

    @property
    def is_at_work(self) -> bool:
        """Whether a process is at it. One that takes too long is killed."""
        if self._process is None:
            return False
        code = self._process.poll()
        if code is None and self._monotonic() - self._started < _MOST_SECONDS:
            return True
        self.problem = None
        if code is None:
            self._failed(f"sessions could not be compared with their transcripts in {_MOST_SECONDS:g} s")
        elif code:
            self._failed(f"the shadower ended with {code}: run/shadower.log may say why")
        self.close()
        return False

    def _failed(self, why: str) -> None:
        _LOG.warning("%s", why)
        self.problem = why

    def work(self) -> None:
        """Have all that wait compared. Waits only until the process has been told, in a thread of its own."""
        told, self._waiting = self._waiting, []
        try:
            process = self._start(self._home)
            self._process, self._started = process, self._monotonic()
            if process.stdin is not None:
                with process.stdin:
                    process.stdin.write(msgspec.json.encode(told))
        except OSError as error:
            self._failed(f"sessions could not be compared with their transcripts: {error}")

    def told(self) -> dict[str, Any]:
        """What is reported of it."""
        process = self._process
        pid = None
        if process is not None and process.poll() is None:
            pid = process.pid
        return {"pid": pid, "waiting": len(self._waiting), "problem": self.problem}

    def close(self) -> None:
        """Have no process at it any more."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

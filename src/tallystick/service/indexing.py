"""The index follows what is recorded, when no one waits for an answer.

Owns which sessions are due. Must not know how a session is projected; it takes the interpreter from everybody else in
the process, so only a few steps are projected at a time, and a busy recorder leaves it to anyone who reads the index
next.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable

from tallystick.journal.home import Home

_MOST_AT_ONCE = 4


class Indexing:
    """The sessions of one store that were sealed and are not in its index yet, or are there by rules of before."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._due: dict[str, None] = {}
        self._is_loaded = False

    def note(self, sessions: Iterable[str]) -> None:
        """Some sessions were sealed. Called in the thread that seals."""
        self._due.update(dict.fromkeys(sessions))

    @property
    def is_due(self) -> bool:
        """Whether there is something to do."""
        return bool(self._due)

    def work(self) -> None:
        """Project a few of them. Never raises."""
        from tallystick.workspace.index_live import index_sessions, outdated

        if not self._is_loaded:
            self.note(outdated(self._home))
            gc.freeze()  # it is much, and stays: looking through it again and again halved what a busy recorder takes in
            self._is_loaded = True
        due, self._due = self._due, {}
        now = list(due)[:_MOST_AT_ONCE]
        self.note(list(due)[_MOST_AT_ONCE:])
        index_sessions(self._home, now)

"""The index as it is asked before a call: who changed a file, what it carries, and what users let run.

Owns having it open, in each thread, and that one which is locked, damaged or not there is one that knows nothing: a caller
waits for an answer. Must not know what live sessions did (`recorded_context`).
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from tallystick.ask.known_taint import Memory
from tallystick.errors import TallystickError
from tallystick.graph.authorship import (
    LastChange,
    VersionMaker,
    asked_about_files,
    earlier_change,
    has_run,
    last_change,
    makers,
)
from tallystick.graph.graph import Graph, GraphError
from tallystick.graph.lookup import has_step
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.policy.taint.untrusted_input import Found
from tallystick.state.approvals import asked_about

EVER_US = (1 << 63) - 1
"""Later than anything."""
_MOST_ASKED = 2_000
_AGAIN_S = 2.0
_PATIENCE_S = 0.02
"""A caller waits for an answer: an index that someone has locked is one that is not there."""
_LATE_US = 600_000_000
"""So much later than the question the result of a call is looked for again."""

_T = TypeVar("_T")


class _Open(threading.local):
    """The index as one thread has it open."""

    graph: Graph | None = None
    memory: Memory | None = None
    tried: float = float("-inf")
    is_fixed: bool = False
    """It was looked whether it is still the same, and need not be again for now."""


class RecordIndex:
    """The index of one store, to be asked. Safe for several threads, but for approvals."""

    def __init__(self, home: Home, is_secret: Callable[[str], bool]) -> None:
        """`is_secret` says whether a path holds secrets, by its name."""
        self._home = home
        self._is_secret = is_secret
        self._open = _Open()
        self._approved: dict[str, int] = {}
        """Digests of content that the user let run, and when they were first asked."""
        self._approved_to = 0

    def graph(self) -> Graph | None:
        """The index, if there is one that can be read."""
        mine = self._open
        if not mine.is_fixed:
            self._look()
        if mine.graph is not None:
            return mine.graph
        now = time.monotonic()
        if now - mine.tried < _AGAIN_S or not self._home.graph.exists():
            return None
        mine.tried = now
        try:
            mine.graph = Graph(self._home.graph, patience_s=_PATIENCE_S)
        except GraphError:
            return None
        mine.memory = Memory(self._home, mine.graph, is_secret=self._is_secret)
        return mine.graph

    @contextlib.contextmanager
    def fixed(self) -> Iterator[None]:
        """Have this thread look now whether it is still the same file, and not at each question of what follows."""
        self._look()
        self._open.is_fixed = True
        try:
            yield
        finally:
            self._open.is_fixed = False

    def _look(self) -> None:
        if self._open.graph is not None and self._open.graph.is_moved:
            self._let_go()

    def last_change(self, path: str, before_us: int = EVER_US) -> LastChange | None:
        """The newest change of a file; of those before a time only what calls did is known."""

        def ask(graph: Graph) -> LastChange | None:
            found = last_change(graph, path)
            if found is not None and found.at_us >= before_us - before_us % 1000:  # that row has milliseconds
                return earlier_change(graph, path, before_us)
            return found

        return self._answer(ask, None)

    def makers(self, path: str, before_us: int = EVER_US) -> list[VersionMaker]:
        """Who made the newest versions of a file, newest first; those before a time."""
        return self._answer(lambda graph: makers(graph, path, before_us), [])

    def is_written_again(self, path: str, before_us: int) -> bool:
        """Whether the session that wrote a file last is not the one that it has as the maker: both wrote the same bytes."""
        last = self.last_change(path, before_us)
        if last is None or last.session is None:
            return False
        return any(one.session != last.session for one in self.makers(path, before_us)[:1])

    def has_step(self, sid: str, n: int) -> bool:
        """Whether a step is in it."""
        return self._answer(lambda graph: has_step(graph, sid, n), False)

    def taint(self, path: str, *, is_deep: bool) -> Found:
        """What is known of a path, or of all below it."""
        if self.graph() is not None and self._open.memory is not None:
            return self._open.memory(path, is_deep)
        return Found()

    def is_approved(self, digest: str, before_us: int = EVER_US) -> bool:
        """Whether the user let content with this digest run, when asked; before a time."""
        if digest not in self._approved:
            self._answer(self._read_approvals, None)
        return self._approved.get(digest, EVER_US) < before_us

    def _read_approvals(self, graph: Graph) -> None:
        for asked in asked_about_files(graph, self._approved_to - _LATE_US, limit=_MOST_ASKED):
            self._approved_to = max(self._approved_to, asked.at_us)
            path = self._home.journal(asked.session)
            if path is not None and has_run(graph, asked):
                step = read_at(self._home, path, asked.offset)
                if step is not None and step.n == asked.n:
                    for digest in asked_about(step)[0]:
                        self._approved[digest] = min(asked.at_us, self._approved.get(digest, EVER_US))

    def _answer(self, question: Callable[[Graph], _T], nothing: _T) -> _T:
        graph = self.graph()
        if graph is None:
            return nothing
        try:
            return question(graph)
        except TallystickError:
            self._let_go()
            return nothing

    def _let_go(self) -> None:
        """Open the index again when it is asked next: it may have been made again, or someone may have locked it."""
        if self._open.graph is not None:
            self._open.graph.close()
            if not self._open.graph.is_moved:
                self._open.tried = time.monotonic()
        self._open.graph = self._open.memory = None

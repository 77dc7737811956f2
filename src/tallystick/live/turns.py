"""Deliveries of one session are worked on one after another, and wait for no other session's.

Owns whose turn it is. Must not know what a turn does: some are over at once, some when an answer has come from elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

Session: TypeAlias = tuple[str, str]
"""The agent, and its own id of a session."""

Turn: TypeAlias = Callable[[Callable[[], None]], None]
"""Begins, and calls what it is given once it is over. Must not raise."""


class Turns:
    """The turns that sessions are waiting for. Not safe for several threads."""

    def __init__(self) -> None:
        self._waiting: dict[Session, deque[Turn]] = {}

    def take(self, session: Session, turn: Turn) -> None:
        """Begin a turn once those of its session that came before are over: at once, if none is left."""
        waiting = self._waiting.get(session)
        if waiting is not None:
            waiting.append(turn)
            return
        self._waiting[session] = deque((turn,))
        self._go_on(session)

    @property
    def is_any(self) -> bool:
        """Whether a turn is not over yet."""
        return bool(self._waiting)

    def _go_on(self, session: Session) -> None:
        """Begin one turn after another, until one is over only later: that one goes on from here."""
        waiting = self._waiting[session]
        while waiting:
            if not _Begun(self, session, waiting[0]).is_over:
                return
            waiting.popleft()
        del self._waiting[session]

    def later(self, session: Session) -> None:
        """The turn that a session waited for is over."""
        self._waiting[session].popleft()
        self._go_on(session)


class _Begun:
    """One turn that was begun."""

    def __init__(self, turns: Turns, session: Session, turn: Turn) -> None:
        self._turns = turns
        self._session = session
        self._is_beginning = True
        self.is_over = False
        turn(self._over)
        self._is_beginning = False

    def _over(self) -> None:
        self.is_over = True
        if not self._is_beginning:
            self._turns.later(self._session)

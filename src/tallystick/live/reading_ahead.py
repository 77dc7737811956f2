"""Long journals are read beside the deliveries, before their sessions are added to.

Owns which sessions are being read, and what waits for that: no one else's answer does. Must not know how a journal is read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from tallystick.agents.hooks import Payload
from tallystick.errors import TallystickError
from tallystick.model.step import Loss
from tallystick.recording.writer import Writer

_LOG = logging.getLogger(__name__)

Aside: TypeAlias = Callable[[Callable[[], None], Callable[[], None]], None]
"""Does its first argument, in another thread perhaps, and calls the second one afterwards, in this thread."""


def at_once(work: Callable[[], None], then: Callable[[], None]) -> None:
    """Do it here and now."""
    work()
    then()


def sessions_of(payload: Payload) -> tuple[str, ...]:
    """The sessions that a payload tells of."""
    told = (event.session for event in payload.events if not isinstance(event, Loss))
    return tuple(dict.fromkeys(session for session in (payload.session, *told) if session))


class ReadingAhead:
    """Reads the journals of sessions that are about to be added to. Not safe for several threads."""

    def __init__(self, writer: Writer, aside: Aside) -> None:
        self._writer = writer
        self._aside = aside
        self._waiting: dict[tuple[str, str], list[Callable[[], None]]] = {}

    @property
    def is_any(self) -> bool:
        """Whether a journal is being read."""
        return bool(self._waiting)

    def begin(self, agent: str, sessions: Sequence[str]) -> Callable[[Callable[[], None]], None]:
        """Have the journals of an agent's sessions read, where that takes a while; what then calls another once they are."""
        for session in sessions:
            key = (agent, self._writer.current(agent, session))
            if key not in self._waiting and self._writer.is_long(*key):
                self._waiting[key] = []
                self._aside(partial(self._read, key), partial(self._is_read, key))
        return partial(self._after, agent, sessions)

    def _after(self, agent: str, sessions: Sequence[str], then: Callable[[], None]) -> None:
        """Call `then` once no journal of these sessions is being read: at once, or later in this thread."""
        if not self._waiting:
            then()
            return
        for session in sessions:
            waiting = self._waiting.get((agent, self._writer.current(agent, session)))
            if waiting is not None:
                waiting.append(partial(self._after, agent, sessions, then))
                return
        then()

    def _read(self, key: tuple[str, str]) -> None:
        try:
            self._writer.read_ahead(*key)
        except TallystickError:
            pass  # anyone who adds to the session meets it again, and says so
        except Exception:
            _LOG.exception("the journal of a session of %s could not be read ahead", key[0])

    def _is_read(self, key: tuple[str, str]) -> None:
        for then in self._waiting.pop(key):
            then()

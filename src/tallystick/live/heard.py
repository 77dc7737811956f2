"""Which sessions hooks speak of, and when they did last: from one recorder to the next.

Owns the list, of which the oldest go first, and its file `run/heard.json`. Must not know what is concluded from silence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tallystick.agents.hooks import Payload
from tallystick.errors import JournalError
from tallystick.journal.durable import replace_file
from tallystick.journal.opening import read_whole

_MOST = 512


class Spoke(msgspec.Struct, frozen=True, kw_only=True):
    """A session, not that of a sub-agent: the agent, its own id, the file it is written to (empty: not known), and when."""

    agent: str
    session: str
    transcript: str = ""
    at: float


class HeardState(msgspec.Struct, frozen=True):
    """What one recorder leaves the next: when files were looked at last (0: never), and who spoke."""

    looked: float = 0.0
    spoke: tuple[Spoke, ...] = ()


class Heard:
    """Fed with what hooks deliver. Another thread may ask."""

    def __init__(self, file: Path, *, now: Callable[[], float] = time.time) -> None:
        """Go on with what is in a file; nothing, if it is missing or damaged."""
        self._file = file
        self._now = now
        self._last: dict[tuple[str, str], Spoke] = {}
        self.looked = 0.0
        try:
            kept = msgspec.json.decode(read_whole(file), type=HeardState)
        except (OSError, JournalError, msgspec.DecodeError):
            return
        self.looked = kept.looked
        self._last = {(one.agent, one.session): one for one in kept.spoke}

    def note(self, agent: str, payload: Payload) -> None:
        """A hook spoke."""
        session = payload.session.partition("/")[0].partition("~")[0]
        before = self._last.pop((agent, session), None)
        transcript = payload.transcript or (before.transcript if before is not None else "")
        self._last[agent, session] = Spoke(agent=agent, session=session, transcript=transcript, at=self._now())
        while len(self._last) > _MOST:
            self._last.pop(next(iter(self._last)))

    def resume(self, agent: str, session: str, transcript: str) -> None:
        """Go on with a session of another recorder, which may not have had the time to leave it here."""
        self.note(agent, Payload(event="", session=session, transcript=transcript or None))

    def spoke(self) -> tuple[Spoke, ...]:
        """All that is known."""
        return tuple(self._last.copy().values())

    def keep(self, looked: float) -> None:
        """Leave it to the next recorder. Raises JournalError: it cannot be written."""
        self.looked = looked
        replace_file(self._file, [msgspec.json.encode(HeardState(looked, self.spoke()))])

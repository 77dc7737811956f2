"""The session in which the recorder speaks of itself: what it could not record or understand, what was changed around it.

Owns the names of that session, and that a gap is reported before whatever comes after it. Must not know why something
is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallystick.model.step import Json, Source, Step

if TYPE_CHECKING:
    from tallystick.recording.session_writer import SessionWriter

RECORDER = "tallystick"
"""The agent that it is a session of."""
SESSION = "recorder"
"""Its own id."""


class Gaps:
    """What is missing from the record: told at once, or counted until the store can be written again."""

    def __init__(self, session_writer: SessionWriter) -> None:
        self._session_writer = session_writer
        self._since: str | None = None
        self._until: str | None = None
        self.untold = 0
        """How many deliveries could not be recorded, and no gap tells of them yet."""

    def count(self, received: str) -> None:
        """One more delivery could not be recorded; it came then, RFC 3339."""
        self.untold += 1
        self._since = self._since or received
        self._until = received

    def tell(self) -> None:
        """Record what was counted. Raises JournalError: the store cannot be written; it stays counted."""
        if not self.untold:
            return
        self.note({"reason": "not-writable", "events": self.untold, "since": self._since, "until": self._until})
        self.untold, self._since, self._until = 0, None, None

    def note(self, meta: dict[str, Json], values: dict[str, Json] | None = None) -> None:
        """Record that something is missing. Raises JournalError."""
        step = Step(session=SESSION, type="gap", source=Source.WATCH, meta=meta, values=values or {})
        self._session_writer.add(RECORDER, step)

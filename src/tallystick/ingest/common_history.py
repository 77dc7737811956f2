"""Histories that sessions of one agent have in common: which events of a file another session has already (format.md 13.3).

Owns when that is certain. An event is asked for by its id; a prompt, to which a hook may have given another, is not decided
by itself, but by the event that follows it. Must not know how events are read or recorded.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from tallystick.model.ids import SessionId
from tallystick.model.step import Step
from tallystick.recording.record import SessionRecord

Elsewhere: TypeAlias = Callable[[str, str], tuple[str, str] | None]
"""Gives (session, hash) of the entry that has an agent's event, as far as is known; raises where it cannot be asked."""
RecordOf: TypeAlias = Callable[[SessionId, str], SessionRecord]
_MOST_HELD = 16

_T = TypeVar("_T")


class Whose(enum.Enum):
    """Whose an event is."""

    OWN = "own"
    ANOTHERS = "anothers"
    UNDECIDED = "undecided"
    """The next event says."""


class CommonHistory(Generic[_T]):
    """The common histories of one file. `_T` is what its reader keeps with an event."""

    def __init__(self, elsewhere: Elsewhere, record_of: RecordOf) -> None:
        self.forks: dict[str, str] = {}
        """By session: `<sid>#<hash>` of the last entry that it shares with another."""
        self._elsewhere = elsewhere
        self._record_of = record_of
        self._ancestors: list[SessionId] = []
        self._own: set[str] = set()
        self._held: dict[str, list[tuple[Step, _T]]] = {}

    def may_share(self, step: Step, record: SessionRecord | None) -> bool:
        """A history is shared from its beginning: once an event is the session's own, no one else is asked."""
        if step.source_id is None or step.session in self._own:
            return False
        return record is None or record.known.find(step.source_id) is None

    def judge(self, step: Step, record: SessionRecord | None, agent: str) -> Whose:
        """Whose an event is that may be shared. Raises what `elsewhere` raises; then nothing was decided."""
        found = self._find(agent, step.source_id or "")
        if found is not None and (record is None or found[0] != record.sid):
            self.forks[step.session] = f"{found[0]}#{found[1]}"
            return Whose.ANOTHERS
        is_open = found is None and step.type == "user" and step.session not in self.forks
        if is_open and len(self._held.get(step.session, ())) < _MOST_HELD:
            return Whose.UNDECIDED
        self.claim(step.session)
        return Whose.OWN

    def claim(self, session: str) -> None:
        """Take what comes of a session as its own from now on."""
        self._own.add(session)

    def restart(self) -> None:
        """The file is read again from its beginning: whose its events are is asked again, and what waited is met again."""
        self._own.clear()
        self._held.clear()

    def hold(self, step: Step, beside: _T) -> None:
        """Keep an event that is undecided."""
        self._held.setdefault(step.session, []).append((step, beside))

    def released(self, session: str, agent: str) -> list[tuple[Step, _T]]:
        """The events that were kept and that are the session's own, now that the next one was judged."""
        held = self._held.pop(session, [])
        if session not in self.forks:
            return held
        return [(step, beside) for step, beside in held if self._of_ancestor(agent, step.source_id or "") is None]

    def left(self) -> list[str]:
        """The sessions of which events are still kept: nothing came after them."""
        return list(self._held)

    def _find(self, agent: str, source_id: str) -> tuple[str, str] | None:
        found = self._of_ancestor(agent, source_id) or self._elsewhere(agent, source_id)
        if found is not None and SessionId(found[0]) not in self._ancestors:
            self._ancestors.append(SessionId(found[0]))
        return found

    def _of_ancestor(self, agent: str, source_id: str) -> tuple[str, str] | None:
        """An entry of a session that is known to be an ancestor, whichever source gave the event this id."""
        for sid in self._ancestors:
            record = self._record_of(sid, agent)
            n = record.known.find(source_id)
            if n is not None:
                return sid, record.known.hash_at(n)
        return None

"""The sessions of one store that are being recorded: found, begun, kept open for a while, let go of.

Owns what a session begins with, and how many are open. Must not know how an event becomes an entry: record.py does.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import tzinfo

from tallystick.errors import FormatError
from tallystick.journal.archive import Archive
from tallystick.journal.known_values import KnownFile
from tallystick.journal.read_values import ReadValues
from tallystick.model.ids import SessionId
from tallystick.model.step import Json, Opening, Ref, SessionKind
from tallystick.recording.coerce import fit_values
from tallystick.recording.freshness import newest
from tallystick.recording.record import Rules, SessionRecord, tell_time
from tallystick.scrubbing.step import scrub_opening
from tallystick.seal.names import fit_meta
from tallystick.workspace.settings import read_setting

_LONG_BYTES = 1 << 20
"""A journal of fewer bytes is read in about 50 ms."""


def opening_members(opening: Opening, kind: SessionKind, claimed: Ref | None, zone: tzinfo) -> dict[str, Json]:
    """The members of a `session_start`. `claimed` is a parent that is not recorded (section 7)."""
    members: dict[str, Json] = {
        **opening.meta,
        "agent": opening.agent,
        "kind": kind.value,
        "source_session": opening.session,
    }
    if claimed is not None:
        claim = {"session": claimed.session, "step": claimed.source_id}
        members["parent_source"] = {key: value for key, value in claim.items() if value is not None}
    tell_time(members, opening.ts, zone)
    return members


class Writer:
    """Records events of any number of sessions of one store. Finding a session is safe from several threads."""

    def __init__(self, archive: Archive, zone: tzinfo, *, keep_open: int = 8) -> None:
        self.archive = archive
        self.zone = zone
        self._scrub = read_setting(archive.home, "secrets.scrub") == "on"
        self._known = KnownFile(archive.home)
        self._rules = Rules(zone, self._scrub, self._known, ReadValues(archive.home))
        self._records: dict[SessionId, SessionRecord] = {}
        self._keep_open = keep_open
        self._lock = threading.RLock()

    def record_of(self, sid: SessionId, agent: str) -> SessionRecord:
        """The session with a journal, ready to be added to."""
        with self._lock:
            record = self._records.get(sid)
            if record is None:
                while len(self._records) >= self._keep_open:
                    self.release(next(iter(self._records)))
                record = SessionRecord(self.archive, self.archive.journal(sid), agent, self._rules)
            else:
                del self._records[sid]
            self._records[sid] = record  # the last one used is the last one closed
            return record

    def is_long(self, agent: str, session: str) -> bool:
        """Whether finding a session would take a while: its journal is long, and has not been read here."""
        sid = self.archive.find(agent, session)
        if sid is None or sid in self._records:
            return False
        path = self.archive.home.journal(sid)
        try:
            return path is not None and path.stat().st_size > _LONG_BYTES
        except OSError:
            return False

    def read_ahead(self, agent: str, session: str) -> None:
        """Read the journal of a session, so that it is found at once. In any thread; no one waits for it meanwhile.

        Raises:
            JournalError: it cannot be read, or is damaged.
        """
        sid = self.archive.find(agent, session)
        if sid is None:
            return
        record = SessionRecord(self.archive, self.archive.journal_alone(sid), agent, self._rules)
        with self._lock:
            if self.archive.keep(record.journal):
                self._records[sid] = record

    def release(self, sid: SessionId) -> None:
        """Forget a session: what it knows can be read again."""
        record = self._records.pop(sid, None)
        if record is not None:
            record.flush_sightings()
            self.archive.release(sid)

    def flush_sightings(self) -> None:
        """Record what second witnesses confirmed in the sessions that are open here."""
        for record in self.records():
            record.flush_sightings()

    def find(self, agent: str, session: str) -> SessionRecord | None:
        """The record of an agent's session, if it has a journal."""
        sid = self.archive.find(agent, session)
        if sid is None:
            return None
        return self.record_of(sid, agent)

    def open(self, opening: Opening, *, fork_of: str | None = None) -> tuple[SessionRecord, bool]:
        """The record of a session, made if it is not there; True if it was made.

        Args:
            fork_of: `<sid>#<hash>` of the last entry shared with another journal; the session is then a fork.
        """
        sid = self.archive.find(opening.agent, opening.session)
        if sid is not None:
            return self.record_of(sid, opening.agent), False
        if self._scrub:
            opening = scrub_opening(opening, self._known.current())
            self._known.keep()
        parents: tuple[str, ...] = ()
        kind, claimed = opening.kind, opening.parent
        if fork_of is not None:
            kind, parents, claimed = SessionKind.FORK, (fork_of,), None
        elif opening.parent is not None:
            sealed = self.foreign(opening.agent, opening.parent)
            if sealed is not None:
                parents, claimed = (sealed,), None
        meta, rest = fit_meta(opening_members(opening, kind, claimed, self.zone))
        if "agent" not in meta:
            raise FormatError(f"the agent name {opening.agent[:80]!r} is not a valid agent name", rule="class")
        meta["type"], meta["source"] = "session_start", opening.source.value
        values = {**opening.values, **newest(self.archive.home)}
        journal, made = self.archive.make_journal(meta, fit_values(values, rest), parents)
        return self.record_of(SessionId(journal.sid), opening.agent), made

    def foreign(self, agent: str, ref: Ref) -> str | None:
        """`<sid>#<hash>` for a reference to a step of another session of `agent`; None if it is not recorded."""
        if ref.session is None:
            return None
        agent = ref.agent or agent
        for session in self._with_continuations(agent, ref.session):
            record = self.find(agent, session)
            if record is None or not record.journal.size:
                return None
            n = record.number_of(ref)
            if n is not None:
                return f"{record.sid}#{record.known.hash_at(n)}"
            if ref.source_id is None:
                return f"{record.sid}#{record.last}"
        return None

    def current(self, agent: str, session: str) -> str:
        """The session that goes on under an id: its last continuation, else itself (docs/format.md 7)."""
        *_, last = self._with_continuations(agent, session)
        return last

    def _with_continuations(self, agent: str, session: str) -> Iterator[str]:
        """A session's id, then those of its continuations: a source may name them all by the first (13.1)."""
        yield session
        number = 1
        while self.archive.find(agent, f"{session}~{number}") is not None:
            yield f"{session}~{number}"
            number += 1

    def records(self) -> list[SessionRecord]:
        """The sessions that are open here."""
        return list(self._records.values())

    def seal(self) -> None:
        """Seal every session that is open here."""
        self.archive.seal(list(self._records))

    def close(self) -> None:
        """Forget all sessions."""
        for sid in list(self._records):
            self.release(sid)

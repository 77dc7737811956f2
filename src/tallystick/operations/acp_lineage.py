"""Where the sessions of an editor's conversation come from: what goes into our provenance.

Owns looking it up: in our own journals, and for Hermes in its store. Must not know the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tallystick.agents.tables import Table
from tallystick.capture.sqlite_rows import read_rows
from tallystick.errors import SourceError
from tallystick.journal.archive import start_key
from tallystick.journal.lines import LineFile
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, SessionKind
from tallystick.operations.scribe import Scribe
from tallystick.sessions.provenance import (
    KEY,
    Kind,
    Link,
    Links,
    Rotation,
    Rule,
    Sealed,
    hermes_links,
    hermes_meta,
    provenance,
    rows_of,
)

_HERMES = (Table(name="sessions", columns=("parent_session_id", "end_reason", "model_config", "source")),)
_KINDS = {
    SessionKind.ROOT: Kind.ROOT,
    SessionKind.CHILD: Kind.DELEGATE,
    SessionKind.CONTINUATION: Kind.CONTINUATION,
    SessionKind.FORK: Kind.FORK,
}
_MOST_ROTATIONS = 100


class Lineage:
    """What is known of sessions' descent. Safe for several threads, as the Scribe is."""

    def __init__(self, scribe: Scribe, hermes_store: Path | None = None, hermes_rule: Rule | None = None) -> None:
        """Look up in the Scribe's store.

        Args:
            hermes_store: Hermes' `state.db`, if it may be read.
            hermes_rule: tell it in Hermes' words too, by this rule, for editors that know no others.
        """
        self._scribe = scribe
        self._rule = hermes_rule
        self._hermes_store = hermes_store
        self._heads: dict[str, str] = {}

    def of_opened(self, begun: Opening, acp_id: str, head: str | None = None) -> dict[str, Json] | None:
        """What to add to the `_meta` of a session that was begun or loaded; its journal is begun if it has none.

        Args:
            head: the agent's id of the session that is live, if it says so.
        """
        with self._scribe.lock:
            self._scribe.open(begun)
            current = head or self.head(begun.agent, begun.session)
            self._heads[acp_id] = current
            return self._members(begun.agent, acp_id, current, None)

    def of_rotation(self, agent: str, acp_id: str, head: str | None = None) -> dict[str, Json] | None:
        """What to add to the `_meta` of a notice that the live session has changed; None if it has not."""
        with self._scribe.lock:
            current = head or self.head(agent, acp_id)
            before = self._heads.get(acp_id, acp_id)
            if current == before:
                return None
            self._heads[acp_id] = current
            return self._members(agent, acp_id, current, before)

    def head(self, agent: str, session: str) -> str:
        """The session that goes on under an id: the last of its continuations that is recorded."""
        self._scribe.archive.look_anew()
        return self._scribe.writer.current(agent, session)

    def _members(self, agent: str, acp_id: str, current: str, before: str | None) -> dict[str, Json] | None:
        """Our member and, if wanted, Hermes'; None if nothing is known."""
        links = self._links(agent)
        rotations = self._rotations(links, before, current) if before is not None else ()
        sealed = self._sealed(agent, current, acp_id)
        account = provenance(agent, acp_id, current, links, rotations=rotations, sealed=sealed)
        if account is None:
            return None
        members: dict[str, Json] = {KEY: account}
        if self._rule is not None:
            rows = rows_of(links, current)
            members |= hermes_meta(acp_id, current, rows, previous=before, rule=self._rule) or {}
        return members

    def _sealed(self, agent: str, current: str, acp_id: str) -> Sealed | None:
        """Where it is recorded: the journal of the live session, else of the conversation it belongs to."""
        for session in (current, acp_id):
            record = self._scribe.writer.find(agent, session)
            if record is not None:
                return Sealed(session=record.sid, size=record.journal.size, head=record.last)
        return None

    def _rotations(self, links: Links, before: str, current: str) -> tuple[Rotation, ...]:
        """Each change of id between two heads, oldest first, as the links tell them; one leap where they do not."""
        found, cursor = list[Rotation](), current
        while cursor != before and len(found) < _MOST_ROTATIONS:
            link = links(cursor)
            if link is None or link.parent is None:
                return (Rotation(before=before, after=current),)
            found.append(Rotation(before=link.parent, after=cursor, reason=link.reason))
            cursor = link.parent
        return tuple(reversed(found))

    # Rows ---------------------------------------------------------------------------------------------------------------

    def _links(self, agent: str) -> Links:
        """Hermes' own rows where it has them, else our journals."""
        rows = self._hermes_rows() if agent == "hermes" else {}
        of_hermes = hermes_links(rows.get)

        def find(session: str) -> Link | None:
            told, recorded = of_hermes(session), self._recorded(agent, session)
            has_parent = recorded is not None and recorded.parent is not None  # Hermes keeps no parent of a fork
            return recorded if told is None or (told.parent is None and has_parent) else told

        return find

    def _hermes_rows(self) -> Mapping[str, Mapping[str, Json]]:
        if self._hermes_store is None:
            return {}
        rows: dict[str, Mapping[str, Json]] = {}
        try:
            for data, _ in read_rows(self._hermes_store, _HERMES):
                row = json.loads(data)["row"]
                rows[str(row.get("id"))] = row
        except SourceError:
            pass  # what was read stands; our own journals tell the rest
        return rows

    def _recorded(self, agent: str, session: str) -> Link | None:
        """How a session began, by its first entry."""
        record = self._scribe.writer.find(agent, session)
        first = record.read(0) if record is not None else None
        if first is None:
            return None
        kind = _KINDS.get(SessionKind(str(first.meta.get("kind", "root"))), Kind.OTHER)
        return self._link(agent, kind, first)

    def _link(self, agent: str, kind: Kind, first: Recorded) -> Link:
        if first.parents:
            sid, _, _ = first.parents[0].partition("#")
            parent = self._native_id(agent, sid)
            return Link(kind=kind, parent=parent) if parent is not None else Link()
        claim = first.meta.get("parent_source")
        named = claim.get("session") if isinstance(claim, dict) and "agent" not in claim else None
        return Link(kind=kind, parent=named, claimed=True) if isinstance(named, str) else Link()

    def _native_id(self, agent: str, sid: str) -> str | None:
        """The agent's own id of a journal's session; None for one of another agent, such as the run it is part of."""
        path = self._scribe.home.journal(sid)
        key = start_key(next(iter(LineFile(path)), b"")) if path is not None else None
        return key[1] if key is not None and key[0] == agent else None

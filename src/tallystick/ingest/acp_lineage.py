"""Where the sessions of an editor's conversation come from: what goes into our provenance.

Owns looking it up: in our own journals, and for Hermes in its store. Must not know the protocol.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from tallystick.capture.hermes_store import HermesStore
from tallystick.graph.conversations import last_continuation
from tallystick.graph.graph import Graph, GraphError, Mode
from tallystick.graph.queries import get_session
from tallystick.journal.lines import LineFile
from tallystick.journal.read import read_at
from tallystick.journal.session_keys import start_key
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.compactions import FIRST_STEPS, Around, Compaction, compaction_of, told_of
from tallystick.sessions.hermes_links import hermes_links, rows_of
from tallystick.sessions.hermes_provenance import AGENT, Rule, session_provenance_meta
from tallystick.sessions.origins import claimed_parent, link_of, sealed_parent
from tallystick.sessions.provenance import KEY, Kind, Known, Link, Links, Rotation, Sealed, Way, provenance, way_up

_MOST_ROTATIONS = 100
_MOST_HOPS = 16


class Lineage:
    """What is known of sessions' descent. Safe for several threads, as the SessionWriter is."""

    def __init__(
        self, session_writer: SessionWriter, hermes_store: Path | None = None, hermes_rule: Rule | None = None
    ) -> None:
        """Look up in the SessionWriter's store.

        Args:
            hermes_store: Hermes' `state.db`, if it may be read.
            hermes_rule: tell it in Hermes' words too, by this rule, for editors that know no others.
        """
        self._session_writer = session_writer
        self._rule = hermes_rule
        if hermes_store is None:
            self._of_hermes = None
        else:
            self._of_hermes = hermes_links(HermesStore(hermes_store))
        self._heads: dict[str, str] = {}

    def of_opened(self, begun: Opening, acp_id: str, head: str | None = None) -> dict[str, Json] | None:
        """What to add to the `_meta` of a session that was begun or loaded; its journal is begun if it has none.

        Args:
            head: the agent's id of the session that is live, if it says so.
        """
        with self._session_writer.lock:
            self._session_writer.open(begun)
            current = head or self.head(begun.agent, begun.session)
            self._heads[acp_id] = current
            return self._members(begun.agent, acp_id, current, None)

    def of_rotation(self, agent: str, acp_id: str, head: str | None = None) -> dict[str, Json] | None:
        """What to add to the `_meta` of a notice that the live session has changed; None if it has not."""
        with self._session_writer.lock:
            current = head or self.head(agent, acp_id)
            before = self._heads.get(acp_id, acp_id)
            if current == before:
                return None
            self._heads[acp_id] = current
            return self._members(agent, acp_id, current, before)

    def head(self, agent: str, session: str) -> str:
        """The session that goes on under an id: the last of its continuations that is recorded."""
        self._session_writer.archive.look_anew()
        return self._session_writer.writer.current(agent, session)

    def _members(self, agent: str, acp_id: str, current: str, before: str | None) -> dict[str, Json]:
        """Our member and, if wanted, Hermes'."""
        self._session_writer.archive.look_anew()  # hooks are recorded by another process
        links = self._links(agent)
        way = way_up(current, links)
        if way is None:  # no store says anything of the live session: what the wire itself shows is told all the same
            way = Way(hops=((current, Link(kind=Kind.OTHER, parent=before, claimed=True)),), missing=before)
        known = Known(
            rotations=self._rotations(links, before, current) if before is not None else (),
            sealed=self._sealed(agent, current, acp_id),
            compactions=told_of(way, self._last_compaction(agent, way)),
            continued_as=self._continued_as(agent, current),
        )
        account = provenance(agent, acp_id, way, known, most_hops=_MOST_HOPS)
        members: dict[str, Json] = {KEY: account}
        if self._rule is not None:
            rows = rows_of(way)
            members |= (
                session_provenance_meta(rows, acp_id, current, previous_hermes_session_id=before, rule=self._rule) or {}
            )
        return members

    def _sealed(self, agent: str, current: str, acp_id: str) -> Sealed | None:
        """Where it is recorded: the journal of the live session, else of the conversation it belongs to."""
        for session in (current, acp_id):
            record = self._session_writer.writer.find(agent, session)
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

    def _continued_as(self, agent: str, current: str) -> str | None:
        """What a session went on as, as far as the index knows: after a restart Hermes begins again with the first."""
        sid = self._session_writer.archive.find(agent, current)
        if sid is None:
            return None
        try:
            with closing(Graph(self._session_writer.home.graph, Mode.READ)) as graph:
                last = last_continuation(graph, sid)
                row = None
                if last != sid:
                    row = get_session(graph, last)
        except GraphError:  # none exists yet
            return None
        if row is None:
            return None
        return row.source_session

    def _last_compaction(self, agent: str, way: Way) -> Compaction | None:
        """What the journals say of the compaction that the live session began with."""
        (current, link), *_ = way.hops
        if link.began is None or way.depth == 0 or link.parent is None:
            return None
        ended, begun = (self._session_writer.writer.find(agent, session) for session in (link.parent, current))
        n = None
        if ended is not None:
            n = ended.known.number_of(link.began.hash)
        step = None
        if ended is not None and n is not None:
            step = ended.read(n)
        if ended is None or step is None or step.type != "compaction":
            return None
        around = Around(
            before=_steps(ended, range(step.n - 1, max(step.n - 1 - FIRST_STEPS, 0), -1)),
            after=_steps(begun, range(1, FIRST_STEPS + 1)) if begun is not None else (),
        )
        return compaction_of(step, link.parent, into=current, around=around)

    # Links --------------------------------------------------------------------------------------------------------------

    def _links(self, agent: str) -> Links:
        """What our journals seal; where they do not say it, Hermes' own rows."""
        of_hermes = self._of_hermes if agent == AGENT and self._of_hermes is not None else lambda _: None

        def find(session: str) -> Link | None:
            told, recorded = of_hermes(session), self._recorded(agent, session)
            if told is None or recorded is None:
                return told or recorded
            if recorded.began is not None or told.parent is None:  # Hermes keeps no parent of a fork
                return replace(recorded, reason=recorded.reason or told.reason)
            return replace(told, journal=recorded.journal, claimed=True)

        return find

    def _recorded(self, agent: str, session: str) -> Link | None:
        """How a session began, by its first entry."""
        sid = self._session_writer.archive.find(agent, session)
        path = None
        if sid is not None:
            path = self._session_writer.home.journal(sid)
        first = None
        if path is not None:
            first = read_at(self._session_writer.home, path, 0)
        if first is None:
            return None
        sealed, claimed = sealed_parent(first), claimed_parent(first)
        parent = claimed
        if sealed is not None:
            parent = self._native_id(agent, sealed[0])
        if parent is None and (sealed is not None or first.member("parent_source") is not None):
            return Link(journal=first.session)  # to its agent, a session of a run is a root
        return replace(link_of(first, parent), name=None, agent=None)

    def _native_id(self, agent: str, sid: str) -> str | None:
        """The agent's own id of a journal's session; None for one of another agent, such as the run it is part of."""
        path = self._session_writer.home.journal(sid)
        key = None
        if path is not None:
            key = start_key(next(iter(LineFile(path)), b""))
        if key is not None and key[0] == agent:
            return key[1]
        return None


def _steps(record: SessionRecord, numbers: Iterable[int]) -> tuple[Recorded, ...]:
    found = (record.read(n) for n in numbers if 0 <= n < record.journal.size)
    return tuple(step for step in found if step is not None)

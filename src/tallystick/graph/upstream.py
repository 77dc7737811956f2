"""What a node came from: one step of a walk towards the causes.

Owns which rows those are, kind by kind. Nothing is a cause that came later: versions see to that for things, and what was
done to a version after it was made leads nowhere. Must not know how far a walk goes.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.graph.graph import Graph, Row
from tallystick.graph.relating import Ends, Found, OneWay, batches, changed_into, take
from tallystick.graph.running import run_for
from tallystick.graph.spawning import parents_of, rests_on
from tallystick.lineage.walk import Edge, NodeId, NodeKind

ARTIFACT, STEP, REQUEST, SESSION = NodeKind.ARTIFACT, NodeKind.STEP, NodeKind.REQUEST, NodeKind.SESSION

_LATE_MS = 2_000
"""An effect is seen so long after the call that made it."""

NEAR_STEPS = 256
"""A call is decided about within so many steps of it: agents use the ids of calls again."""

# As the index `steps_deciding` has it, word by word: else SQLite does not use it.
_DECIDING = (
    "type IN ('permission', 'decision', 'bash_security',"
    " 'security_static', 'security_triage', 'security_supervisor', 'security_decision')"
)

_STEPS = (
    "SELECT s.id, s.n, s.type, s.request, s.parent, s.corr, s.at_us,"
    " s.type = 'file_effect' AND s.source = 'watch' AND s.agent_id <> 'run'"
    " FROM json_each(?) i CROSS JOIN steps s ON s.id = i.value"
)
_CALLS = (
    "SELECT id FROM steps INDEXED BY steps_corr WHERE corr = ? AND type = 'tool_call' AND corr IS NOT NULL"
    " AND id >= ? AND id < ? ORDER BY id DESC LIMIT 1"
)
_DECISIONS = (
    "SELECT s.id, d.id, d.at_us FROM json_each(?) i CROSS JOIN steps s ON s.id = i.value"
    f" CROSS JOIN steps d INDEXED BY steps_deciding ON d.corr = s.corr AND d.corr IS NOT NULL AND d.{_DECIDING}"
    f" AND d.id > s.id - {NEAR_STEPS} AND d.id < s.id + {NEAR_STEPS} AND d.session_id = s.session_id"
    " WHERE s.type = 'tool_call'"
)
_VERSION_BEFORE = (
    "SELECT a.artifact_id, p.artifact_id, m.confidence, m.created_at, p.version, m.src_id"
    " FROM json_each(?) i CROSS JOIN artifacts a ON a.artifact_id = i.value"
    " CROSS JOIN artifacts p ON p.thing = a.thing AND p.version = a.version - 1"
    " CROSS JOIN relations m ON m.dst_kind = 'artifact' AND m.dst_id = a.artifact_id"
    " AND m.src_kind IN ('agent_event', 'system_event') AND m.src_id = a.made_by AND m.relation_type = 'modified'"
    " CROSS JOIN relations c ON c.src_kind = 'artifact' AND c.src_id = p.artifact_id AND c.dst_kind = m.src_kind"
    " AND c.dst_id = m.src_id AND c.relation_type = 'consumed_by'"
)
_MADE = (
    "SELECT r.dst_id, i.value FROM json_each(?) i CROSS JOIN relations r ON r.src_kind = ? AND r.src_id = i.value"
    " AND r.dst_kind = 'artifact' AND r.relation_type IN ('produced', 'modified') LIMIT 200"
)


class Upstream(OneWay):
    """The causes of nodes. Of the nodes of the start it tells more: what a call read, and what a prompt built on."""

    # Versions of things ---------------------------------------------------------------------------------------------

    def _of_artifacts(self, ids: list[int], found: Found) -> None:
        if not ids:
            return
        there = self._known(ids)
        found.drop(NodeId(ARTIFACT, id_) for id_ in ids if id_ not in there)
        for kind in ("agent_event", "system_event", "artifact"):
            edges = take(self._graph, found, Ends("dst", "artifact", kind), there)
            found.add_all((edge for edge in edges if self._is_cause(edge, there)), by="dst")
        remote = [id_ for id_, row in there.items() if row[3] != "file" and NodeId(ARTIFACT, id_) in self._start]
        # No one here made a page: who asked for it is why it is known.
        found.add_all(take(self._graph, found, Ends("src", "artifact", "agent_event"), remote), by="src")
        for batch in batches(there):
            for row in self._graph.rows(_VERSION_BEFORE, (batch,)):
                found.add(NodeId(ARTIFACT, row[0]), changed_into(row[1], row[0], row[2:]))
        found.add_all(run_for(self._graph, there), by="dst")
        orphans = [id_ for id_ in there if not found.has(NodeId(ARTIFACT, id_))]
        edges = take(self._graph, found, Ends("dst", "artifact", "request"), orphans)
        found.add_all((edge for edge in edges if self._is_cause(edge, there)), by="dst")

    def _known(self, ids: list[int]) -> dict[int, Row]:
        """When some versions were first seen, who made them, and of what kind they are."""
        sql = "SELECT a.artifact_id, a.created_at, a.made_by, a.kind FROM json_each(?) i CROSS JOIN artifacts a"
        return {
            row[0]: row
            for batch in batches(ids)
            for row in self._graph.rows(f"{sql} ON a.artifact_id = i.value", (batch,))
        }

    def _is_cause(self, edge: Edge, there: Mapping[int, Row]) -> bool:
        """Whether the version is as it is because of this edge. Of one that was asked for, all that was done to it."""
        if edge.relation == "derived_from" or edge.target in self._start:
            return True
        _, created_ms, made_by, _ = there[edge.target.id]
        return edge.relation != "deleted" and (
            edge.source.id == made_by or edge.at_ms <= (created_ms or edge.at_ms) + _LATE_MS
        )

    # Steps ----------------------------------------------------------------------------------------------------------

    def _of_steps(self, ids: list[int], found: Found) -> None:
        if not ids:
            return
        rows = [row for batch in batches(ids) for row in self._graph.rows(_STEPS, (batch,))]
        there = {row[0] for row in rows}
        found.drop(NodeId(STEP, id_) for id_ in ids if id_ not in there)
        found.add_all(take(self._graph, found, Ends("dst", "system_event", "agent_event"), there), by="dst")
        for row in rows:
            self._places(row, found)
        self._decided(there, found)
        found.add_all(rests_on(self._graph, there), by="dst")
        asked = [id_ for id_ in there if NodeId(STEP, id_) in self._start]
        for kind in ("agent_event", "system_event"):
            found.add_all(take(self._graph, found, Ends("dst", kind, "artifact"), asked), by="dst")
            self._flowed(kind, asked, found)

    def _places(self, row: Row, found: Found) -> None:
        """The prompt that a step belongs to, the step that encloses it, and the call that it tells more about."""
        id_, n, type_, request, parent, corr, at_us, is_watched = row
        node, first, at_ms = NodeId(STEP, id_), id_ - n, at_us // 1000
        if is_watched and not found.has(node):  # it was seen in this session, and no one knows who did it
            found.add(
                node,
                Edge(source=NodeId(SESSION, first), target=node, relation="held", at_ms=at_ms, is_end=True),
            )
            return
        if request is not None and request != n:
            found.add(
                node, Edge(source=NodeId(REQUEST, first + request), target=node, relation="asked_for", at_ms=at_ms)
            )
        elif n > 0 or request is None:
            found.add(node, Edge(source=NodeId(SESSION, first), target=node, relation="held", at_ms=at_ms))
        if parent is not None and parent not in (request, n) and 0 <= parent < n:
            found.add(node, Edge(source=NodeId(STEP, first + parent), target=node, relation="enclosed", at_ms=at_ms))
        if corr is not None and type_ != "tool_call" and node in self._start:
            call = call_of(self._graph, corr, first_id=first, before=id_)
            if call is not None:
                found.add(node, Edge(source=NodeId(STEP, call), target=node, relation="called", at_ms=at_ms))

    def _decided(self, ids: set[int], found: Found) -> None:
        """Approvals, refusals and decisions about calls."""
        for batch in batches(ids):
            for call, decision, at_us in self._graph.rows(_DECISIONS, (batch,)):
                source, target = NodeId(STEP, decision), NodeId(STEP, call)
                edge = Edge(source=source, target=target, relation="decided", at_ms=at_us // 1000, is_end=True)
                found.add(target, edge)

    def _flowed(self, kind: str, ids: list[int], found: Found) -> None:
        """What went into that which a step wrote."""
        maker = {version: step for batch in batches(ids) for version, step in self._graph.rows(_MADE, (batch, kind))}
        for edge in take(self._graph, found, Ends("dst", "artifact", "artifact"), maker):
            node = NodeId(STEP, maker[edge.target.id])
            seen = {(other.source, other.relation) for other in found.edges(node)}
            if (edge.source, "consumed_by") not in seen and (edge.source, "went_into") not in seen:
                found.add(node, msgspec.structs.replace(edge, target=node, relation="went_into"))

    # Prompts and sessions -------------------------------------------------------------------------------------------

    def _of_requests(self, ids: list[int], found: Found) -> None:
        if not ids:
            return
        sql = (
            "SELECT r.request_id, r.n, r.created_at FROM json_each(?) i CROSS JOIN requests r ON r.request_id = i.value"
        )
        rows = [row for batch in batches(ids) for row in self._graph.rows(sql, (batch,))]
        there = {row[0] for row in rows}
        found.drop(NodeId(REQUEST, id_) for id_ in ids if id_ not in there)
        for id_, n, at_ms in rows:
            node = NodeId(REQUEST, id_)
            found.add(node, Edge(source=NodeId(SESSION, id_ - n), target=node, relation="held", at_ms=at_ms))
        asked = [id_ for id_ in there if NodeId(REQUEST, id_) in self._start]
        for kind in ("artifact", "request"):
            found.add_all(take(self._graph, found, Ends("dst", "request", kind), asked), by="dst")

    def _of_sessions(self, ids: list[int], found: Found) -> None:
        if not ids:
            return
        there, edges = parents_of(self._graph, ids)
        found.drop(NodeId(SESSION, id_) for id_ in ids if id_ not in there)
        found.add_all(edges, by="dst")


def call_of(graph: Graph, corr: str, *, first_id: int, before: int) -> int | None:
    """The id of the call that a step of the same session tells more about, by the agent's own id of the call."""
    row = graph.row(_CALLS, (corr, first_id, before))
    return None if row is None else row[0]

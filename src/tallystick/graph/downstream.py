"""The result of a node: one step of a walk towards the effects.

Owns which rows those are, kind by kind. A call that read something is reported and not gone on from: what it wrote
counts only where data is known to have flowed, which is an edge of its own. Must not know how far a walk goes.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.relating import MOST_READ, Ends, Found, OneWay, batches, changed_into, take
from tallystick.graph.running import written_by
from tallystick.graph.spawning import begun_by, children_of
from tallystick.lineage.walk import Edge, NodeId, NodeKind

ARTIFACT, STEP, REQUEST, SESSION = NodeKind.ARTIFACT, NodeKind.STEP, NodeKind.REQUEST, NodeKind.SESSION

_THERE = "SELECT a.artifact_id FROM json_each(?) i CROSS JOIN artifacts a ON a.artifact_id = i.value"
_VERSION_AFTER = (
    "SELECT a.artifact_id, v.artifact_id, m.confidence, m.created_at, a.version, m.src_id"
    " FROM json_each(?) i CROSS JOIN artifacts a ON a.artifact_id = i.value"
    " CROSS JOIN artifacts v ON v.thing = a.thing AND v.version = a.version + 1"
    " CROSS JOIN relations m ON m.dst_kind = 'artifact' AND m.dst_id = v.artifact_id"
    " AND m.src_kind IN ('agent_event', 'system_event') AND m.src_id = v.made_by AND m.relation_type = 'modified'"
    " CROSS JOIN relations c ON c.src_kind = 'artifact' AND c.src_id = a.artifact_id AND c.dst_kind = m.src_kind"
    " AND c.dst_id = m.src_id AND c.relation_type = 'consumed_by'"
)
_STEPS = "SELECT s.id, s.session_id, s.n, s.hash, s.source_id FROM json_each(?) i CROSS JOIN steps s ON s.id = i.value"
_REQUESTS = "SELECT r.request_id, r.session_id, r.n FROM json_each(?) i CROSS JOIN requests r ON r.request_id = i.value"
_OF_SESSION = f"SELECT request_id, created_at FROM requests WHERE session_id = ? ORDER BY n DESC LIMIT {MOST_READ + 1}"


class Downstream(OneWay):
    """The effects of nodes. Of a prompt that was asked for itself the sessions that it began are reported too."""

    def _of_artifacts(self, ids: list[int], found: Found) -> None:
        if not ids:
            return
        there = {row[0] for batch in batches(ids) for row in self._graph.rows(_THERE, (batch,))}
        found.drop(NodeId(ARTIFACT, id_) for id_ in ids if id_ not in there)
        running: list[int] = []
        for kind in ("artifact", "agent_event", "system_event", "request"):
            for edge in take(self._graph, found, Ends("src", "artifact", kind), there, is_end=kind != "artifact"):
                found.add(edge.source, edge)
                if edge.evidence.get("operation") == "execute" and edge.target.kind is STEP:
                    running.append(edge.target.id)
        found.add_all(written_by(self._graph, running), by="src")
        for batch in batches(there):
            for row in self._graph.rows(_VERSION_AFTER, (batch,)):
                found.add(NodeId(ARTIFACT, row[0]), changed_into(row[0], row[1], row[2:]))

    def _of_steps(self, ids: list[int], found: Found) -> None:
        if not ids:
            return
        rows = [row for batch in batches(ids) for row in self._graph.rows(_STEPS, (batch,))]
        there = {row[0] for row in rows}
        found.drop(NodeId(STEP, id_) for id_ in ids if id_ not in there)
        for kind, far in (("agent_event", "artifact"), ("system_event", "artifact"), ("agent_event", "system_event")):
            found.add_all(take(self._graph, found, Ends("src", kind, far), there), by="src")
        found.add_all(begun_by(self._graph, [(NodeId(STEP, row[0]), row[1], row[3], row[4]) for row in rows]), by="src")

    def _of_requests(self, ids: list[int], found: Found) -> None:
        if not ids:
            return
        rows = [row for batch in batches(ids) for row in self._graph.rows(_REQUESTS, (batch,))]
        there = {row[0] for row in rows}
        found.drop(NodeId(REQUEST, id_) for id_ in ids if id_ not in there)
        found.add_all(take(self._graph, found, Ends("src", "request", "artifact"), there), by="src")
        asked = [id_ for id_ in there if NodeId(REQUEST, id_) in self._start]
        found.add_all(take(self._graph, found, Ends("src", "request", "request"), asked, is_end=True), by="src")
        for id_, session, n in rows:
            if id_ in asked:
                self._began(NodeId(REQUEST, id_), session, n, found)

    def _began(self, node: NodeId, session: str, n: int, found: Found) -> None:
        """The sessions that the steps of a prompt began: all that the session began, less those of other prompts."""
        _, edges = children_of(self._graph, [node.id - n])
        for edge in edges:
            step = edge.evidence.get("parent_step")
            row = self._graph.row("SELECT request FROM steps WHERE hash = ? AND session_id = ?", (step, session))
            if row is not None and row[0] == n:
                found.add(node, msgspec.structs.replace(edge, source=node))

    def _of_sessions(self, ids: list[int], found: Found) -> None:
        if not ids:
            return
        there, edges = children_of(self._graph, ids)
        found.drop(NodeId(SESSION, id_) for id_ in ids if id_ not in there)
        found.add_all(edges, by="src")
        for id_, row in there.items():
            node, requests = NodeId(SESSION, id_), self._graph.rows(_OF_SESSION, (row[1],))
            for request, at_ms in requests:
                found.add(node, Edge(source=node, target=NodeId(REQUEST, request), relation="held", at_ms=at_ms))

"""What the index knows of one session's lineage, for exports.

Owns those queries: the relations of its steps and requests, the versions that they name, and what those derive from. Must not
know any format.
"""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.exports.lineage import ArtifactVersion, Edge, Lineage, Node
from tallystick.graph.graph import Graph, Row
from tallystick.graph.relating import batches

_COLUMNS = "r.src_kind, r.src_id, r.dst_kind, r.dst_id, r.relation_type, r.confidence, r.evidence, r.created_at"
_ACTORS = ("request", "agent_event", "system_event")
_OF_SESSION = f"SELECT r.relation_id, {_COLUMNS} FROM relations r WHERE r.{{0}}_kind = ? AND r.{{0}}_id BETWEEN ? AND ?"
_ORIGINS = (
    f"SELECT r.relation_id, {_COLUMNS} FROM json_each(?) i"
    " CROSS JOIN relations r ON r.dst_kind = 'artifact' AND r.dst_id = i.value AND r.src_kind = 'artifact'"
)
_VERSIONS = (
    "SELECT a.artifact_id, a.kind, a.uri, a.digest, a.version, a.created_at, a.deleted_at, a.made_by"
    " FROM json_each(?) i CROSS JOIN artifacts a ON a.artifact_id = i.value"
)
_PLACES = "SELECT s.id, s.session_id, s.n FROM json_each(?) i CROSS JOIN steps s ON s.id = i.value"


def session_lineage(graph: Graph, session: str) -> Lineage:
    """The lineage of a session, given by its full id; empty if the index does not have it. Raises GraphError."""
    row = graph.row("SELECT first_id, first_id + size - 1 FROM sessions WHERE session_id = ?", (session,))
    if row is None:
        return Lineage()
    relations: dict[int, Row] = {}
    for side in ("src", "dst"):
        for kind in _ACTORS:
            _add(relations, graph.rows(_OF_SESSION.format(side), (kind, *row)))
    for batch in batches(_ids(relations.values(), {"artifact"})):
        _add(relations, graph.rows(_ORIGINS, (batch,)))
    versions = [
        version
        for batch in batches(_ids(relations.values(), {"artifact"}))
        for version in graph.rows(_VERSIONS, (batch,))
    ]
    steps = _ids(relations.values(), set(_ACTORS)) | {version[-1] for version in versions if version[-1] is not None}
    places = {id_: (sid, n) for batch in batches(sorted(steps)) for id_, sid, n in graph.rows(_PLACES, (batch,))}
    ordered = sorted(relations.items(), key=lambda item: (item[1][-1], item[0]))
    return Lineage(
        artifacts=tuple(sorted((_version(version, places) for version in versions), key=_order)),
        edges=tuple(edge for _, relation in ordered if (edge := _edge(relation, places)) is not None),
    )


def _add(relations: dict[int, Row], rows: Iterable[Row]) -> None:
    for id_, *relation in rows:
        relations[id_] = tuple(relation)


def _ids(relations: Iterable[Row], kinds: set[str]) -> set[int]:
    """The ids of all ends of these kinds."""
    found: set[int] = set()
    for src_kind, src, dst_kind, dst, *_ in relations:
        found |= {id_ for kind, id_ in ((src_kind, src), (dst_kind, dst)) if kind in kinds}
    return found


def _order(version: ArtifactVersion) -> tuple[str, str, int, int]:
    return (version.kind, version.uri, version.version, version.id)


def _version(row: Row, places: dict[int, tuple[str, int]]) -> ArtifactVersion:
    id_, kind, uri, digest, version, created_at, deleted_at, made_by = row
    return ArtifactVersion(
        id=id_,
        kind=kind,
        uri=uri,
        digest=digest,
        version=version,
        created_at_ms=created_at,
        deleted_at_ms=deleted_at,
        made_by=_node("agent_event", made_by, places) if made_by is not None else None,
    )


def _edge(row: Row, places: dict[int, tuple[str, int]]) -> Edge | None:
    """A relation, None where one of its ends is not in the index: it is being projected."""
    src_kind, src, dst_kind, dst, relation, confidence, evidence, at_ms = row
    source, target = _node(src_kind, src, places), _node(dst_kind, dst, places)
    if source is None or target is None:
        return None
    return Edge(source=source, target=target, relation=relation, confidence=confidence, evidence=evidence, at_ms=at_ms)


def _node(kind: str, id_: int, places: dict[int, tuple[str, int]]) -> Node | None:
    if kind == "artifact":
        return Node(kind, id_)
    place = places.get(id_)
    if place is None:
        return None
    return Node(kind, id_, *place)

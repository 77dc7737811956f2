"""The rows of `relations` on one side of many nodes at once, few of each node.

Owns those queries. No node costs more than its share: of one with a million edges a few hundred are read and the rest is
counted, so far as counting is quick. Must not know which relations matter to a question.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import orjson

from tallystick.graph.graph import Graph, Row
from tallystick.lineage.walk import Around, Edge, NodeId, NodeKind
from tallystick.model.step import Json

MOST_READ = 400
"""Edges of one kind that are read of one node."""

_MOST_COUNTED = 200_000
_IDS_A_QUERY = 2_000

Side: TypeAlias = Literal["src", "dst"]


class Ends(NamedTuple):
    """Which relations: of nodes of a kind that are the source (`src`) or the target (`dst`), to nodes of another kind."""

    side: Side
    kind: str
    far_kind: str


KINDS = {
    "artifact": NodeKind.ARTIFACT,
    "agent_event": NodeKind.STEP,
    "system_event": NodeKind.STEP,
    "request": NodeKind.REQUEST,
}
"""What the kinds of `relations` are for a walk."""

_COLUMNS = "r.src_kind, r.src_id, r.dst_kind, r.dst_id, r.relation_type, r.confidence, r.evidence, r.created_at"


class Found:
    """Edges as they are found, by the node whose neighbours were asked for."""

    def __init__(self, nodes: Iterable[NodeId]) -> None:
        self._edges: dict[NodeId, list[Edge]] = {node: [] for node in nodes}
        self._more: dict[NodeId, int] = {}

    def add(self, node: NodeId, edge: Edge) -> None:
        """One more edge of a node. Of one that was not asked for nothing is kept."""
        if node in self._edges:
            self._edges[node].append(edge)

    def add_all(self, edges: Iterable[Edge], *, by: Side) -> None:
        """More edges, each of the node at its source (`src`) or at its target (`dst`)."""
        for edge in edges:
            self.add(edge.source if by == "src" else edge.target, edge)

    def add_more(self, node: NodeId, count: int) -> None:
        """So many edges more, which are not looked at."""
        if count > 0:
            self._more[node] = self._more.get(node, 0) + count

    def drop(self, nodes: Iterable[NodeId]) -> None:
        """Some of the nodes are not there at all."""
        for node in nodes:
            self._edges.pop(node, None)

    def has(self, node: NodeId) -> bool:
        """Whether the node has any edge yet."""
        return bool(self._edges.get(node))

    def edges(self, node: NodeId) -> Sequence[Edge]:
        """The edges of a node so far."""
        return self._edges.get(node, ())

    def around(self) -> dict[NodeId, Around]:
        """All of them."""
        return {
            node: Around(edges, len(edges) + self._more[node] if node in self._more else None)
            for node, edges in self._edges.items()
        }


def batches(ids: Iterable[int]) -> Iterable[str]:
    """Ids as JSON arrays, each for one query: what `json_each` takes."""
    kept = list(dict.fromkeys(ids))
    for start in range(0, len(kept), _IDS_A_QUERY):
        yield orjson.dumps(kept[start : start + _IDS_A_QUERY]).decode()


def related(graph: Graph, ends: Ends, ids: Iterable[int]) -> tuple[list[Row], dict[int, int]]:
    """The relations of nodes of one kind to nodes of another.

    Returns:
        The rows of _COLUMNS, at most MOST_READ of a node; and of each node that has more, how many were left out.
    """
    side, kind, far_kind = ends
    far = "src"
    if side == "src":
        far = "dst"
    where = f"{side}_kind = ? AND {side}_id = {{}} AND {far}_kind = ?"
    chosen = f"SELECT relation_id FROM relations WHERE {where.format('i.value')} LIMIT {MOST_READ + 1}"
    sql = f"SELECT {_COLUMNS} FROM json_each(?) i CROSS JOIN relations r ON r.relation_id IN ({chosen})"
    rows: list[Row] = []
    for batch in batches(ids):
        rows += graph.rows(sql, (batch, kind, far_kind))
    own = 3
    if side == "src":
        own = 1
    counts: dict[int, int] = {}
    for row in rows:
        counts[row[own]] = counts.get(row[own], 0) + 1
    more = {
        id_: _count(graph, where.format("?"), (kind, id_, far_kind)) - count
        for id_, count in counts.items()
        if count > MOST_READ
    }
    return rows, more


def take(graph: Graph, found: Found, ends: Ends, ids: Collection[int], *, is_end: bool = False) -> list[Edge]:
    """The edges of `related`; of those that were left out `found` learns the number. Raises GraphError."""
    if not ids:
        return []
    rows, more = related(graph, ends, ids)
    for id_, count in more.items():
        found.add_more(NodeId(KINDS[ends.kind], id_), count)
    return [edge_of(row, is_end=is_end) for row in rows]


def _count(graph: Graph, where: str, values: tuple[object, ...]) -> int:
    row = graph.row(f"SELECT count(*) FROM (SELECT 1 FROM relations WHERE {where} LIMIT {_MOST_COUNTED})", values)
    if row is None:
        return 0
    return int(row[0])


def edge_of(row: Row, *, is_end: bool = False) -> Edge:
    """The edge in a row of `related`."""
    src_kind, src, dst_kind, dst, relation, confidence, evidence, at_ms = row
    return Edge(
        source=NodeId(KINDS[src_kind], src),
        target=NodeId(KINDS[dst_kind], dst),
        relation=relation,
        confidence=confidence,
        evidence=evidence_of(evidence),
        at_ms=at_ms,
        is_end=is_end,
    )


def changed_into(before: int, after: int, how: Row) -> Edge:
    """From a version of a thing to the next. `how`: confidence, when, the number of the one before, the step that did it."""
    confidence, at_ms, number, step = how
    return Edge(
        source=NodeId(NodeKind.ARTIFACT, before),
        target=NodeId(NodeKind.ARTIFACT, after),
        relation="changed_into",
        confidence=confidence,
        evidence={"version_before": number, "step_id": step},
        at_ms=at_ms,
    )


def evidence_of(text: str | None) -> dict[str, Json]:
    """Evidence as it is kept, read. What is none is shown unchanged."""
    if not text:
        return {}
    try:
        found = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeError):
        return {"text": text[:1000]}
    if isinstance(found, dict):
        return found
    return {"text": text[:1000]}


class OneWay(ABC):
    """The edges of nodes in one direction, as `lineage.walk` asks for them. What there is to tell depends on the kind."""

    def __init__(self, graph: Graph, start: Sequence[NodeId]) -> None:
        """`start` is where the walk begins: of those nodes more may be reported."""
        self._graph = graph
        self._start = frozenset(start)

    def __call__(self, nodes: Sequence[NodeId]) -> Mapping[NodeId, Around]:
        """The edges of some nodes. Raises GraphError."""
        found = Found(nodes)
        by_kind: dict[NodeKind, list[int]] = {kind: [] for kind in NodeKind}
        for node in nodes:
            by_kind[node.kind].append(node.id)
        self._of_artifacts(by_kind[NodeKind.ARTIFACT], found)
        self._of_steps(by_kind[NodeKind.STEP], found)
        self._of_requests(by_kind[NodeKind.REQUEST], found)
        self._of_sessions(by_kind[NodeKind.SESSION], found)
        return found.around()

    @abstractmethod
    def _of_artifacts(self, ids: list[int], found: Found) -> None: ...

    @abstractmethod
    def _of_steps(self, ids: list[int], found: Found) -> None: ...

    @abstractmethod
    def _of_requests(self, ids: list[int], found: Found) -> None: ...

    @abstractmethod
    def _of_sessions(self, ids: list[int], found: Found) -> None: ...

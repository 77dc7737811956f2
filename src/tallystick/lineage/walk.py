"""Walking along the graph from one place, in one direction, and saying where the walk stopped.

Owns the order of the walk and its limits. Must not know which edges there are, nor where they are kept: they are asked for,
all those of one distance at a time.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from tallystick.model.step import Json


class NodeKind(enum.StrEnum):
    """What a node of the graph stands for."""

    ARTIFACT = "artifact"
    """One version of a thing."""
    STEP = "step"
    """What an agent did, or an effect that was observed."""
    REQUEST = "request"
    """A prompt, and what was done for it."""
    SESSION = "session"


class NodeId(NamedTuple):
    """A node. The id is that of its row: of a session `first_id`, of a request that of the prompt's step."""

    kind: NodeKind
    id: int


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """From `source` came `target`. `evidence` says why this is believed; `at_ms` is when it happened, 0 if that is not known.

    A walk does not go on from the far end of an edge with `is_end`, unless another edge leads there too.
    """

    source: NodeId
    target: NodeId
    relation: str
    confidence: float = 1.0
    evidence: Mapping[str, Json] = {}
    at_ms: int = 0
    is_end: bool = False

    def far(self, node: NodeId) -> NodeId:
        """The end of this edge that is not `node`."""
        if self.source == node:
            return self.target
        return self.source


class Around(msgspec.Struct, frozen=True):
    """The edges of one node in the direction of a walk. `total` counts those that were left out too; None: none was."""

    edges: Sequence[Edge] = ()
    total: int | None = None


class CutReason(enum.StrEnum):
    """Why a walk did not go on."""

    DEPTH = "depth"
    NODES = "nodes"
    """So many nodes were found that it had to end."""
    FAN_OUT = "fan-out"
    """The node has more edges than are followed."""
    UNSURE = "unsure"
    """The node has edges that are less sure than was asked for."""
    MISSING = "missing"
    """The node is named by an edge, and is not there."""


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """A place where a walk stopped: of the `total` edges of `node` only `shown` were followed."""

    node: NodeId
    why: CutReason
    shown: int = 0
    total: int = 0


class Walked(msgspec.Struct, frozen=True):
    """What a walk found: each node with its distance from the start, the edges between them, and where it stopped."""

    nodes: Mapping[NodeId, int]
    edges: tuple[Edge, ...]
    cuts: tuple[Cut, ...]


Neighbours: TypeAlias = Callable[[Sequence[NodeId]], Mapping[NodeId, Around]]
"""Gives the edges of some nodes; one that is not there is left out."""


class Limits(msgspec.Struct, frozen=True):
    """How far a walk goes, and how much it may find."""

    depth: int = 8
    """0 finds only the start. Nodes at that distance are asked for, so that it is known whether there was more."""
    nodes: int = 300
    """How many to find, those of the start among them."""
    edges_a_node: int = 50
    least_confidence: float = 0.0
    """Edges that are less sure are counted, and not followed."""


def walk(start: Sequence[NodeId], neighbours: Neighbours, limits: Limits) -> Walked:
    """Walk from `start`, nearest nodes first.

    No node is asked for twice, and what is found does not depend on the order in which `neighbours` gives edges.
    """
    walker = _Walker(start, limits)
    for distance in range(limits.depth + 1):
        level, walker.level = walker.level, []
        if not level:
            break
        found = neighbours(level)
        for node in level:
            walker.visit(node, found.get(node), distance + 1, is_last=distance == limits.depth)
    return Walked(walker.depths, tuple(walker.edges.values()), tuple(walker.cuts))


class _Walker:
    def __init__(self, start: Sequence[NodeId], limits: Limits) -> None:
        self.level: list[NodeId] = list(dict.fromkeys(start))
        self.depths = dict.fromkeys(self.level, 0)
        self.edges: dict[tuple[NodeId, NodeId, str], Edge] = {}
        self.cuts: list[Cut] = []
        self._asked = set(self.level)
        self._limits = limits

    def visit(self, node: NodeId, around: Around | None, distance: int, *, is_last: bool) -> None:
        """Take in the edges of a node; what they lead to is `distance` away."""
        if around is None:
            self.cuts.append(Cut(node=node, why=CutReason.MISSING))
            return
        sure = [edge for edge in around.edges if edge.confidence >= self._limits.least_confidence]
        unsure = len(around.edges) - len(sure)
        followed = sorted(sure, key=_rank)[: self._limits.edges_a_node]
        total = max(around.total or 0, len(around.edges)) - unsure
        kept = sum(self._follow(node, edge, distance, is_last=is_last) for edge in followed)
        if kept < len(followed):
            if is_last:
                why = CutReason.DEPTH
            else:
                why = CutReason.NODES
            self.cuts.append(Cut(node=node, why=why, shown=kept, total=total))
        elif len(followed) < total:
            self.cuts.append(Cut(node=node, why=CutReason.FAN_OUT, shown=len(followed), total=total))
        if unsure:
            self.cuts.append(Cut(node=node, why=CutReason.UNSURE, shown=0, total=unsure))

    def _follow(self, node: NodeId, edge: Edge, distance: int, *, is_last: bool) -> bool:
        """Whether the edge is in what was found, with all that it leads to."""
        far = edge.far(node)
        if far not in self.depths:
            if is_last or len(self.depths) >= self._limits.nodes:
                return False
            self.depths[far] = distance
        self.edges.setdefault((edge.source, edge.target, edge.relation), edge)
        if edge.is_end or far in self._asked:
            return True
        self._asked.add(far)
        self.level.append(far)
        return not is_last


def _rank(edge: Edge) -> tuple[bool, float, int, str, NodeId, NodeId]:
    """Which edges are followed first where not all are: those that lead on, then the surest, then the newest."""
    return edge.is_end, -edge.confidence, -edge.at_ms, edge.relation, edge.source, edge.target

"""Walking along the graph from one place, in one direction, and saying where the walk stopped.

Owns the order of the walk and its limits. Must not know which edges there are, nor where they are kept: they are asked for,
all those of one distance at a time.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping, Sequence
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

    @property
    def is_guess(self) -> bool:
        """Whether all that speaks for it is that a model had been shown the one before it wrote the other."""
        via = self.evidence.get("via")
        return isinstance(via, str) and via.startswith("model")

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
    """Walk from `start`, nearest nodes first; along guesses only when all that is reached without them was found.

    No node is asked for twice, and what is found does not depend on the order in which `neighbours` gives edges.
    """
    walker = _Walker(start, limits)
    distance: int | None = 0
    while distance is not None:
        level = walker.take_level(distance)
        found = neighbours(level) if level else {}
        for node in level:
            walker.visit(node, found.get(node), distance)
        distance = walker.next_distance()
    walker.end()
    return Walked(walker.depths, tuple(walker.edges.values()), tuple(walker.cuts))


class _Visit(msgspec.Struct):
    """A node whose edges were taken in, but for its guesses."""

    node: NodeId
    distance: int
    guesses: list[Edge]
    followed: int
    kept: int
    total: int
    unsure: int


class _Walker:
    def __init__(self, start: Sequence[NodeId], limits: Limits) -> None:
        first = list(dict.fromkeys(start))
        self.levels: dict[int, list[NodeId]] = {0: first}
        self.depths = dict.fromkeys(first, 0)
        self.edges: dict[tuple[NodeId, NodeId, str], Edge] = {}
        self.cuts: list[Cut] = []
        self._visits: list[_Visit] = []
        self._waiting: dict[int, list[_Visit]] = {}
        self._asked = set(first)
        self._limits = limits

    def take_level(self, distance: int) -> list[NodeId]:
        """The nodes that are to be asked for next, all at the same distance."""
        return self.levels.pop(distance, [])

    def next_distance(self) -> int | None:
        """The distance to go on from; guesses are taken in, nearest first, when nothing else is left. None at the end."""
        if not self.levels:
            waiting, self._waiting = self._waiting, {}
            for distance in sorted(waiting):
                for visit in waiting[distance]:
                    visit.kept += self._follow_all(visit, visit.guesses)
        return min(self.levels, default=None)

    def visit(self, node: NodeId, around: Around | None, distance: int) -> None:
        """Take in the edges of a node that is `distance` away; its guesses wait."""
        if around is None:
            self.cuts.append(Cut(node=node, why=CutReason.MISSING))
            return
        sure = [edge for edge in around.edges if edge.confidence >= self._limits.least_confidence]
        unsure = len(around.edges) - len(sure)
        followed = sorted(sure, key=_rank)[: self._limits.edges_a_node]
        total = max(around.total or 0, len(around.edges)) - unsure
        guesses = [edge for edge in followed if edge.is_guess]
        visit = _Visit(node, distance, guesses, len(followed), 0, total, unsure)
        visit.kept = self._follow_all(visit, [edge for edge in followed if not edge.is_guess])
        self._visits.append(visit)
        if guesses:
            self._waiting.setdefault(distance, []).append(visit)

    def end(self) -> None:
        """Say where the walk stopped."""
        for visit in self._visits:
            if visit.kept < visit.followed:
                why = CutReason.NODES
                if visit.distance == self._limits.depth:
                    why = CutReason.DEPTH
                self.cuts.append(Cut(node=visit.node, why=why, shown=visit.kept, total=visit.total))
            elif visit.followed < visit.total:
                self.cuts.append(Cut(node=visit.node, why=CutReason.FAN_OUT, shown=visit.followed, total=visit.total))
            if visit.unsure:
                self.cuts.append(Cut(node=visit.node, why=CutReason.UNSURE, shown=0, total=visit.unsure))

    def _follow_all(self, visit: _Visit, edges: Sequence[Edge]) -> int:
        """How many of some edges of a node are in what was found, with all that they lead to."""
        return sum(self._follow(visit.node, edge, visit.distance) for edge in edges)

    def _follow(self, node: NodeId, edge: Edge, distance: int) -> bool:
        far, is_last = edge.far(node), distance == self._limits.depth
        if far not in self.depths:
            if is_last or len(self.depths) >= self._limits.nodes:
                return False
            self.depths[far] = distance + 1
        self.edges.setdefault((edge.source, edge.target, edge.relation), edge)
        if edge.is_end or far in self._asked:
            return True
        if is_last:
            return False
        self._asked.add(far)
        self.levels.setdefault(distance + 1, []).append(far)
        return True


def _rank(edge: Edge) -> tuple[bool, bool, float, int, str, NodeId, NodeId]:
    """Which edges are followed first where not all are: those that lead on, no guesses, the surest, the newest."""
    return edge.is_end, edge.is_guess, -edge.confidence, -edge.at_ms, edge.relation, edge.source, edge.target


def without(walked: Walked, start: Sequence[NodeId], dropped: Collection[Edge]) -> Walked:
    """A walk to causes without some edges, and without what only they led to."""
    if not dropped:
        return walked
    edges = tuple(edge for edge in walked.edges if edge not in dropped)
    causes: dict[NodeId, list[NodeId]] = {}
    for edge in edges:
        causes.setdefault(edge.target, []).append(edge.source)
        if edge.source in start:  # of some starts it is told who asked for them
            causes.setdefault(edge.source, []).append(edge.target)
    reached, waiting = set(start), list(start)
    while waiting:
        for node in causes.get(waiting.pop(), ()):
            if node not in reached:
                reached.add(node)
                waiting.append(node)
    return Walked(
        {node: distance for node, distance in walked.nodes.items() if node in reached},
        tuple(edge for edge in edges if edge.source in reached and edge.target in reached),
        tuple(cut for cut in walked.cuts if cut.node in reached),
    )

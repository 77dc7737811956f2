"""A walk as a tree: each node once where it was found first, and named again wherever else an edge leads to it.

Owns the rows, their order and the lines before them. Must not know what is written on a row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence

import msgspec

from tallystick.lineage.walk import Cut, Edge, NodeId

_SILENT = frozenset({"began", "held"})
"""Edges that are not worth a row where their end stands elsewhere in the tree."""

_ORDER = (
    *("produced", "modified", "deleted", "reached", "caused", "called", "decided", "consumed_by", "went_into"),
    *("derived_from", "ran", "changed_into", "enclosed", "asked_for", "merge", "held", "began"),
)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the tree.

    `lines` is what is drawn before it. `edges` are those between this node and the one above, none at the start.
    `is_repeat`: what belongs to it stands at another row. With `cut` the row says that the walk stopped at `node`,
    above it.
    """

    node: NodeId
    edges: tuple[Edge, ...]
    lines: str
    depth: int
    is_repeat: bool = False
    cut: Cut | None = None


def rows(start: Sequence[NodeId], edges: Sequence[Edge], cuts: Sequence[Cut], *, upwards: bool) -> Iterator[Row]:
    """The tree of a walk.

    Args:
        upwards: the walk went from what came of something to what it came from.
    """
    return _Tree(start, edges, cuts, upwards=upwards).rows()


class _Tree:
    def __init__(self, start: Sequence[NodeId], edges: Sequence[Edge], cuts: Sequence[Cut], *, upwards: bool) -> None:
        self._start = tuple(dict.fromkeys(start))
        self._below = _grouped(edges, frozenset(self._start), upwards=upwards)
        self._cuts: dict[NodeId, list[Cut]] = {}
        for cut in cuts:
            self._cuts.setdefault(cut.node, []).append(cut)
        self._place = self._places()

    def _places(self) -> dict[NodeId, NodeId | None]:
        """The node under which each one has its row: of several the nearest to the start."""
        place: dict[NodeId, NodeId | None] = dict.fromkeys(self._start)
        waiting = deque(self._start)
        while waiting:
            node = waiting.popleft()
            for far in self._below.get(node, ()):
                if far not in place:
                    place[far] = node
                    waiting.append(far)
        return place

    def rows(self) -> Iterator[Row]:
        """All rows, from top to bottom."""
        waiting = [Row(node=node, edges=(), lines="", depth=0) for node in reversed(self._start)]
        while waiting:
            row = waiting.pop()
            yield row
            if row.cut is None and not row.is_repeat:
                waiting += reversed(list(self._under(row)))

    def _under(self, above: Row) -> Iterator[Row]:
        cuts = self._cuts.get(above.node, [])
        children = [
            (far, edges)
            for far, edges in self._below.get(above.node, {}).items()
            if not all(edge.relation in _SILENT for edge in edges) or self._says_more(far, above.node, edges)
        ]
        beside = above.lines.replace("├─ ", "│  ").replace("└─ ", "   ")
        last = len(children) + len(cuts) - 1
        for position, (far, edges) in enumerate(children):
            yield Row(
                node=far,
                edges=edges,
                lines=beside + ("└─ " if position == last else "├─ "),
                depth=above.depth + 1,
                is_repeat=self._place.get(far) != above.node,
            )
        for position, cut in enumerate(cuts, len(children)):
            lines = beside + ("└─ " if position == last else "├─ ")
            yield Row(node=above.node, edges=(), lines=lines, depth=above.depth + 1, cut=cut)

    def _says_more(self, far: NodeId, above: NodeId, edges: Sequence[Edge]) -> bool:
        """Whether silent edges lead to a row of its own here, and not just to a session that began with what is above."""
        began_here = edges[0].relation == "held" and set(self._below.get(far, ())) == {above}
        return self._place.get(far) == above and (not began_here or far in self._cuts)


def _grouped(
    edges: Sequence[Edge], start: Collection[NodeId], *, upwards: bool
) -> dict[NodeId, dict[NodeId, tuple[Edge, ...]]]:
    """By node, the nodes that belong to it in the order in which they are drawn, with the edges between them."""
    found: dict[NodeId, dict[NodeId, list[Edge]]] = {}
    for edge in sorted(edges, key=_rank):
        if upwards:
            near, far = edge.target, edge.source
        else:
            near, far = edge.source, edge.target
        if upwards and edge.relation == "consumed_by" and edge.target not in start:
            near, far = far, near  # a page that was asked for: its readers are why it is known
        found.setdefault(near, {}).setdefault(far, []).append(edge)
    return {near: {far: tuple(between) for far, between in below.items()} for near, below in found.items()}


def _rank(edge: Edge) -> tuple[int, float, int, NodeId, NodeId]:
    if edge.relation in _ORDER:
        order = _ORDER.index(edge.relation)
    else:
        order = len(_ORDER)
    return order, -edge.confidence, edge.at_ms, edge.source, edge.target

"""Where the boxes of a picture stand: in layers from left to right, so that arrows run forwards and cross seldom.

Owns the four steps of layered drawing: arrows that close a circle are turned round, each box gets a layer, the order within
layers is sorted by where neighbours stand, and then the places are found. Must not know what boxes hold or how they look.
Source: Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", 1981.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

_SWEEPS = 8
_SETTLING = 6
_WAY_HEIGHT = 14.0
"""Room for an arrow that passes between boxes."""
_MOST_POINTS = 6_000
"""Longer arrows than fit into so many points are drawn straight."""


class Size(NamedTuple):
    """Width and height."""

    width: float
    height: float


class Spot(NamedTuple):
    """The middle of a box, or a point of an arrow."""

    x: float
    y: float


class Layout(msgspec.Struct, frozen=True):
    """The middle of each box, the points through which each arrow runs (its ends among them), and the size of it all."""

    spots: tuple[Spot, ...]
    ways: tuple[tuple[Spot, ...], ...]
    size: Size


def lay_out(
    sizes: Sequence[Size], arrows: Sequence[tuple[int, int]], *, gap_x: float = 70, gap_y: float = 18
) -> Layout:
    """Find a place for each box and a way for each arrow.

    Args:
        sizes: those of the boxes. arrows: source and target, as positions among the boxes.
        gap_x: room between layers. gap_y: room between the boxes of a layer.
    """
    forward = _acyclic(len(sizes), arrows)
    ranks = _ranks(len(sizes), forward)
    net = _Net(sizes, forward, ranks)
    net.sort()
    return net.placed(arrows, gap_x, gap_y)


def _acyclic(count: int, arrows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The arrows, those turned round that would lead back to where one came from; none from a box to itself."""
    below: list[list[int]] = [[] for _ in range(count)]
    for source, target in arrows:
        below[source].append(target)
    state = [0] * count  # 0 not seen, 1 on the way, 2 done
    back: set[tuple[int, int]] = set()
    for root in range(count):
        if state[root]:
            continue
        state[root] = 1
        way = [(root, iter(below[root]))]
        while way:
            node, rest = way[-1]
            for target in rest:
                if state[target] == 1:
                    back.add((node, target))
                elif state[target] == 0:
                    state[target] = 1
                    way.append((target, iter(below[target])))
                    break
            else:
                state[node] = 2
                way.pop()
    turned = [(target, source) if (source, target) in back else (source, target) for source, target in arrows]
    return [(source, target) for source, target in dict.fromkeys(turned) if source != target]


def _ranks(count: int, arrows: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of each box: one after the last of those that lead to it, and close before what it leads to."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for source, target in arrows:
        below[source].append(target)
        above[target].append(source)
    order = _topological(above, below)
    ranks = [0] * count
    for node in order:
        ranks[node] = max((ranks[source] + 1 for source in above[node]), default=0)
    for node in reversed(order):
        if below[node]:
            nearest = min(ranks[target] for target in below[node]) - 1
            lowest = max((ranks[source] + 1 for source in above[node]), default=0)
            ranks[node] = max(nearest, lowest) if len(below[node]) >= len(above[node]) else ranks[node]
    least = min(ranks, default=0)
    return [rank - least for rank in ranks]


def _topological(above: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> list[int]:
    waiting_for = [len(sources) for sources in above]
    ready = [node for node, number in enumerate(waiting_for) if number == 0]
    order: list[int] = []
    while ready:
        node = ready.pop()
        order.append(node)
        for target in below[node]:
            waiting_for[target] -= 1
            if waiting_for[target] == 0:
                ready.append(target)
    return order


class _Net:
    """The boxes and, where an arrow passes a layer, a point of it in that layer. All of them are nodes here."""

    def __init__(self, sizes: Sequence[Size], arrows: Sequence[tuple[int, int]], ranks: Sequence[int]) -> None:
        self._boxes = len(sizes)
        self.sizes = list(sizes)
        self.ranks = list(ranks)
        self.chains: dict[tuple[int, int], list[int]] = {}
        for source, target in arrows:
            self.chains[source, target] = [source, *self._points(source, target), target]
        self.above: list[list[int]] = [[] for _ in self.sizes]
        self.below: list[list[int]] = [[] for _ in self.sizes]
        for chain in self.chains.values():
            for one, next_ in pairwise(chain):
                self.below[one].append(next_)
                self.above[next_].append(one)
        self.layers: list[list[int]] = [[] for _ in range(max(self.ranks, default=-1) + 1)]
        for node, rank in enumerate(self.ranks):
            self.layers[rank].append(node)

    def _points(self, source: int, target: int) -> list[int]:
        points: list[int] = []
        for rank in range(self.ranks[source] + 1, self.ranks[target]):
            if len(self.sizes) >= _MOST_POINTS:
                break
            points.append(len(self.sizes))
            self.sizes.append(Size(0, _WAY_HEIGHT))
            self.ranks.append(rank)
        return points

    # The order within layers ----------------------------------------------------------------------------------------

    def sort(self) -> None:
        """Sort each layer by where the neighbours of its nodes stand, forwards and backwards, and keep the best order."""
        best, fewest = [list(layer) for layer in self.layers], self._crossings()
        for sweep in range(_SWEEPS):
            if fewest == 0:
                break
            forwards = sweep % 2 == 0
            for layer in self.layers[1:] if forwards else reversed(self.layers[:-1]):
                self._sort_layer(layer, self.above if forwards else self.below)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(layer) for layer in self.layers], crossings
        self.layers = best

    def _sort_layer(self, layer: list[int], beside: Sequence[Sequence[int]]) -> None:
        position = {node: place for other in self.layers for place, node in enumerate(other)}
        here = {node: place for place, node in enumerate(layer)}

        def middle(node: int) -> float:
            places = [position[other] for other in beside[node]]
            if places:
                return sum(places) / len(places)
            return here[node]

        layer.sort(key=lambda node: (middle(node), here[node]))

    def _crossings(self) -> int:
        """How many pairs of arrows cross: for each layer, how many pairs of ends are in the wrong order."""
        return sum(self._crossings_after(rank) for rank in range(len(self.layers) - 1))

    def _crossings_after(self, rank: int) -> int:
        position = {node: place for place, node in enumerate(self.layers[rank + 1])}
        ends = [
            place
            for node in self.layers[rank]
            for place in sorted(position[other] for other in self.below[node] if other in position)
        ]
        return _inversions(ends, len(position))

    # Places ---------------------------------------------------------------------------------------------------------

    def placed(self, arrows: Sequence[tuple[int, int]], gap_x: float, gap_y: float) -> Layout:
        """The places of boxes and the ways of arrows."""
        columns, width = self._columns(gap_x)
        rows = self._rows(gap_y)
        top = min((rows[node] - size.height / 2 for node, size in enumerate(self.sizes)), default=0.0)
        spots = [Spot(columns[self.ranks[node]], rows[node] - top) for node in range(len(self.sizes))]
        height = max((spots[node].y + size.height / 2 for node, size in enumerate(self.sizes)), default=0.0)
        ways = tuple(self._way(arrow, spots) for arrow in arrows)
        return Layout(tuple(spots[: self._boxes]), ways, Size(width, height))

    def _columns(self, gap: float) -> tuple[list[float], float]:
        """The middle of each layer, and how wide all are."""
        x, middles = 0.0, []
        for layer in self.layers:
            width = max((self.sizes[node].width for node in layer), default=0.0)
            middles.append(x + width / 2)
            x += width + gap
        return middles, max(x - gap, 0.0)

    def _rows(self, gap: float) -> list[float]:
        """How far down each node is: near the middle of its neighbours, as far as those beside it leave room."""
        rows = [0.0] * len(self.sizes)
        for layer in self.layers:
            self._stack(layer, [0.0] * len(layer), rows, gap)
        for turn in range(_SETTLING):
            if turn % 2 == 0:
                beside = self.above
            else:
                beside = self.below
            for layer in self.layers if turn % 2 == 0 else reversed(self.layers):
                wanted = [
                    sum(rows[other] for other in beside[node]) / len(beside[node]) if beside[node] else rows[node]
                    for node in layer
                ]
                self._stack(layer, wanted, rows, gap)
        return rows

    def _stack(self, layer: Sequence[int], wanted: Sequence[float], rows: list[float], gap: float) -> None:
        """Put the nodes of a layer where they want to be; those that would overlap become one block about their middle."""
        blocks: list[tuple[float, float, list[int]]] = []  # the top that is wanted, the height, the nodes
        for node, middle in zip(layer, wanted, strict=True):
            height = self.sizes[node].height + gap
            top, block = middle - height / 2, [node]
            while blocks and blocks[-1][0] + blocks[-1][1] > top:
                before, tall, nodes = blocks.pop()
                # Each part wants its own top; the whole takes the mean, by the number of nodes.
                top = (before * len(nodes) + (top - tall) * len(block)) / (len(nodes) + len(block))
                height, block = tall + height, nodes + block
            blocks.append((top, height, block))
        for top, _, nodes in blocks:
            y = top
            for node in nodes:
                height = self.sizes[node].height + gap
                rows[node] = y + height / 2
                y += height

    def _way(self, arrow: tuple[int, int], spots: Sequence[Spot]) -> tuple[Spot, ...]:
        source, target = arrow
        if arrow in self.chains:
            return tuple(spots[node] for node in self.chains[arrow])
        if (target, source) in self.chains:
            return tuple(spots[node] for node in reversed(self.chains[target, source]))
        return (spots[source], spots[target])


def _inversions(values: Sequence[int], most: int) -> int:
    """How many pairs are in the wrong order, counted with a Fenwick tree."""
    tree = [0] * (most + 1)
    found = 0
    for seen, value in enumerate(values):
        at, not_greater = value + 1, 0
        while at:
            not_greater += tree[at]
            at &= at - 1
        found += seen - not_greater
        at = value + 1
        while at <= most:
            tree[at] += 1
            at += at & -at
    return found

"""Walks over graphs of every shape, cycles and crowds among them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.walk import Around, Cut, CutReason, Edge, Limits, NodeId, NodeKind, Walked, walk, without

PLENTY = 1000


def node(number: int) -> NodeId:
    return NodeId(NodeKind.STEP, number)


def edge(source: int, target: int, *, confidence: float = 1.0, is_end: bool = False) -> Edge:
    return Edge(source=node(source), target=node(target), relation="led to", confidence=confidence, is_end=is_end)


class Net:
    """A graph, asked for what follows from a node; it remembers what it was asked."""

    def __init__(self, edges: Sequence[Edge], *, missing: frozenset[int] = frozenset(), seed: int = 0) -> None:
        self.edges = list(edges)
        random.Random(seed).shuffle(self.edges)
        self.missing = missing
        self.asked: list[NodeId] = []
        self.rounds = 0

    def __call__(self, nodes: Sequence[NodeId]) -> Mapping[NodeId, Around]:
        self.asked += nodes
        self.rounds += 1
        return {one: self.around(one) for one in nodes if one.id not in self.missing}

    def around(self, one: NodeId) -> Around:
        return Around([edge for edge in self.edges if edge.source == one])

    def walk(self, depth: int = PLENTY, most_nodes: int = PLENTY, most_edges: int = PLENTY) -> Walked:
        return walk([node(0)], self, Limits(depth=depth, nodes=most_nodes, edges_a_node=most_edges))


nets = st.lists(
    st.builds(
        edge,
        st.integers(0, 9),
        st.integers(0, 9),
        confidence=st.sampled_from([0.2, 0.5, 1.0]),
        is_end=st.booleans(),
    ),
    max_size=40,
    unique_by=lambda one: (one.source, one.target),
)
small = st.integers(0, 4)


def reachable(edges: Sequence[Edge], depth: int = PLENTY) -> set[NodeId]:
    """What can be reached, worked out in the most simple way: round by round, until nothing changes."""
    found, open_ = {node(0)}, {node(0)}
    for _ in range(min(depth, len(edges) + 1)):
        out = [edge for edge in edges if edge.source in open_]
        found |= {edge.target for edge in out}
        open_ |= {edge.target for edge in out if not edge.is_end}
    return found


@given(nets)
def test_without_limits_a_walk_finds_what_can_be_reached_and_nothing_else(edges: list[Edge]) -> None:
    walked = Net(edges).walk()
    assert set(walked.nodes) == reachable(edges)
    assert walked.cuts == ()


@given(nets, small)
def test_a_walk_to_a_depth_finds_what_is_so_near(edges: list[Edge], depth: int) -> None:
    walked = Net(edges).walk(depth=depth)
    assert set(walked.nodes) == reachable(edges, depth)
    assert all(distance <= depth for distance in walked.nodes.values())


@given(nets, small, st.integers(1, 6), st.integers(1, 3))
def test_no_node_is_asked_for_twice_and_each_distance_at_once(
    edges: list[Edge], depth: int, most_nodes: int, most_edges: int
) -> None:
    net = Net(edges)
    net.walk(depth, most_nodes, most_edges)
    assert len(net.asked) == len(set(net.asked))
    assert net.rounds <= depth + 1


@given(nets, small, st.integers(1, 6), st.integers(0, 3))
def test_the_limits_hold(edges: list[Edge], depth: int, most_nodes: int, most_edges: int) -> None:
    walked = Net(edges).walk(depth, most_nodes, most_edges)
    assert len(walked.nodes) <= most_nodes
    followed = [edge.source for edge in walked.edges]
    assert all(followed.count(one) <= most_edges for one in walked.nodes)
    assert {one for edge in walked.edges for one in (edge.source, edge.target)} <= set(walked.nodes)


@given(nets, small, st.integers(1, 6), st.integers(0, 3))
def test_whatever_was_left_out_is_marked(edges: list[Edge], depth: int, most_nodes: int, most_edges: int) -> None:
    net = Net(edges)
    walked = net.walk(depth, most_nodes, most_edges)
    there = {(edge.source, edge.target) for edge in walked.edges}
    cut = {cut.node for cut in walked.cuts}
    for one in net.asked:
        left_out = {edge.target for edge in net.around(one).edges if (one, edge.target) not in there}
        assert not left_out or one in cut
    if not walked.cuts:
        assert set(walked.nodes) == reachable(edges)


@given(nets, small, st.integers(1, 6), st.integers(1, 3), st.integers(1, 99))
def test_the_order_of_neighbours_does_not_matter(
    edges: list[Edge], depth: int, most_nodes: int, most_edges: int, seed: int
) -> None:
    here, there = (Net(edges, seed=seed).walk(depth, most_nodes, most_edges) for seed in (0, seed))
    assert list(here.nodes.items()) == list(there.nodes.items())
    assert here.edges == there.edges
    assert here.cuts == there.cuts


def test_of_too_many_edges_those_that_lead_on_are_followed_first_and_the_rest_is_counted() -> None:
    edges = [
        edge(0, 1, is_end=True),
        edge(0, 2, confidence=0.3),
        edge(0, 3, confidence=0.9),
        edge(0, 4, confidence=0.5),
    ]
    walked = Net(edges).walk(most_edges=2)
    assert [edge.target for edge in walked.edges] == [node(3), node(4)]
    assert walked.cuts == (Cut(node=node(0), why=CutReason.FAN_OUT, shown=2, total=4),)


def test_edges_that_were_not_even_given_are_counted_too() -> None:
    walked = walk(
        [node(0)],
        lambda nodes: {one: Around([edge(0, 1)], 10_000) if one == node(0) else Around() for one in nodes},
        Limits(depth=1, nodes=9, edges_a_node=9),
    )
    assert walked.cuts == (Cut(node=node(0), why=CutReason.FAN_OUT, shown=1, total=10_000),)


def test_a_circle_is_gone_round_once() -> None:
    walked = Net([edge(0, 1), edge(1, 2), edge(2, 0), edge(1, 1)]).walk()
    assert len(walked.edges) == 4
    assert walked.cuts == ()


def test_a_node_that_is_not_there_is_marked() -> None:
    walked = Net([edge(0, 1)], missing=frozenset({1})).walk()
    assert walked.cuts == (Cut(node=node(1), why=CutReason.MISSING),)


def test_a_node_is_gone_on_from_if_any_edge_allows_it() -> None:
    edges = [edge(0, 1, is_end=True), edge(0, 2), edge(2, 1), edge(1, 3)]
    assert set(Net(edges).walk().nodes) == {node(number) for number in range(4)}
    assert set(Net([*edges[:2], edge(1, 3)]).walk().nodes) == {node(number) for number in range(3)}


def test_a_walk_may_begin_in_several_places() -> None:
    net = Net([edge(0, 1), edge(5, 6)])
    walked = walk([node(5), node(0), node(5)], net, Limits(depth=3, nodes=9, edges_a_node=9))
    assert walked.nodes == {node(5): 0, node(0): 0, node(6): 1, node(1): 1}


def test_what_is_less_sure_than_asked_for_is_counted_and_not_followed() -> None:
    start = NodeId(NodeKind.STEP, 1)
    sure, unsure = NodeId(NodeKind.ARTIFACT, 2), NodeId(NodeKind.ARTIFACT, 3)
    edges = [
        Edge(source=sure, target=start, relation="consumed_by", confidence=0.4),
        Edge(source=unsure, target=start, relation="consumed_by", confidence=0.39),
    ]
    found = walk(
        [start],
        lambda nodes: {node: Around(edges if node == start else ()) for node in nodes},
        Limits(depth=3, nodes=10, edges_a_node=10, least_confidence=0.4),
    )
    assert set(found.nodes) == {start, sure}
    assert found.cuts == (Cut(node=start, why=CutReason.UNSURE, shown=0, total=1),)


def test_guesses_are_followed_when_all_that_is_known_was_found() -> None:
    """Causes first: what a model had only been shown takes no node from the chain that leads to the prompt."""
    words = ("start", "call", "prompt", "session", "guess", "behind")
    names = {name: node(number) for number, name in enumerate(words)}

    def leads(source: str, target: str, *, via: str = "command") -> Edge:
        return Edge(source=names[source], target=names[target], relation="r", evidence={"via": via})

    edges = [
        leads("guess", "start", via="model; 20 of 45"),
        leads("call", "start"),
        leads("prompt", "call"),
        leads("session", "prompt"),
        leads("behind", "guess"),
    ]

    def causes(nodes: Sequence[NodeId]) -> Mapping[NodeId, Around]:
        return {node: Around([one for one in edges if one.target == node]) for node in nodes}

    four = walk([names["start"]], causes, Limits(nodes=4))
    assert list(four.nodes) == [names[name] for name in ("start", "call", "prompt", "session")]
    assert [(cut.node, cut.why, cut.shown, cut.total) for cut in four.cuts] == [(names["start"], CutReason.NODES, 1, 2)]
    assert set(walk([names["start"]], causes, Limits()).nodes) == set(names.values())


def test_what_only_a_dropped_edge_led_to_is_dropped_with_it() -> None:
    start, near, far = map(node, range(3))
    first, second = (Edge(source=a, target=b, relation="r") for a, b in ((near, start), (far, near)))
    whole = Walked({start: 0, near: 1, far: 2}, (first, second), (Cut(node=far, why=CutReason.MISSING),))
    assert without(whole, [start], []) == whole
    assert without(whole, [start], [second]) == Walked({start: 0, near: 1}, (first,), ())

"""Walks as trees."""

from __future__ import annotations

from hypothesis import given

from tallystick.lineage.drawing_tree import Row, rows
from tallystick.lineage.walk import Cut, CutReason, Edge, Limits, NodeId, NodeKind, walk
from tests.lineage.test_walk import Net, edge, nets, node


def drawn(edges: list[Edge], *, depth: int = 99, most_edges: int = 99) -> list[Row]:
    walked = walk([node(0)], Net(edges), Limits(depth=depth, nodes=99, edges_a_node=most_edges))
    return list(rows([node(0)], walked.edges, walked.cuts, upwards=False))


def told(found: list[Row]) -> list[str]:
    return [
        f"{row.lines}{row.cut.why.value if row.cut else row.node.id}{' again' if row.is_repeat else ''}"
        for row in found
    ]


@given(nets)
def test_each_node_has_one_row_of_its_own_and_each_edge_is_on_one_row(edges: list[Edge]) -> None:
    walked = walk([node(0)], Net(edges), Limits(depth=99, nodes=99, edges_a_node=99))
    found = list(rows([node(0)], walked.edges, walked.cuts, upwards=False))
    own = [row.node for row in found if not row.is_repeat]
    assert sorted(own) == sorted(walked.nodes)
    shown = [edge for row in found for edge in row.edges]
    assert sorted(shown, key=repr) == sorted(walked.edges, key=repr)


@given(nets)
def test_a_tree_is_no_deeper_than_its_nodes_are_far(edges: list[Edge]) -> None:
    walked = walk([node(0)], Net(edges), Limits(depth=99, nodes=99, edges_a_node=99))
    for row in rows([node(0)], walked.edges, walked.cuts, upwards=False):
        if not row.is_repeat:
            assert row.depth <= walked.nodes[row.node]
        assert len(row.lines) == 3 * row.depth


def test_lines_join_what_hangs_together() -> None:
    assert told(drawn([edge(0, 1), edge(0, 2), edge(1, 3), edge(1, 4), edge(2, 4)])) == [
        "0",
        "├─ 1",
        "│  ├─ 3",
        "│  └─ 4",
        "└─ 2",
        "   └─ 4 again",
    ]


def test_a_node_stands_where_it_is_nearest() -> None:
    assert told(drawn([edge(0, 1, confidence=1.0), edge(0, 2, confidence=0.5), edge(1, 2)])) == [
        "0",
        "├─ 1",
        "│  └─ 2 again",
        "└─ 2",
    ]


def test_a_cut_is_a_row_below_its_node() -> None:
    assert told(drawn([edge(0, 1), edge(1, 2)], depth=1)) == ["0", "└─ 1", "   └─ depth"]
    assert told(drawn([edge(0, 1), edge(0, 2)], most_edges=1)) == ["0", "├─ 1", "└─ fan-out"]


def test_upwards_the_sources_hang_on_what_came_of_them() -> None:
    found = list(rows([node(2)], [edge(1, 2)], [Cut(node=node(1), why=CutReason.DEPTH)], upwards=True))
    assert told(found) == ["2", "└─ 1", "   └─ depth"]


def test_a_session_that_only_began_with_the_prompt_above_it_has_no_row() -> None:
    session, first, second = (NodeId(NodeKind.SESSION, 0), NodeId(NodeKind.REQUEST, 1), NodeId(NodeKind.REQUEST, 2))
    edges = [
        Edge(source=first, target=node(5), relation="asked_for"),
        Edge(source=second, target=node(5), relation="asked_for"),
        Edge(source=session, target=first, relation="held"),
        Edge(source=session, target=second, relation="held"),
        Edge(source=first, target=session, relation="began"),
    ]
    found = rows([node(5)], edges, [], upwards=True)
    assert [(row.node, row.is_repeat) for row in found] == [
        (node(5), False),
        (first, False),
        (second, False),
    ]
    later = [edge for edge in edges if edge.source != first or edge.relation == "began"]
    found = rows([node(5)], later, [], upwards=True)
    assert [row.node for row in found] == [node(5), second, session, first]

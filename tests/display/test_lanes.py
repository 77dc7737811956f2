"""Lanes beside lines."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tallystick.display.lanes import NODE, Drawn, Node, drawn
from tests.support.cases import each


def nodes(*told: str) -> list[Node]:
    """Nodes, newest first, from `name: parents`."""
    found = []
    for one in told:
        name, _, parents = one.partition(":")
        found.append(Node(name, tuple(parents.split())))
    return found


def picture(*told: str, most: int = 16) -> list[str]:
    return [line for row in drawn(nodes(*told), most=most) for line in (*row.above, row.line.rstrip(), *row.below)]


def test_a_row_of_steps_is_one_lane() -> None:
    assert picture("c: b", "b: a", "a:") == ["●", "●", "●"]


def test_a_fork_joins_where_it_began() -> None:
    assert picture("right: a", "left: a", "a:") == ["●", "│ ●", "├─╯", "●"]


def test_three_ways_from_one_step() -> None:
    assert picture("d: a", "c: a", "b: a", "a:") == ["●", "│ ●", "│ │ ●", "├─┴─╯", "●"]


def test_a_merge_opens_a_lane_for_its_other_parent() -> None:
    assert picture("m: b c", "c: a", "b: a", "a:") == ["●", "├─╮", "│ ●", "● │", "├─╯", "●"]


def test_a_merge_of_three() -> None:
    assert picture("m: b c d", "d:", "c:", "b:") == ["●", "├─┬─╮", "│ │ ●", "│ ●", "●"]


def test_a_merge_with_a_lane_that_is_there_meets_it() -> None:
    assert picture("x: b", "m: c b", "c: b", "b:") == ["●", "│ ●", "├─┤", "│ ●", "├─╯", "●"]


def test_a_lane_between_is_crossed_not_joined() -> None:
    assert picture("x: a", "y: b", "z: a", "a:", "b:") == ["●", "│ ●", "│ │ ●", "├─┼─╯", "● │", "  ●"]


def test_a_parent_that_is_not_shown_draws_nothing() -> None:
    assert picture("c: nowhere", "b: a", "a: far away") == ["●", "●", "●"]


def test_what_is_too_wide_is_hinted_at() -> None:
    tips = [f"t{n}: a" for n in range(5)]
    assert picture(*tips, "a:", most=3) == ["●", "│ ●", "│ │ ●", "│ │ │ …●", "│ │ │ …●", "├─┴─┴─…", "●"]
    lanes = [row.lane for row in drawn(nodes(*tips, "a:"), most=3)]
    assert lanes == [0, 1, 2, 3, 4, 0]


def test_lanes_are_numbers_too() -> None:
    merge, c, b, a = drawn(nodes("m: b c", "c: a", "b: a", "a:"))
    assert (merge.lane, merge.joins, merge.parents, merge.open) == (0, (), (0, 1), (0, 1))
    assert (c.lane, c.parents) == (1, (1,))
    assert (b.lane, b.parents) == (0, (0,))
    assert (a.lane, a.joins, a.parents, a.open) == (0, (1,), (), ())


@st.composite
def graphs(draw: st.DrawFn) -> list[Node]:
    count = draw(st.integers(1, 30))
    found = []
    for number in range(count):
        below = st.integers(number + 1, count)  # the last of them is not there
        parents = draw(st.lists(below, max_size=4))
        found.append(Node(str(number), tuple(map(str, parents))))
    return found


@given(graphs(), st.integers(1, 8))
def test_every_edge_leads_down_its_lane_to_its_parent(graph: list[Node], most: int) -> None:
    rows = list(drawn(graph, most=most))
    lane_of = {node.name: row.lane for node, row in zip(graph, rows, strict=True)}
    awaited: dict[int, str] = {}
    for node, row in zip(graph, rows, strict=True):
        # Whoever waits for this node does so in its lane or in one that joins it here.
        assert {lane for lane, name in awaited.items() if name == node.name} <= {row.lane, *row.joins}
        awaited = {lane: name for lane, name in awaited.items() if name != node.name}
        assert row.lane not in awaited
        parents = list(dict.fromkeys(name for name in node.parents if name in lane_of))
        assert len(row.parents) == len(parents)
        for lane, name in zip(row.parents, parents, strict=True):
            assert awaited.setdefault(lane, name) == name
        assert set(row.open) == set(awaited)
    assert not awaited


@given(graphs(), st.integers(1, 8))
def test_a_row_has_one_node_and_is_no_wider_than_it_may_be(graph: list[Node], most: int) -> None:
    for row in drawn(graph, most=most):
        assert row.line.count(NODE) == 1
        assert all(len(line) <= 2 * most + 3 for line in (*row.above, row.line, *row.below))


@given(graphs())
def test_lines_meet(graph: list[Node]) -> None:
    """What leaves a line downwards is taken up by the next, and nothing else is."""
    lines = [line for row in drawn(graph, most=100) for line in _lines(row)]
    for upper, lower in itertools.pairwise(lines):
        width = max(len(upper), len(lower))
        for above, below in zip(upper.ljust(width), lower.ljust(width), strict=True):
            if above not in NODE and below not in NODE:
                assert (above in "│├┤┼┬╮╭╷") == (below in "│├┤┼┴╯╰╵"), lines


def _lines(row: Drawn) -> tuple[str, ...]:
    return (*row.above, row.line, *row.below)


@each("count", [10_000])
def test_a_long_row_with_many_forks_is_drawn(count: int) -> None:
    graph = [Node(str(n), (str(n + 1), str(n + 7))) for n in range(count)]
    rows = list(drawn(graph))
    assert len(rows) == count
    assert max(row.lane for row in rows) < 10

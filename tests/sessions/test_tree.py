from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.sessions.tree import Forest, Node, Standing, TreeRow
from tests.support.cases import each, each_case


def nodes(*lines: str) -> list[Node]:
    """`child<parent` seals, `child?parent` claims; older sessions first."""
    made = []
    for number, line in enumerate(lines):
        session, mark, parent = line.partition("<") if "<" in line else line.partition("?")
        made.append(
            Node(
                session=session,
                parent=parent or None,
                kind="child" if mark else "root",
                claimed=mark == "?",
                claimed_session=f"own {parent}" if mark == "?" else None,
                started=f"2026-01-02T03:04:{number:02}.000000Z",
            )
        )
    return made


FAMILY = Forest(nodes("a", "b<a", "c<a", "d<b", "e?b", "f<e", "x"))


def drawn(rows: list[TreeRow]) -> list[str]:
    return [row.lines + row.session for row in rows]


def test_all_trees_are_drawn_the_oldest_first() -> None:
    assert drawn(list(FAMILY.all_rows())) == ["a", "├─ b", "│  ├─ d", "│  └─ e", "│     └─ f", "└─ c", "x"]
    assert [row.depth for row in FAMILY.all_rows()] == [0, 1, 2, 2, 3, 1, 0]
    assert [row.standing for row in FAMILY.all_rows()].count(Standing.ASKED) == 2


def test_a_subtree_is_drawn_below_the_path_to_its_root() -> None:
    rows = list(FAMILY.rows("b"))
    assert drawn(rows) == ["a", "└─ b", "   ├─ d", "   └─ e", "      └─ f"]
    assert [row.standing.value for row in rows] == ["above", "asked", "below", "below", "below"]
    assert [row.depth for row in rows] == [0, 1, 2, 2, 3]
    assert [row.hidden for row in rows] == [1, 0, 0, 0, 0]


@each_case("depth, lines, hidden")
def test_only_so_many_levels_are_drawn_and_the_others_counted(depth: int, lines: list[str], hidden: list[int]) -> None:
    rows = list(FAMILY.rows("b", depth=depth))
    assert drawn(rows) == lines
    assert [row.hidden for row in rows] == hidden


def test_a_long_path_is_drawn_to_its_root() -> None:
    assert drawn(list(FAMILY.rows("f"))) == ["a", "└─ b", "   └─ e", "      └─ f"]
    assert drawn(list(FAMILY.rows("x"))) == ["x"]


def test_claims_are_marked() -> None:
    assert [row.session for row in FAMILY.all_rows() if row.claimed] == ["e"]


def test_a_parent_that_is_not_there_is_named_and_its_child_is_a_root() -> None:
    lost = Node(session="claims", claimed=True, claimed_session="own id", kind="child")
    forest = Forest([*nodes("seals<gone"), lost])
    assert [(row.session, row.missing_parent, row.claimed) for row in forest.all_rows()] == [
        ("seals", "gone", False),
        ("claims", "own id", True),
    ]
    assert all(row.missing_parent is None for row in FAMILY.all_rows())


@each_case("lines, drawing, circles")
def test_a_circle_is_cut_at_its_oldest_claim(lines: list[str], drawing: list[str], circles: list[str]) -> None:
    forest = Forest(nodes(*lines))
    rows = list(forest.all_rows())
    assert drawn(rows) == drawing
    assert [row.session for row in rows if row.in_circle] == circles
    assert [row.missing_parent for row in rows] == [None] * len(rows)


def test_of_two_nodes_for_one_session_the_older_counts() -> None:
    older, newer = Node(session="b", parent="a", started="1"), Node(session="b", started="2")
    assert Forest([newer, older, Node(session="a")]).children("a") == ("b",)


def test_a_session_that_is_not_in_the_forest_is_an_error() -> None:
    assert "a" in FAMILY
    assert "nobody" not in FAMILY
    with pytest.raises(KeyError):
        list(FAMILY.rows("nobody"))


def test_a_chain_of_ten_thousand_continuations_is_drawn() -> None:
    chain = Forest([Node(session=f"{n:05}", parent=f"{n - 1:05}" if n else None) for n in range(10_000)])
    assert chain.size("00000") == 9_999
    assert len(chain.path("09999")) == 10_000
    assert [row.hidden for row in chain.rows("05000", depth=1)][-2:] == [0, 4_998]


CHAIN = Forest([Node(session=f"{n:05}", parent=f"{n - 1:05}" if n else None) for n in range(10_000)])


def test_of_a_long_way_up_the_root_and_the_nearest_sessions_are_drawn() -> None:
    rows = list(CHAIN.rows("09999", depth=2))
    assert [(row.session, row.depth, row.skipped) for row in rows] == [
        ("00000", 0, 0),
        ("09997", 9_997, 9_996),
        ("09998", 9_998, 0),
        ("09999", 9_999, 0),
    ]
    assert drawn(rows) == ["00000", "└─ 09997", "   └─ 09998", "      └─ 09999"]
    assert rows[0].hidden == 9_996
    alone = list(CHAIN.rows("09999", depth=0))
    assert [(row.session, row.skipped) for row in alone] == [("00000", 0), ("09999", 9_998)]


def test_however_deep_a_session_hangs_little_is_drawn_before_its_name() -> None:
    rows = list(CHAIN.rows("00000"))
    assert len(rows) == 10_000
    assert max(len(row.lines) for row in rows) < 100
    assert max(len(row.lines) for row in CHAIN.rows("09999")) < 100
    assert rows[9].lines == "   " * 8 + "└─ "
    assert rows[9_999].lines.startswith("…  ")
    assert rows[9_999].lines.endswith("   └─ ")


@each("shape", ["star", "any"])
def test_ten_thousand_sessions_of_any_shape_are_each_drawn_once(shape: str) -> None:
    chance = random.Random(7)
    nodes = [
        Node(
            session=str(n), parent=str(0 if shape == "star" else chance.randrange(n)) if n else None, started=f"{n:05}"
        )
        for n in range(10_000)
    ]
    forest = Forest(nodes)
    assert sorted(row.session for row in forest.rows("0")) == sorted(node.session for node in nodes)
    assert [row.depth for row in forest.rows("0")] == [forest.depth(row.session) for row in forest.rows("0")]
    assert set(forest.subtree("0")) == {node.session for node in nodes}


NAMES = "abcdefgh"
ANY = st.lists(
    st.builds(
        Node,
        session=st.sampled_from(NAMES),
        parent=st.none() | st.sampled_from(NAMES + "z"),
        claimed=st.booleans(),
        started=st.none() | st.sampled_from("123"),
    ),
    max_size=12,
)


@given(ANY)
def test_every_session_is_drawn_once_whatever_the_nodes_say(some: list[Node]) -> None:
    forest = Forest(some)
    rows = list(forest.all_rows())
    assert sorted(row.session for row in rows) == sorted({node.session for node in some})
    for row in rows:
        path = forest.path(row.session)
        assert len(path) == row.depth + 1
        assert len(set(path)) == len(path)
        assert path[0] in forest.roots


@given(ANY, st.integers(0, 3))
def test_what_is_drawn_and_what_is_hidden_is_the_whole_tree(some: list[Node], depth: int) -> None:
    forest = Forest(some)
    for node in some:
        rows = list(forest.rows(node.session, depth=depth))
        assert len(rows) + sum(row.hidden for row in rows) == forest.size(forest.path(node.session)[0]) + 1
        assert [row.session for row in rows if row.standing is Standing.ASKED] == [node.session]


@given(ANY, st.none() | st.integers(0, 3))
def test_a_row_tells_how_deep_its_session_hangs_and_what_was_left_out_before_it(
    some: list[Node], depth: int | None
) -> None:
    forest = Forest(some)
    for node in some:
        above = [row for row in forest.rows(node.session, depth=depth) if row.standing is not Standing.BELOW]
        path = forest.path(node.session)
        assert [path.index(row.session) for row in above] == [row.depth for row in above]
        assert sum(row.skipped for row in above) == len(path) - len(above)
        steps = [later.depth - row.depth - 1 for row, later in itertools.pairwise(above)]
        assert [row.skipped for row in above] == [0, *steps]


@given(ANY)
def test_the_order_in_which_nodes_come_does_not_matter(some: list[Node]) -> None:
    by_session = list({node.session: node for node in some}.values())
    assert list(Forest(by_session).all_rows()) == list(Forest(reversed(by_session)).all_rows())

from __future__ import annotations

from tallystick.sessions.session_log import Event, EventMeta, TaintNode
from tallystick.sessions.session_taint import Blocks


def block(seq: int, name: str, *made_of: str) -> Event:
    meta = EventMeta(block_id=name, trust="untrusted", source="tool:web_fetch", related_blocks=made_of)
    return Event(type="security_block", seq=seq, meta=meta)


def blocks(*events: Event) -> Blocks:
    known = Blocks()
    for event in events:
        known.take(event)
    return known


def test_the_places_of_a_lineage_are_filled_where_they_are_known() -> None:
    known = blocks(block(13, "b0001"), block(20, "b0002", "b0001"))
    tree = TaintNode(block_id="b0002", tainted_by=(TaintNode(block_id="b0001"), TaintNode(block_id="b0009")))
    placed = known.placed(Event(type="security_static", meta=EventMeta(taint_lineage=(tree,))))
    assert placed.meta is not None
    [root] = placed.meta.taint_lineage
    assert (root.event_seq, root.depth) == (20, 0)
    assert [(node.event_seq, node.depth) for node in root.tainted_by] == [(13, 1), (0, 1)]


def test_a_place_that_is_given_stays() -> None:
    known = blocks(block(13, "b0001"))
    tree = TaintNode(block_id="b0001", event_seq=12, depth=3)
    placed = known.placed(Event(type="security_static", meta=EventMeta(taint_lineage=(tree,))))
    assert placed.meta is not None
    assert placed.meta.taint_lineage == (tree,)


def test_events_without_lineage_stay_the_same_object() -> None:
    event = Event(type="user", meta=EventMeta(model="m"))
    assert Blocks().placed(event) is event


def test_a_diamond_shows_what_both_sides_share_below_both() -> None:
    known = blocks(block(1, "a"), block(2, "b", "a"), block(3, "c", "a"), block(4, "d", "b", "c"))
    [tree] = known.lineage("d")
    assert [[below.block_id for below in side.tainted_by] for side in tree.tainted_by] == [["a"], ["a"]]
    assert [side.tainted_by[0].depth for side in tree.tainted_by] == [2, 2]


def test_a_circle_ends_where_it_would_begin_again() -> None:
    known = blocks(block(1, "a", "b"), block(2, "b", "a"), block(3, "c", "c"))
    [tree] = known.lineage("a")
    assert [node.block_id for node in tree.tainted_by] == ["b"]
    assert tree.tainted_by[0].tainted_by == ()
    assert known.lineage("c")[0].tainted_by == ()


def test_a_block_that_no_event_told_of_is_its_id() -> None:
    assert Blocks().lineage("b0007") == (TaintNode(block_id="b0007"),)


def test_a_tree_that_branches_without_end_is_cut() -> None:
    names = [f"b{number}" for number in range(60)]
    known = blocks(*[block(number + 1, name, *names[number + 1 :]) for number, name in enumerate(names)])

    def count(node: TaintNode) -> int:
        return 1 + sum(map(count, node.tainted_by))

    assert sum(map(count, known.lineage("b0"))) == 1_000


def test_the_oldest_blocks_are_forgotten() -> None:
    known = blocks(*[block(number, f"b{number}") for number in range(1, 10_002)])
    assert known.lineage("b1")[0].event_seq == 0
    assert known.lineage("b2")[0].event_seq == 2

from __future__ import annotations

from msgspec.structs import astuple

from tallystick.graph.content_tags import meaning
from tallystick.graph.graph import Graph
from tallystick.graph.projection.relation_builder import settle
from tallystick.graph.projection.statements import insertion
from tallystick.lineage.access import AGENT, Access
from tallystick.lineage.identity import thing_id
from tests.graph.making import TABLES

FILE = ("file", "file:///w/a")
THING = thing_id(*FILE)


def touch(graph: Graph, operation: str, at: int, *, request: int = 1) -> None:
    """One more access of the file, as a projection writes it."""
    access = Access(THING, at, at, 0, operation, AGENT, request, 0.9)
    graph.change(insertion("accesses", Access), astuple(access))
    graph.change("INSERT OR IGNORE INTO things VALUES (?, ?, ?)", (THING, *FILE))
    graph.change("INSERT OR IGNORE INTO unsettled VALUES (?)", (THING,))


def rows(graph: Graph) -> dict[str, list[tuple[object, ...]]]:
    return {table: sorted(graph.rows(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


def test_what_is_settled_twice_is_as_it_was(graph: Graph) -> None:
    touch(graph, "write", 10)
    touch(graph, "read", 20, request=2)
    assert settle(graph, meaning) == 1
    before = rows(graph)
    assert settle(graph, meaning) == 0
    graph.change("INSERT INTO unsettled VALUES (?)", (THING,))
    assert settle(graph, meaning) == 1
    assert rows(graph) == before


def test_an_earlier_write_that_is_told_later_moves_the_reads_after_it(graph: Graph) -> None:
    touch(graph, "write", 10)
    touch(graph, "read", 30, request=2)
    settle(graph, meaning)
    touch(graph, "write", 20, request=3)
    settle(graph, meaning)
    assert graph.rows("SELECT src_request, dst_request FROM links") == [(3, 2)]
    readers = graph.rows(
        "SELECT a.version FROM relations r JOIN artifacts a ON a.artifact_id = r.src_id WHERE r.relation_type = 'consumed_by'"
        " AND r.dst_kind = 'agent_event'"
    )
    assert readers == [(2,)]


def test_a_thing_of_which_nothing_is_left_leaves_nothing(graph: Graph) -> None:
    touch(graph, "write", 10)
    touch(graph, "read", 20, request=2)
    settle(graph, meaning)
    graph.change("DELETE FROM accesses")
    graph.change("INSERT INTO unsettled VALUES (?)", (THING,))
    settle(graph, meaning)
    assert rows(graph) == {table: [] for table in TABLES}


def test_more_things_than_fit_a_transaction_are_all_settled(graph: Graph) -> None:
    for n in range(900):
        name = ("file", f"file:///w/{n}")
        access = Access(thing_id(*name), n, n, 0, "write", AGENT, 1, 0.9)
        graph.change(insertion("accesses", Access), astuple(access))
        graph.change("INSERT INTO things VALUES (?, ?, ?)", (thing_id(*name), *name))
        graph.change("INSERT INTO unsettled VALUES (?)", (thing_id(*name),))
    assert settle(graph, meaning) == 900
    assert graph.rows("SELECT count(*) FROM artifacts") == [(900,)]
    assert graph.rows("SELECT * FROM unsettled") == []

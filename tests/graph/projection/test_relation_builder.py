from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from msgspec.structs import astuple

from tallystick.graph.content_tags import meaning
from tallystick.graph.graph import Graph
from tallystick.graph.projection import relation_builder
from tallystick.graph.projection.relation_builder import settle
from tallystick.graph.projection.risk_tags import Meaning
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


NAMES = [("file", f"file:///w/{name}") for name in "abc"]
THINGS = [thing_id(*name) for name in NAMES]


def pass_on(graph: Graph) -> None:
    """A step reads the first file and writes the second, another reads the second and writes the third."""
    for step, (source, target) in enumerate(itertools.pairwise(THINGS), 1):
        for k, (thing, operation) in enumerate(((source, "read"), (target, "write"))):
            access = Access(thing, step * 10 + k, step, k, operation, AGENT, 1, 0.9, evidence='{"step": 1}')
            graph.change(insertion("accesses", Access), astuple(access))
        graph.change("INSERT INTO flows VALUES (?, 1, ?, 0, 0.8, 'model')", (step, step))
    graph.change_many("INSERT INTO things VALUES (?, ?, ?)", [(thing_id(*name), *name) for name in NAMES])
    unsettle(graph, *THINGS)


def unsettle(graph: Graph, *things: int) -> None:
    graph.change_many("INSERT INTO unsettled VALUES (?)", [(thing,) for thing in things])


def derived(graph: Graph) -> list[tuple[object, ...]]:
    return graph.rows(
        "SELECT s.uri, t.uri FROM relations r JOIN artifacts s ON s.artifact_id = r.src_id"
        " JOIN artifacts t ON t.artifact_id = r.dst_id"
        " WHERE r.relation_type = 'derived_from' AND r.src_kind = 'artifact' ORDER BY 1, 2"
    )


def test_what_flowed_is_the_same_however_few_things_are_settled_together(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_on(graph)
    settle(graph, meaning)
    together = rows(graph)
    assert derived(graph) == [("file:///w/a", "file:///w/b"), ("file:///w/b", "file:///w/c")]
    graph.change("DELETE FROM relations")
    unsettle(graph, *THINGS)
    monkeypatch.setattr(relation_builder, "_ROWS_A_CHUNK", 1)
    settle(graph, meaning)
    assert rows(graph) == together


@pytest.mark.parametrize("number", range(3))
def test_what_flows_no_more_leaves_no_relation_whichever_end_is_settled(graph: Graph, number: int) -> None:
    pass_on(graph)
    settle(graph, meaning)
    before = derived(graph)
    unsettle(graph, THINGS[number])
    settle(graph, meaning)
    assert derived(graph) == before
    graph.change("DELETE FROM flows")
    unsettle(graph, THINGS[number])
    settle(graph, meaning)
    assert derived(graph) == [pair for pair in before if NAMES[number][1] not in pair]


def test_few_things_with_much_to_do_are_settled_a_few_at_a_time(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in memory together does not grow with how often files are touched."""
    pass_on(graph)
    monkeypatch.setattr(relation_builder, "_ROWS_A_CHUNK", 2)
    seen: list[int] = []
    alone = relation_builder._settle_alone

    def settled(graph: Graph, things: Sequence[int], meaning: Meaning) -> None:
        seen.append(len(things))
        alone(graph, things, meaning)

    monkeypatch.setattr(relation_builder, "_settle_alone", settled)
    settle(graph, meaning)
    assert sorted(seen) in ([1, 1, 1], [1, 2])

"""The table of alerts: rows and anchor together, or neither."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.errors import UsageError
from tallystick.graph.alerts import (
    AlertFilter,
    alert_at,
    append,
    chain_head,
    get_alert,
    list_alerts,
    project_alerts,
    read_anchor,
    reviews_of,
)
from tallystick.graph.graph import Graph, GraphError
from tallystick.graph.project import project
from tallystick.graph.session_ids import step_id_of
from tallystick.seal.alert_chain import GENESIS, Anchor, Finding, Link, Sealed, chain_order
from tests.graph.making import Session
from tests.support.alerting import lay_tables
from tests.support.graphs import new_graph


@pytest.fixture
def alarmed(tmp_path: Path) -> Iterator[Graph]:
    """An index with the tables of alerts."""
    with new_graph(tmp_path / "graph.db") as graph:
        lay_tables(graph)
        yield graph


def links(count: int, *, head: str = GENESIS, severity: str = "low", start: int = 0) -> list[Link]:
    made = [
        Sealed(
            order=(f"{start + number:03}", "s", start + number),
            prev_hash="",
            entry_hash="",
            finding=Finding(severity=severity, action="ask", rule_id="r", message=str(start + number), created_at=1),
        )
        for number in range(count)
    ]
    return list(chain_order(made, head=head))


def appended(graph: Graph, made: list[Link]) -> None:
    graph.begin()
    append(graph, made)
    graph.commit()


def test_the_anchor_moves_with_every_append(alarmed: Graph) -> None:
    assert (read_anchor(alarmed), chain_head(alarmed)) == (None, GENESIS)
    first = links(2)
    appended(alarmed, first)
    assert read_anchor(alarmed) == Anchor(first[-1].entry_hash, 2)
    second = links(1, head=chain_head(alarmed), start=2)
    appended(alarmed, second)
    assert read_anchor(alarmed) == Anchor(second[-1].entry_hash, 3)
    appended(alarmed, [])
    assert read_anchor(alarmed) == Anchor(second[-1].entry_hash, 3)


def test_rows_that_cannot_all_be_written_leave_rows_and_anchor_as_they_were(alarmed: Graph) -> None:
    appended(alarmed, links(1))
    before = read_anchor(alarmed)
    with pytest.raises(GraphError):
        appended(alarmed, [*links(1, start=1), *links(1, severity="dreadful", start=2)])
    alarmed.roll_back()
    assert alarmed.row("SELECT count(*) FROM alerts") == (1,)
    assert read_anchor(alarmed) == before


def test_an_index_without_alerts_has_nothing_to_do_and_takes_no_lock(alarmed: Graph) -> None:
    session = Session()
    session.begin()
    session.add("alert", text="no alert of ours")
    project(alarmed, [session.journal()])
    steps = {line.offset: line.step for line in session.lines}
    assert project_alerts(alarmed, lambda _, offset: steps[offset]) == 0
    assert list_alerts(alarmed, AlertFilter()) == ()
    assert not alarmed.in_transaction


def test_a_row_without_a_step_is_listed_and_says_so(alarmed: Graph) -> None:
    appended(alarmed, links(2))
    newest, _ = list_alerts(alarmed, AlertFilter())
    assert (newest.alert_id, newest.message, newest.session, newest.n, newest.reviews) == (2, "1", None, None, 0)
    assert get_alert(alarmed, 2) == newest
    assert get_alert(alarmed, 3) is None
    assert alert_at(alarmed, "5e" * 16, 1) is None
    assert reviews_of(alarmed, "5e" * 16, 1) == ()


def test_a_severity_means_that_and_worse(alarmed: Graph) -> None:
    for start, severity in enumerate(("info", "critical", "medium")):
        appended(alarmed, links(1, head=chain_head(alarmed), severity=severity, start=start))
    found = list_alerts(alarmed, AlertFilter(severity="medium"))
    assert [entry.severity for entry in found] == ["medium", "critical"]


def test_a_time_that_is_none_is_a_fault_of_who_asks(alarmed: Graph) -> None:
    with pytest.raises(UsageError):
        list_alerts(alarmed, AlertFilter(since="soon"))


def test_the_id_of_a_step_is_known_before_it_is_projected(alarmed: Graph) -> None:
    session = Session()
    session.begin()
    session.prompt("Do it.")
    project(alarmed, [session.journal()])
    assert alarmed.row("SELECT id FROM steps WHERE n = 1") == (step_id_of(session.sid, 1),)

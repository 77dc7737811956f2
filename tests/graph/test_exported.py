"""What the index hands to formats that show the graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.exports.lineage import Lineage
from tallystick.graph.exported import session_lineage
from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tests.graph.making import Session, sid_of
from tests.support.graphs import new_graph


def copying(name: str, source: str, target: str, start: float) -> Session:
    session = Session(name, start=start)
    session.begin()
    session.prompt(f"Copy {source}")
    session.add(
        "tool_call", {"tool": "Bash", "corr": name, "request": 1}, args={"command": f"cp {source} {target}"}, cwd="/w"
    )
    session.add("tool_result", {"tool": "Bash", "corr": name, "request": 1, "success": True})
    return session


@pytest.fixture
def index(graph: Graph) -> Graph:
    first, second = copying("one", "/w/a", "/w/b", 0), copying("two", "/w/b", "/w/c", 100)
    project(graph, [first.journal(), second.journal()])
    return graph


def test_a_session_has_its_edges_and_what_its_versions_come_from(index: Graph) -> None:
    found = session_lineage(index, sid_of("two"))
    uris = {version.id: version.uri for version in found.artifacts}
    derived = {
        (uris[edge.source.id], uris[edge.target.id])
        for edge in found.edges
        if edge.relation == "derived_from" and edge.source.kind == "artifact"
    }
    assert derived == {("file:///w/a", "file:///w/b"), ("file:///w/b", "file:///w/c")}
    requests = [edge for edge in found.edges if edge.relation == "derived_from" and edge.source.kind == "request"]
    assert [((edge.source.session, edge.source.n), (edge.target.session, edge.target.n)) for edge in requests] == [
        ((sid_of("one"), 1), (sid_of("two"), 1))
    ]
    makers = {version.uri: version.made_by for version in found.artifacts if version.made_by is not None}
    assert {(uri, maker.session, maker.n) for uri, maker in makers.items()} == {
        ("file:///w/b", sid_of("one"), 2),
        ("file:///w/c", sid_of("two"), 2),
    }


def test_every_edge_names_nodes_that_are_known(index: Graph) -> None:
    for name in ("one", "two"):
        found = session_lineage(index, sid_of(name))
        known = {version.id for version in found.artifacts}
        for edge in found.edges:
            for node in (edge.source, edge.target):
                assert (node.id in known) if node.kind == "artifact" else len(node.session) == 32


def test_it_does_not_depend_on_what_was_projected_first(index: Graph, tmp_path: Path) -> None:
    with new_graph(tmp_path / "other.db") as other:
        project(other, [copying("two", "/w/b", "/w/c", 100).journal()])
        project(other, [copying("one", "/w/a", "/w/b", 0).journal()])
        for name in ("one", "two"):
            assert session_lineage(other, sid_of(name)) == session_lineage(index, sid_of(name))


def test_an_unknown_session_has_none(index: Graph) -> None:
    assert session_lineage(index, "0" * 32) == Lineage()

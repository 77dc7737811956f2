"""How the graph is read: by its indexes, and never all of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tallystick.graph.downstream import Downstream
from tallystick.graph.graph import Graph, Mode, Row
from tallystick.graph.nodes import describe
from tallystick.graph.relating import Ends, edge_of, evidence_of, related
from tallystick.graph.upstream import Upstream
from tallystick.lineage.walk import Limits, NodeId, NodeKind, walk
from tests.graph.weaving import Weave
from tests.support.cases import each


class Watched(Graph):
    """An index that remembers what was asked of it."""

    def __init__(self, path: Path) -> None:
        self.asked: dict[str, Sequence[object]] = {}
        super().__init__(path, Mode.WRITE)

    def __enter__(self) -> Watched:
        return self

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        self.asked[sql] = values
        return super().rows(sql, values)

    def row(self, sql: str, values: Sequence[object] = ()) -> Row | None:
        self.asked[sql] = values
        return super().row(sql, values)


def ask_everything(graph: Graph) -> None:
    """Walks both ways from nodes of every kind, through all that the rows of a graph can say."""
    weave = Weave(graph)
    root = weave.session("root")
    prompt = root.prompt("Do it.")
    call = root.call("Bash", corr="toolu_1")
    allowed = root.add("permission", corr="toolu_1")
    root.event(allowed, "PermissionRequest", "toolu_1")
    result = root.add("tool_result", corr="toolu_1")
    a = root.reads(call, "file:///w/a")
    b = root.writes(call, "file:///w/b")
    weave.flow(a, b)
    c = root.changes(call, "file:///w/b")
    effect = root.effect("modify", "/w/b")
    weave.relate(("artifact", a), "consumed_by", ("agent_event", root.first_id + result), operation="execute")
    weave.relate(("agent_event", root.first_id + call), "caused", ("system_event", root.first_id + effect))
    child = weave.session("child", kind="child", parent=(root, call))
    claimed = weave.session("claimed", kind="child", claimed=("root", "toolu_1"))
    merge = root.add("merge")
    root.edge(merge, "merge", parent=(child, 0))
    for number in range(401):
        weave.relate(("artifact", b), "consumed_by", ("agent_event", 10**9 + number))
    start = [NodeId(NodeKind.ARTIFACT, version) for version in (a, b, c)]
    start += [root.step(n) for n in (call, allowed, result, effect, merge)]
    start += [root.prompt_node(prompt), root.node, child.node, claimed.node]
    for direction in (Upstream, Downstream):
        walked = walk(start, direction(graph, start), Limits(depth=8, nodes=999, edges_a_node=999))
        describe(graph, walked.nodes)


def test_no_question_reads_a_whole_table(tmp_path: Path) -> None:
    with Watched(tmp_path / "graph.db") as graph:
        ask_everything(graph)
        asked = {sql: values for sql, values in graph.asked.items() if "PRAGMA" not in sql and "sqlite_" not in sql}
        assert len(asked) > 20
        for sql, values in asked.items():
            plan = [row[3] for row in graph.rows(f"EXPLAIN QUERY PLAN {sql}", values)]
            scans = [line for line in plan if re.match(r"SCAN (?!i\b|\(subquery|CONSTANT)", line)]
            assert scans == [], (sql, plan)
            assert any("SEARCH" in line for line in plan), sql


@pytest.fixture
def weave(graph: Graph) -> Weave:
    return Weave(graph)


def test_of_each_node_no_more_than_its_share_is_read_and_the_rest_is_counted(weave: Weave) -> None:
    for number in range(450):
        weave.relate(("artifact", 1), "consumed_by", ("agent_event", number))
    weave.relate(("artifact", 2), "consumed_by", ("agent_event", 1))
    weave.relate(("artifact", 2), "derived_from", ("artifact", 1))
    rows, more = related(weave.graph, Ends("src", "artifact", "agent_event"), [1, 2, 3])
    assert sum(row[1] == 1 for row in rows) == 401
    assert [row[3] for row in rows if row[1] == 2] == [1]
    assert more == {1: 49}


def test_any_number_of_nodes_can_be_asked_for_at_once(weave: Weave) -> None:
    weave.relate(("artifact", 6000), "consumed_by", ("agent_event", 1))
    rows, _ = related(weave.graph, Ends("src", "artifact", "agent_event"), range(10_000))
    assert [row[1] for row in rows] == [6000]


def test_an_edge_has_what_the_row_says(weave: Weave) -> None:
    weave.relate(("system_event", 7), "modified", ("artifact", 8), confidence=0.25, operation="modify")
    (row,), _ = related(weave.graph, Ends("dst", "artifact", "system_event"), [8])
    edge = edge_of(row)
    assert (edge.source, edge.target) == (NodeId(NodeKind.STEP, 7), NodeId(NodeKind.ARTIFACT, 8))
    assert (edge.relation, edge.confidence, edge.evidence) == ("modified", 0.25, {"operation": "modify"})


@each("text", [None, "", "[1]", "{", '"\\ud800"', "\x00", "[" * 5000])
def test_evidence_of_any_form_is_taken(text: str | None) -> None:
    assert evidence_of(text) == ({"text": text[:1000]} if text else {})

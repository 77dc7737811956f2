"""What came of a node."""

from __future__ import annotations

import pytest

from tallystick.graph.downstream import Downstream
from tallystick.graph.graph import Graph
from tallystick.lineage.walk import CutReason, Limits, NodeId, NodeKind, Walked, walk
from tests.graph.weaving import Weave


@pytest.fixture
def weave(graph: Graph) -> Weave:
    return Weave(graph)


def version(id_: int) -> NodeId:
    return NodeId(NodeKind.ARTIFACT, id_)


def effects(weave: Weave, *start: NodeId) -> Walked:
    return walk(start, Downstream(weave.graph, start), Limits(depth=20, nodes=1000, edges_a_node=1000))


def told(walked: Walked) -> set[tuple[NodeId, str, NodeId]]:
    return {(edge.source, edge.relation, edge.target) for edge in walked.edges}


def test_a_file_leads_to_who_read_it_and_to_what_it_went_into_across_sessions(weave: Weave) -> None:
    one, two = weave.session("one"), weave.session("two")
    first = one.prompt("Sum up the data.")
    read = one.call("Read")
    data = one.reads(read, "file:///w/data.csv")
    summary = one.writes(one.call("Write"), "file:///w/summary.md")
    weave.flow(data, summary)
    second = two.prompt("Report.")
    again = two.call("Read")
    two.reads(again, "file:///w/summary.md")
    report = two.writes(two.call("Write"), "file:///w/report.md")
    weave.flow(summary, report)
    assert told(effects(weave, version(data))) == {
        (version(data), "consumed_by", one.step(read)),
        (version(data), "consumed_by", one.prompt_node(first)),
        (version(data), "derived_from", version(summary)),
        (version(summary), "consumed_by", two.step(again)),
        (version(summary), "consumed_by", two.prompt_node(second)),
        (version(summary), "derived_from", version(report)),
    }


def test_what_a_reader_wrote_besides_did_not_come_of_what_it_read(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("cp a b; cat c")
    call = one.call()
    a, c = one.reads(call, "file:///w/a"), one.reads(call, "file:///w/c")
    b = one.writes(call, "file:///w/b")
    weave.flow(a, b, via="command")
    assert version(b) not in effects(weave, version(c)).nodes
    assert version(b) in effects(weave, version(a)).nodes


def test_a_version_leads_to_the_one_that_it_was_changed_into_and_not_to_one_written_anew(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    first = one.writes(one.call("Write"), "file:///w/a")
    second = one.changes(one.call("Edit"), "file:///w/a")
    third = one.writes(one.call("Write"), "file:///w/a")
    walked = effects(weave, version(first))
    assert (version(first), "changed_into", version(second)) in told(walked)
    assert version(third) not in walked.nodes


def test_a_call_leads_to_what_it_did_and_to_the_sessions_it_began(weave: Weave) -> None:
    root = weave.session("root")
    root.prompt("Do it.")
    spawn, other = root.call("Task"), root.call("Task")
    child = weave.session("child", kind="child", parent=(root, spawn))
    weave.session("sibling", kind="child", parent=(root, other))
    out = child.writes(child.call("Write"), "file:///w/out")
    gone = root.reads(spawn, "file:///w/gone")
    root.deletes(spawn, "file:///w/gone")
    caused = root.effect("modify", "/w/x")
    weave.relate(("agent_event", root.first_id + spawn), "caused", ("system_event", root.first_id + caused))
    child.weave.insert(
        "requests",
        {"request_id": child.first_id, "session_id": child.sid, "n": 0, "hash": child.hash(0), "created_at": 1},
    )
    assert told(effects(weave, root.step(spawn))) == {
        (root.step(spawn), "deleted", version(gone)),
        (version(gone), "consumed_by", root.step(spawn)),
        (version(gone), "consumed_by", root.prompt_node(1)),
        (root.step(spawn), "caused", root.step(caused)),
        (root.step(spawn), "child", child.node),
        (child.node, "held", child.prompt_node(0)),
        (child.prompt_node(0), "produced", version(out)),
    }


def test_a_session_leads_to_all_that_was_made_for_its_prompts_and_by_its_sub_agents(weave: Weave) -> None:
    root = weave.session("root")
    root.prompt("a")
    a = root.writes(root.call("Write"), "file:///w/a")
    root.prompt("b")
    b = root.writes(root.call("Write"), "file:///w/b")
    root.weave.graph.change("UPDATE steps SET source_id = 'toolu_1' WHERE id = ?", (root.first_id + 2,))
    claimed = weave.session("claimed", kind="child", claimed=("root", "toolu_1"))
    claimed.prompt("c")
    c = claimed.writes(claimed.call("Write"), "file:///w/c")
    other = weave.session("other")
    other.prompt("d")
    d = other.writes(other.call("Write"), "file:///w/d")
    nodes = effects(weave, root.node).nodes
    assert {version(a), version(b), version(c)} <= set(nodes)
    assert version(d) not in nodes


def test_a_prompt_leads_to_what_was_made_for_it_and_to_the_sessions_its_calls_began(weave: Weave) -> None:
    root = weave.session("root")
    first = root.prompt("a")
    spawn = root.call("Task")
    child = weave.session("child", kind="child", parent=(root, spawn))
    second = root.prompt("b")
    b = root.writes(root.call("Write"), "file:///w/b")
    assert child.node in effects(weave, root.prompt_node(first)).nodes
    nodes = effects(weave, root.prompt_node(second)).nodes
    assert version(b) in nodes
    assert child.node not in nodes


def test_a_prompt_leads_to_the_prompts_that_derive_from_it(weave: Weave) -> None:
    one, two = weave.session("one"), weave.session("two")
    first = one.prompt("a")
    second = two.prompt("b")
    weave.relate(("request", one.request_id), "derived_from", ("request", two.request_id), artifact_id=1)
    assert (one.prompt_node(first), "derived_from", two.prompt_node(second)) in told(
        effects(weave, one.prompt_node(first))
    )


def test_what_is_not_there_is_marked_and_nothing_fails(weave: Weave) -> None:
    nowhere = [NodeId(kind, 424_242) for kind in NodeKind]
    assert [cut.why for cut in effects(weave, *nowhere).cuts] == [CutReason.MISSING] * 4


def test_ten_thousand_readers_do_not_hide_what_was_made_of_a_file(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    a = one.writes(one.call("Write"), "file:///w/a")
    weave.graph.change_many(
        "INSERT INTO relations (src_kind, src_id, dst_kind, dst_id, relation_type, confidence, created_at)"
        f" VALUES ('artifact', {a}, 'agent_event', ?, 'consumed_by', 0.9, 1)",
        [(10_000_000 + number,) for number in range(10_000)],
    )
    b = one.writes(one.call("Bash"), "file:///w/b")
    weave.flow(a, b)
    start = [version(a)]
    walked = walk(start, Downstream(weave.graph, start), Limits(depth=8, nodes=500, edges_a_node=50))
    assert version(b) in walked.nodes
    (cut,) = [cut for cut in walked.cuts if cut.node == version(a)]
    assert (cut.why, cut.shown, cut.total) == (CutReason.FAN_OUT, 50, 10_001)

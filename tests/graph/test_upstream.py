"""What a node came from."""

from __future__ import annotations

import pytest

from tallystick.graph.graph import Graph
from tallystick.graph.relating import MOST_READ
from tallystick.graph.upstream import Upstream
from tallystick.lineage.walk import CutReason, Edge, Limits, NodeId, NodeKind, Walked, walk
from tests.graph.weaving import Strand, Weave


@pytest.fixture
def weave(graph: Graph) -> Weave:
    return Weave(graph)


def version(id_: int) -> NodeId:
    return NodeId(NodeKind.ARTIFACT, id_)


def causes(weave: Weave, *start: NodeId) -> Walked:
    return walk(start, Upstream(weave.graph, start), Limits(depth=20, nodes=1000, edges_a_node=1000))


def told(walked: Walked) -> set[tuple[NodeId, str, NodeId]]:
    return {(edge.source, edge.relation, edge.target) for edge in walked.edges}


def between(walked: Walked, source: NodeId, target: NodeId) -> Edge:
    (edge,) = [edge for edge in walked.edges if (edge.source, edge.target) == (source, target)]
    return edge


def test_a_file_leads_to_the_call_that_wrote_it_and_to_the_prompt_that_asked_for_it(weave: Weave) -> None:
    one = weave.session("one")
    prompt = one.prompt("Write a page.")
    call = one.call("Write", file_path="/w/page.md")
    page = one.writes(call, "file:///w/page.md")
    walked = causes(weave, version(page))
    assert told(walked) == {
        (one.step(call), "produced", version(page)),
        (one.prompt_node(prompt), "asked_for", one.step(call)),
        (one.node, "held", one.prompt_node(prompt)),
        (one.prompt_node(prompt), "began", one.node),
    }
    assert between(walked, one.step(call), version(page)).evidence == {"operation": "produced"}
    assert walked.cuts == ()


def test_a_file_leads_to_what_went_into_it_and_not_to_what_its_call_read_besides(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("cp a b; cat c")
    call = one.call()
    a, c = one.reads(call, "file:///w/a"), one.reads(call, "file:///w/c")
    b = one.writes(call, "file:///w/b")
    weave.flow(a, b, confidence=0.9, via="command")
    walked = causes(weave, version(b))
    assert (version(a), "derived_from", version(b)) in told(walked)
    assert version(c) not in walked.nodes


def test_a_call_that_is_asked_for_leads_to_all_that_it_read(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("cp a b; cat c")
    call = one.call()
    a, c = one.reads(call, "file:///w/a"), one.reads(call, "file:///w/c")
    b = one.writes(call, "file:///w/b")
    weave.flow(a, b)
    walked = causes(weave, one.step(call))
    assert {(version(a), "consumed_by", one.step(call)), (version(c), "consumed_by", one.step(call))} <= told(walked)
    assert version(b) not in walked.nodes


def test_a_call_that_is_asked_for_leads_to_what_went_into_that_which_it_wrote(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("Sum up the data.")
    data = one.reads(one.call("Read"), "file:///w/data.csv")
    write = one.call("Write")
    weave.flow(data, one.writes(write, "file:///w/summary.md"))
    edge = between(causes(weave, one.step(write)), version(data), one.step(write))
    assert (edge.relation, edge.confidence, edge.evidence) == ("went_into", 0.5, {"via": "model"})


def test_a_version_that_was_changed_leads_to_the_one_before(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("Write it, then correct it.")
    first = one.writes(one.call("Write"), "file:///w/a")
    second = one.changes(one.call("Edit"), "file:///w/a")
    assert (version(first), "changed_into", version(second)) in told(causes(weave, version(second)))


def test_a_version_that_was_written_anew_does_not_lead_to_the_one_before(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("Write it, and again.")
    first = one.writes(one.call("Write"), "file:///w/a")
    again = one.call("Write")
    one.reads(again, "file:///w/b")
    second = one.writes(again, "file:///w/a")
    assert version(first) not in causes(weave, version(second)).nodes


def test_what_was_done_to_a_version_after_it_was_used_is_no_cause_of_what_it_was_used_for(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    a = one.writes(one.call("Write"), "file:///w/a")
    copy = one.call("Bash")
    one.reads(copy, "file:///w/a")
    b = one.writes(copy, "file:///w/b")
    weave.flow(a, b)
    removal = one.call("Bash")
    one.deletes(removal, "file:///w/a")
    mode = one.call("Bash")
    weave.relate(("agent_event", one.first_id + mode), "modified", ("artifact", a), operation="metadata")
    assert {one.step(removal), one.step(mode)}.isdisjoint(causes(weave, version(b)).nodes)
    assert {one.step(removal), one.step(mode)} <= set(causes(weave, version(a)).nodes)


def test_a_later_prompt_leads_to_the_earlier_one_through_the_file(weave: Weave) -> None:
    one, two = weave.session("one"), weave.session("two")
    prompt = one.prompt("Sum up the data.")
    summary = one.writes(one.call("Write"), "file:///w/summary.md")
    later = two.prompt("Make a report of the summary.")
    two.reads(two.call("Read"), "file:///w/summary.md")
    report = two.writes(two.call("Write"), "file:///w/report.md")
    weave.flow(summary, report)
    walked = causes(weave, version(report))
    assert {one.prompt_node(prompt), two.prompt_node(later)} <= set(walked.nodes)


def test_a_prompt_that_is_asked_for_leads_to_what_was_used_for_it(weave: Weave) -> None:
    one, two = weave.session("one"), weave.session("two")
    earlier = one.prompt("Write it.")
    a = one.writes(one.call("Write"), "file:///w/a")
    later = two.prompt("Read it.")
    two.reads(two.call("Read"), "file:///w/a")
    weave.relate(("request", one.request_id), "derived_from", ("request", two.request_id), artifact_id=a)
    edges = told(causes(weave, two.prompt_node(later)))
    assert (version(a), "consumed_by", two.prompt_node(later)) in edges
    assert (one.prompt_node(earlier), "derived_from", two.prompt_node(later)) in edges


def test_sessions_that_share_nothing_are_not_connected(weave: Weave) -> None:
    one, two = weave.session("one"), weave.session("two")
    one.prompt("a")
    one.writes(one.call("Write"), "file:///w/a")
    two.prompt("b")
    b = two.writes(two.call("Write"), "file:///w/b")
    assert all(node.id >= two.first_id or node == version(b) for node in causes(weave, version(b)).nodes)


# Sub-agents -----------------------------------------------------------------------------------------------------------


def family(weave: Weave) -> tuple[Strand, int, Strand, int, Strand]:
    """A session, its sub-agent, and the sub-agent's sub-agent, with the calls that began them."""
    root = weave.session("root")
    root.prompt("Do it all.")
    spawn = root.call("Task")
    child = weave.session("child", kind="child", parent=(root, spawn))
    again = child.call("Task")
    return root, spawn, child, again, weave.session("grandchild", kind="child", parent=(child, again))


def test_a_call_of_a_sub_agents_sub_agent_leads_to_the_first_prompt_through_every_spawn(weave: Weave) -> None:
    root, spawn, child, again, grandchild = family(weave)
    call = grandchild.call("Read")
    assert told(causes(weave, grandchild.step(call))) == {
        (grandchild.node, "held", grandchild.step(call)),
        (child.step(again), "child", grandchild.node),
        (child.node, "held", child.step(again)),
        (root.step(spawn), "child", child.node),
        (root.prompt_node(1), "asked_for", root.step(spawn)),
        (root.node, "held", root.prompt_node(1)),
        (root.prompt_node(1), "began", root.node),
    }


def test_a_sealed_parent_is_sure_and_a_claimed_one_is_marked(weave: Weave) -> None:
    root = weave.session("root")
    root.prompt("Do it.")
    spawn = root.call("Task")
    root.weave.graph.change("UPDATE steps SET source_id = 'toolu_1' WHERE id = ?", (root.step(spawn).id,))
    sealed = weave.session("sealed", kind="child", parent=(root, spawn))
    claimed = weave.session("claimed", kind="child", claimed=("root", "toolu_1"))
    vague = weave.session("vague", kind="fork", claimed=("root", None))
    edge = between(causes(weave, sealed.node), root.step(spawn), sealed.node)
    assert (edge.relation, edge.confidence, edge.evidence["sealed"]) == ("child", 1.0, True)
    edge = between(causes(weave, claimed.node), root.step(spawn), claimed.node)
    assert (edge.confidence, edge.evidence) == (
        0.8,
        {"sealed": False, "parent_session": "root", "parent_step": "toolu_1"},
    )
    assert between(causes(weave, vague.node), root.node, vague.node).relation == "fork"


def test_a_parent_that_is_not_recorded_is_marked_as_missing(weave: Weave) -> None:
    lost = weave.session("lost", kind="child", claimed=("nowhere", "toolu_9"))
    walked = causes(weave, lost.node)
    (cut,) = walked.cuts
    assert cut.why is CutReason.MISSING
    assert between(walked, cut.node, lost.node).evidence["parent_session"] == "nowhere"


def test_a_merge_leads_to_the_session_that_was_merged(weave: Weave) -> None:
    one, two = weave.session("one"), weave.session("two")
    two.prompt("b")
    done = two.call("Write")
    one.prompt("a")
    merge = one.add("merge")
    one.edge(merge, "merge", parent=(two, done))
    assert (two.step(done), "merge", one.step(merge)) in told(causes(weave, one.step(merge)))


# Around a call --------------------------------------------------------------------------------------------------------


def test_a_call_leads_to_who_allowed_it(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("Push it.")
    call = one.call("Bash", corr="toolu_1")
    asked = one.add("permission", corr="toolu_1")
    one.event(asked, "PermissionRequest", "toolu_1")
    result = one.add("tool_result", corr="toolu_1")
    one.event(result, "PostToolUse", "toolu_1")
    other = weave.session("other")
    other.prompt("Other")
    elsewhere = other.add("permission", corr="toolu_1")
    other.event(elsewhere, "PermissionRequest", "toolu_1")
    walked = causes(weave, one.step(call))
    assert (one.step(asked), "decided", one.step(call)) in told(walked)
    assert one.step(result) not in walked.nodes
    assert other.step(elsewhere) not in walked.nodes
    assert (one.step(call), "called", one.step(result)) in told(causes(weave, one.step(result)))


def test_a_step_leads_to_the_one_that_encloses_it(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("Go.")
    goal = one.add("goal_start")
    call = one.add("tool_call", parent=goal)
    assert (one.step(goal), "enclosed", one.step(call)) in told(causes(weave, one.step(call)))


def test_an_effect_leads_to_the_call_that_caused_it_or_to_nothing(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("Build.")
    call = one.call("Bash")
    caused, alone = one.effect("create", "/w/out"), one.effect("modify", "/w/other")
    weave.relate(("agent_event", one.first_id + call), "caused", ("system_event", one.first_id + caused))
    out = one.writes(caused, "file:///w/out", actor="system_event")
    other = one.changes(alone, "file:///w/other", actor="system_event")
    assert (one.step(call), "caused", one.step(caused)) in told(causes(weave, version(out)))
    assert causes(weave, version(other)).nodes.keys() == {version(other), one.step(alone), one.node}
    told_by_agent = one.effect("edit", "/w/c", source="transcript")
    assert one.prompt_node(1) in causes(weave, one.step(told_by_agent)).nodes


def test_what_is_not_there_is_marked_and_nothing_fails(weave: Weave) -> None:
    nowhere = [NodeId(kind, 424_242) for kind in NodeKind]
    walked = causes(weave, *nowhere)
    assert [cut.why for cut in walked.cuts] == [CutReason.MISSING] * 4


def test_of_a_crowd_of_edges_some_are_read_and_all_are_counted(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("Put all together.")
    call = one.call("Bash")
    whole = one.writes(call, "file:///w/whole")
    for number in range(MOST_READ + 100):
        weave.flow(weave.version(f"file:///w/part{number}"), whole, via="command")
    walked = walk(
        [version(whole)], Upstream(weave.graph, [version(whole)]), Limits(depth=1, nodes=5000, edges_a_node=50)
    )
    cut = next(cut for cut in walked.cuts if cut.node == version(whole))
    assert (cut.why, cut.shown, cut.total) == (CutReason.FAN_OUT, 50, MOST_READ + 101)
    assert one.step(call) in walked.nodes

"""What is known of the nodes of the graph."""

from __future__ import annotations

import pytest

from tallystick.graph.graph import Graph
from tallystick.graph.nodes import ArtifactNode, RequestNode, SessionNode, StepNode, describe
from tallystick.lineage.walk import NodeId, NodeKind
from tests.graph.weaving import Weave


@pytest.fixture
def weave(graph: Graph) -> Weave:
    return Weave(graph)


def test_each_kind_of_node_is_told(weave: Weave) -> None:
    one = weave.session("one", agent="demo")
    prompt = one.prompt("Do it. " * 1000)
    call = one.call("Write", path="/w/a")
    a = one.writes(call, "file:///w/a")
    nodes = [NodeId(NodeKind.ARTIFACT, a), one.step(call), one.prompt_node(prompt), one.node]
    artifact, step, request, session = (describe(weave.graph, nodes)[node] for node in nodes)
    assert isinstance(artifact, ArtifactNode)
    assert (artifact.uri, artifact.version, artifact.made_by) == ("file:///w/a", 1, one.first_id + call)
    assert isinstance(step, StepNode)
    assert (step.session, step.n, step.tool, step.asked) == (one.sid, call, "Write", '{"path": "/w/a"}')
    assert isinstance(request, RequestNode)
    assert request.prompt == ("Do it. " * 1000)[:2000]
    assert isinstance(session, SessionNode)
    assert (session.session, session.agent, session.kind) == (one.sid, "demo", "root")


def test_what_is_not_there_is_left_out(weave: Weave) -> None:
    assert describe(weave.graph, [NodeId(kind, 7) for kind in NodeKind]) == {}


def test_a_version_made_by_an_effect_of_no_call_was_changed_outside(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    call = one.call("Bash")
    caused, alone = one.effect("modify", "/w/a"), one.effect("modify", "/w/b")
    weave.relate(("agent_event", one.first_id + call), "caused", ("system_event", one.first_id + caused))
    a = one.writes(caused, "file:///w/a", actor="system_event")
    b = one.writes(alone, "file:///w/b", actor="system_event")
    found = describe(weave.graph, [NodeId(NodeKind.ARTIFACT, version) for version in (a, b)])
    outside = {node.id: getattr(row, "changed_outside", None) for node, row in found.items()}
    assert outside == {a: False, b: True}


def test_what_the_agent_itself_tells_of_was_not_changed_outside(weave: Weave) -> None:
    aider, run = weave.session("one", agent="aider"), weave.session("two", agent="run")
    told = aider.writes(aider.effect("edit", "/w/a", source="transcript"), "file:///w/a", actor="system_event")
    seen = run.writes(run.effect("create", "/w/b"), "file:///w/b", actor="system_event")
    found = describe(weave.graph, [NodeId(NodeKind.ARTIFACT, version) for version in (told, seen)])
    assert not any(getattr(row, "changed_outside", None) for row in found.values())


def test_a_version_knows_how_many_there_are(weave: Weave) -> None:
    one = weave.session("one")
    first = one.writes(one.call("Write"), "file:///w/a")
    one.changes(one.call("Edit"), "file:///w/a")
    (row,) = describe(weave.graph, [NodeId(NodeKind.ARTIFACT, first)]).values()
    assert isinstance(row, ArtifactNode)
    assert (row.version, row.versions) == (1, 2)

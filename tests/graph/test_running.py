"""Programs and what was made by running them."""

from __future__ import annotations

import pytest

from tallystick.graph.downstream import Downstream
from tallystick.graph.graph import Graph
from tallystick.graph.running import run_for, written_by
from tallystick.graph.upstream import Upstream
from tallystick.lineage.walk import Limits, NodeId, NodeKind, walk
from tests.graph.weaving import Strand, Weave


@pytest.fixture
def weave(graph: Graph) -> Weave:
    return Weave(graph)


def touch(one: Strand, n: int, k: int, operation: str, version: int, command: int) -> None:
    """That intent `k` of a call touched a version."""
    step = one.first_id + n
    access = {"thing": k, "at_us": 5_000, "step_id": step, "k": k, "operation": operation, "actor": "agent_event"}
    one.weave.insert("accesses", access | {"confidence": 0.8, "artifact_id": version, "evidence": "{}"})
    intent = {"step_id": step, "k": k, "domain": "file", "operation": operation, "target": "x", "command": command}
    one.weave.insert("intents", intent | {"is_known": 1, "confidence": 0.8, "outcome": "confirmed"})


def scene(weave: Weave) -> tuple[Strand, int, int, int]:
    """`python gen.py > out; cp in copy`: the call's session, and the versions of gen.py, out and copy."""
    one = weave.session("one")
    one.prompt("a")
    call = one.call("Bash")
    program, given = weave.version("file:///w/gen.py"), weave.version("file:///w/in")
    out, copy = one.writes(call, "file:///w/out"), one.writes(call, "file:///w/copy")
    weave.relate(("artifact", program), "consumed_by", ("agent_event", one.first_id + call), operation="execute")
    for k, (operation, version, command) in enumerate(
        [("execute", program, 0), ("write", out, 0), ("copy_source", given, 1), ("copy_dest", copy, 1)]
    ):
        touch(one, call, k, operation, version, command)
    return one, program, out, copy


def test_a_program_leads_to_what_its_command_wrote_and_not_to_what_another_one_did(weave: Weave) -> None:
    one, program, out, copy = scene(weave)
    (edge,) = run_for(weave.graph, [out, copy])
    assert (edge.source.id, edge.target.id, edge.relation, edge.confidence) == (program, out, "ran", 0.8)
    assert edge.at_ms == 5
    assert list(written_by(weave.graph, [one.first_id + 2])) == [edge]
    assert list(run_for(weave.graph, [program])) == []


def test_both_walks_follow_it(weave: Weave) -> None:
    _, program, out, copy = scene(weave)
    top, bottom = NodeId(NodeKind.ARTIFACT, program), NodeId(NodeKind.ARTIFACT, out)
    limits = Limits(depth=5, nodes=99, edges_a_node=99)
    assert top in walk([bottom], Upstream(weave.graph, [bottom]), limits).nodes
    down = walk([top], Downstream(weave.graph, [top]), limits).nodes
    assert bottom in down
    assert NodeId(NodeKind.ARTIFACT, copy) not in down

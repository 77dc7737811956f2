"""How a call ended."""

from __future__ import annotations

from pathlib import Path

from tallystick.graph.outcomes import outcome_of
from tests.graph.weaving import Weave
from tests.support.graphs import new_graph


def test_a_call_ended_as_its_own_result_says(tmp_path: Path) -> None:
    with new_graph(tmp_path / "graph.db") as graph:
        one = Weave(graph).session("one")
        ends = {"done": 1, "failed": 0, "ended": None}
        calls = {}
        for name, success in ends.items():
            calls[name] = one.call(corr=name)
            one.event(one.add("tool_result", corr=name, success=success), "PostToolUse", name)
        open_, again = one.call(corr="again"), one.call(corr="again")
        one.event(one.add("tool_result", corr="again", success=1), "PostToolUse", "again")
        refused = one.call(corr="refused")
        one.weave.insert("intents", {"step_id": one.first_id + refused, "k": 0, "outcome": "denied"})
        for name, n in calls.items():
            assert outcome_of(graph, one.first_id + n, name) == name
        assert outcome_of(graph, one.first_id + open_, "again") is None  # the result is that of the second call
        assert outcome_of(graph, one.first_id + again, "again") == "done"
        assert outcome_of(graph, one.first_id + refused, "refused") == "denied"

from __future__ import annotations

import json

from tallystick.model.step import Ref, SessionKind
from tests.agents.claude_lines import (
    assistant,
    call,
    ids,
    one,
    openings,
    progress,
    read,
    result,
    side,
    user,
)
from tests.agents.mutations import losses_of, steps_of


def test_side_chains_are_told_apart_by_their_prompts() -> None:
    events = read(
        user("u", None, "go"),
        assistant("a", "u", call("t1", "Task", prompt="look left", subagent_type="Explore", description="Left")),
        assistant("b", "a", call("t2", "Task", prompt="look right"), output=3),
        side(user, "r0", None, "look right"),
        side(user, "l0", None, "look left"),
        side(assistant, "l1", "l0", "nothing there", of="ml"),
        side(assistant, "r1", "r0", call("c1"), of="mr"),
        side(result, "r2", "r1", "c1"),
        result("x", "a", "t1", "nothing"),
        result("y", "b", "t2", "done"),
        assistant("c", "y", "I looked", of="m2"),
    )
    left, right = openings(events)["s/sidechain-l0"], openings(events)["s/sidechain-r0"]
    assert (left.kind, left.parent) == (SessionKind.CHILD, Ref("t1", "s"))
    assert (left.meta["agent_role"], left.values["content.label"]) == ("Explore", "Left")
    assert right.parent == Ref("t2", "s")
    assert ids(events, left.session) == ["l0", "ml/usage", "l1"]
    assert ids(events, right.session) == ["r0", "mr/usage", "c1", "c1/result"]
    assert ids(events, "s") == ["u", "m1/usage", "t1", "t2", "t1/result", "t2/result", "m2/usage", "c"]
    # The call that spawns a sub-agent is recorded before it.
    assert ids(events).index("t2") < ids(events).index("r0")
    assert {step.meta["origin"] for step in steps_of(events, "user") if "/" in step.session} == {"parent"}


def test_a_side_chain_that_nobody_spawned_has_no_parent() -> None:
    [opening] = openings(read(side(user, "r0", None, "hello"))).values()
    assert (opening.kind, opening.parent, opening.meta["parent_session"]) == (SessionKind.CHILD, None, "s")


def test_the_result_of_a_sub_agent_names_it() -> None:
    events = read(
        assistant("a", None, call("t1", "Agent", prompt="x")),
        side(user, "k0", None, "something else", agentId="k7"),
        side(assistant, "k1", "k0", "found it", agentId="k7", of="mk"),
        result("r", "a", "t1", "found", toolUseResult={"status": "completed", "agentId": "k7", "prompt": "x"}),
        assistant("b", "r", "good", of="m2"),
    )
    assert openings(events)["s/k7"].parent == Ref("t1", "s")
    assert one(events, "t1/result").after == (Ref("t1"), Ref("k1", "s/k7"))
    assert one(events, "t1/result").values["content.result"] == {"status": "completed", "agentId": "k7"}


def test_a_sub_agent_that_only_progress_shows_is_a_session_of_calls() -> None:
    inner = [
        {"type": "user", "uuid": "i0", "message": {"role": "user", "content": [{"type": "text", "text": "look"}]}},
        {"type": "assistant", "uuid": "i1", "message": assistant("", None, call("c1"), of="mi")["message"]},
        {"type": "user", "uuid": "i2", "message": result("", None, "c1", "here")["message"]},
    ]
    events = read(
        assistant("a", None, call("t1", "Task", prompt="look")),
        progress("p0", "a", inner[0]),
        progress("p1", "p0", inner[1]),
        assistant("b", "a", call("c9"), output=8),
        progress("p2", "p1", inner[2]),
        result("r", "a", "t1", "found", toolUseResult={"agentId": "k7"}),
        result("s", "b", "c9"),
        assistant("c", "s", "good", of="m2"),
    )
    child = openings(events)["s/k7"]
    assert (child.parent, child.meta["partial"]) == (Ref("t1", "s"), True)
    assert ids(events, "s/k7") == ["i0", "mi/usage", "c1", "c1/result"]
    # The snapshot of the usage is not all of it, and the message of the main conversation was not torn apart.
    assert losses_of(events) == {}
    used = {
        step.source_id: (step.meta["tokens"]["output"], step.meta.get("partial"))
        for step in steps_of(events, "model_call")
    }
    assert used.pop("mi/usage")[1] is True
    assert set(used.values()) == {(8, None), (1, None)}
    assert one(events, "t1/result").after == (Ref("c9"), Ref("t1"), Ref("c1/result", "s/k7"))


def test_a_sub_agents_file_needs_no_companion() -> None:
    line = side(user, "k0", None, "look", agentId="k7")
    [opening] = openings(read(line, path="/h/p/agent-k7.jsonl")).values()
    assert (opening.session, opening.parent, opening.meta["parent_session"]) == ("s/k7", None, "s")


def test_a_sub_agent_of_a_sub_agent_hangs_below_it() -> None:
    said_beside = json.dumps({"toolUseId": "t5", "parentAgentId": "k7"}).encode()
    events = read(
        side(user, "n0", None, "look", agentId="n8"),
        path="/h/p/s/subagents/agent-n8.jsonl",
        companions={"{stem}.meta.json": said_beside},
    )
    assert openings(events)["s/n8"].parent == Ref("t5", "s/k7")


def test_a_session_is_named_by_its_file_where_no_line_names_it() -> None:
    line = side(user, "k0", None, "look")
    del line["sessionId"]
    assert list(openings(read(line, path="/h/p/s9/subagents/agent-k7.jsonl"))) == ["s9/k7"]
    assert list(openings(read({**line, "isSidechain": False}, path="/h/p/s9.jsonl"))) == ["s9"]

from __future__ import annotations

import msgspec

from tallystick.display.acts import refuses
from tallystick.graph.graph import Graph, Mode
from tallystick.graph.project import project
from tallystick.graph.steps import DENIED, StepEntry, Tokens, get_step
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tests.graph.making import Session, sid_of, time_at


def test_a_step_is_given_as_its_journal_says(graph: Graph) -> None:
    session = Session("own id")
    session.begin()
    session.prompt("go")
    meta = {"model": "m", "tokens": {"input": 3, "reasoning": 0}, "agent_role": "planner", "parent": 1, "request": 1}
    session.add("model_call", {**meta, "source_id": "m1/usage", "corr": "c", "duration_ms": 5, "tool": "t"})
    session.add("tool_result", {"success": False})
    session.add("tool_result", {"success": True, "revises": 3, "corroborates": 2})
    project(graph, [session.journal()])
    line = session.lines[2]
    assert get_step(graph, session.sid, 2) == StepEntry(
        session=session.sid,
        n=2,
        hash=line.step.hash,
        type="model_call",
        agent="demo",
        ts=time_at(2),
        recorded=time_at(2),
        source="transcript",
        source_id="m1/usage",
        corr="c",
        parent=1,
        request=1,
        tool="t",
        success=None,
        duration_ms=5,
        model="m",
        tokens=Tokens(input=3),
        agent_role="planner",
        revises=None,
        revised_by=None,
        corroborates=None,
        offset=line.offset,
    )
    failed, mended = get_step(graph, session.sid, 3), get_step(graph, session.sid, 4)
    assert failed is not None
    assert mended is not None
    assert (failed.success, failed.revised_by, failed.tokens) == (False, 4, None)
    assert (mended.success, mended.revises, mended.corroborates) == (True, 3, 2)


def test_a_step_beyond_the_end_is_no_step_of_the_next_session(graph: Graph) -> None:
    one, two = Session(sid="0" * 32), Session(sid="0" * 31 + "1")
    for session in (one, two):
        session.begin()
    project(graph, [one.journal(), two.journal()])
    graph.change("UPDATE sessions SET first_id = first_id - 1 WHERE session_id = ?", (one.sid,))
    assert get_step(graph, one.sid, 5) is None
    assert get_step(graph, sid_of("nobody"), 0) is None


def test_all_kinds_of_tokens_but_those_of_reasoning_make_the_total() -> None:
    assert Tokens(*range(1, 6)).total == 10
    assert msgspec.structs.asdict(Tokens()) == dict.fromkeys(Tokens.__struct_fields__, 0)


def test_the_index_and_the_rows_of_the_log_agree_on_which_steps_refuse(indexed_samples: Home) -> None:
    with Graph(indexed_samples.graph, Mode.READ) as graph:
        by_index = set(graph.rows(f"SELECT s.session_id, s.n FROM steps s WHERE {DENIED.format('s')}"))
    said = {
        (sid, step.n)
        for sid, _ in indexed_samples.sessions()
        for step in read_session(indexed_samples, sid)
        if refuses(step)
    }
    assert said
    assert by_index == said

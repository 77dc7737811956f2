from __future__ import annotations

from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tallystick.graph.session_actions import GONE, UNKNOWN, acts_of, configured_at, duration_us, left_by
from tests.graph.making import Session, sid_of


def worked() -> Session:
    session = Session("one")
    session.begin(cwd="/w")
    session.prompt("go")
    session.add("user", {"origin": "parent"}, text="a task")
    session.add("user", {"origin": "injected"}, text="not a prompt")
    session.add("tool_call", {"tool": "Write", "corr": "a"}, args={"file_path": "/w/new.py", "content": "x"})
    session.add("tool_result", {"tool": "Write", "corr": "a", "success": True}, output="ok")
    session.add("tool_call", {"tool": "Bash", "corr": "b"}, args={"command": "rm /w/old.py && echo x >> /w/log"})
    session.add("tool_result", {"tool": "Bash", "corr": "b", "success": True}, output="")
    session.add("tool_call", {"tool": "Bash", "corr": "c"}, args={"command": "false"})
    session.add("tool_result", {"tool": "Bash", "corr": "c", "success": False}, output="")
    session.add("tool_call", {"tool": "Bash", "corr": "d"}, args={"command": "sleep 99"})
    return session


def test_prompts_tasks_and_calls_are_told_with_their_outcome(graph: Graph) -> None:
    session = worked()
    project(graph, [session.journal()])
    assert [(act.n, act.type, act.tool, act.success) for act in acts_of(graph, session.sid)] == [
        (1, "user", None, None),
        (2, "user", None, None),
        (4, "tool_call", "Write", True),
        (6, "tool_call", "Bash", True),
        (8, "tool_call", "Bash", False),
        (10, "tool_call", "Bash", None),
    ]
    assert [act.offset for act in acts_of(graph, session.sid)] == [session.lines[n].offset for n in (1, 2, 4, 6, 8, 10)]


def test_what_calls_left_in_files_is_told_as_far_as_it_was_seen(graph: Graph) -> None:
    session = worked()
    project(graph, [session.journal()])
    found = {(left.n, left.uri): left.content for left in left_by(graph, session.sid)}
    assert found[4, "file:///w/new.py"].startswith("sha256:")
    assert found[6, "file:///w/old.py"] == GONE
    assert found[6, "file:///w/log"] == UNKNOWN
    assert len(found) == 3


def test_a_configuration_is_found_where_a_checkpoint_tells_it(graph: Graph) -> None:
    session = worked()
    marked = {"trigger": "session_start", "position": 0, "position_hash": session.lines[0].step.hash}
    session.add("checkpoint", marked)
    told = session.add("checkpoint", {**marked, "config_fingerprint": "0" * 64})
    session.add("checkpoint", {**marked, "config_fingerprint": "1" * 64})
    project(graph, [session.journal()])
    assert configured_at(graph, session.sid) == session.lines[told.n].offset
    assert configured_at(graph, sid_of("nobody")) is None


def test_a_duration_is_from_the_first_time_to_the_last(graph: Graph) -> None:
    session = worked()
    project(graph, [session.journal()])
    assert duration_us(graph, session.sid) == 10_000_000
    assert duration_us(graph, sid_of("nobody")) is None

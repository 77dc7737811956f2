from __future__ import annotations

from tallystick.graph.causes import MOST_ABOVE, causes_of
from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tests.graph.making import Session


def led_to(graph: Graph, session: Session, n: int) -> list[tuple[str, str | None]]:
    row = graph.row("SELECT first_id FROM sessions WHERE session_id = ?", (session.sid,))
    assert row is not None
    return [(cause.kind, cause.prompt) for cause in causes_of(graph, row[0] + n)]


def made(name: str, kind: str = "root", parents: tuple[str, ...] = ()) -> Session:
    session = Session(name)
    session.begin(kind, parents=parents)
    return session


def test_a_step_was_asked_for_by_the_request_it_belongs_to(graph: Graph) -> None:
    session = made("one")
    session.prompt("first")
    session.add("user", {"origin": "command", "asks": "command"}, text="<command-name>/x</command-name>")
    session.add("tool_call", {"request": 2})
    project(graph, [session.journal()])
    assert led_to(graph, session, 3) == [("command", "/x")]


def test_what_a_hook_said_goes_on_with_the_request_before(graph: Graph) -> None:
    session = made("one")
    session.prompt("go")
    session.add("user", {"origin": "injected", "asks": "hook"}, text="Run the tests.")
    session.add("tool_call", {"request": 2})
    project(graph, [session.journal()])
    assert led_to(graph, session, 3) == [("hook", "Run the tests."), ("prompt", "go")]


def test_after_a_compaction_the_request_of_the_session_before_holds(graph: Graph) -> None:
    before = made("one")
    before.prompt("go")
    end = before.add("compaction", {"request": 1})
    after = made("one~1", "continuation", parents=(f"{before.sid}#{end.hash}",))
    after.add("user", {"origin": "summary"}, text="This session is being continued")
    after.add("tool_call", {"tool": "Bash"})
    project(graph, [before.journal(), after.journal()])
    assert led_to(graph, after, 2) == [("prompt", "go")]


def test_the_task_of_a_sub_agent_leads_to_the_prompt_above(graph: Graph) -> None:
    above = made("one")
    above.prompt("go")
    call = above.add("tool_call", {"request": 1, "tool": "Task", "corr": "c"})
    child = made("one/a", "child", parents=(f"{above.sid}#{call.hash}",))
    child.add("user", {"origin": "parent"}, text="Write the tests.")
    child.add("tool_call", {"tool": "Write"})
    project(graph, [above.journal(), child.journal()])
    assert led_to(graph, child, 2) == [("task", "Write the tests."), ("prompt", "go")]


def test_an_erased_prompt_and_a_session_that_no_one_asked_anything_say_nothing_else(graph: Graph) -> None:
    session = made("one")
    session.add("tool_call", {"tool": "Bash"})
    project(graph, [session.journal()])
    assert led_to(graph, session, 1) == []
    assert causes_of(graph, 10_000_000) == ()


def test_a_long_way_up_is_cut(graph: Graph) -> None:
    session = made("one")
    session.prompt("go")
    for n in range(MOST_ABOVE + 10):
        session.add("user", {"origin": "injected", "asks": "hook"}, text=f"Go on {n}.")
    project(graph, [session.journal()])
    assert len(led_to(graph, session, MOST_ABOVE + 11)) == MOST_ABOVE

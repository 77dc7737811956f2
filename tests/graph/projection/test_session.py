from __future__ import annotations

import pytest

from tallystick.graph.family import whole_trees
from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tallystick.graph.queries import RequestRow, SessionRow, get_session, list_requests
from tallystick.graph.steps import StepEntry, Tokens, get_step
from tallystick.model.step import Json
from tests.graph.making import Session, sid_of, time_at


def row_of(graph: Graph, session: Session) -> SessionRow:
    project(graph, [session.journal()])
    row = get_session(graph, session.sid)
    assert row is not None
    return row


def requests_of(graph: Graph, session: Session) -> tuple[RequestRow, ...]:
    project(graph, [session.journal()])
    return list_requests(graph, session.sid)


def step_of(graph: Graph, session: Session, n: int) -> StepEntry:
    project(graph, [session.journal()])
    entry = get_step(graph, session.sid, n)
    assert entry is not None
    return entry


@pytest.fixture
def session() -> Session:
    session = Session("own id")
    session.begin(model="opening-model")
    return session


def test_a_session_says_who_when_and_where(graph: Graph, session: Session) -> None:
    session.add("user", {"ts": time_at(-5)}, cwd="/home/dev/project", text="go")
    session.add("user", cwd="/home/dev/elsewhere", text="go on")
    session.add("assistant", {"model": "newer-model"}, text="done")
    row = row_of(graph, session)
    assert (row.session, row.agent, row.source_session, row.kind) == (session.sid, "demo", "own id", "root")
    assert (row.started, row.last) == (time_at(-5), time_at(3))
    assert (row.model, row.cwd) == ("newer-model", "/home/dev/project")
    assert (row.size, row.last_hash, row.searchable) == (4, session.lines[-1].step.hash, 4)


def test_what_happened_is_summed_up(graph: Graph, session: Session) -> None:
    session.prompt("go")
    session.add(
        "model_call", {"tokens": {"input": 100, "output": 20, "cache_read": 7, "cache_write": 3, "reasoning": 9}}
    )
    session.add("model_call", {"tokens": {"input": 1, "output": 2}})
    session.add("tool_call", {"tool": "Bash", "corr": "c"})
    session.add("tool_result", {"corr": "c", "success": False})
    session.add("tool_call", {"tool": "Bash", "corr": "d"})
    session.add("tool_result", {"corr": "d", "success": True})
    session.prompt("again")
    row = row_of(graph, session)
    assert (row.steps, row.requests, row.tool_calls, row.failures) == (9, 2, 2, 1)
    assert row.tokens == Tokens(input=101, output=22, cache_read=7, cache_write=3, reasoning=9)
    assert row.tokens.total == 133


@pytest.mark.parametrize(
    ("kinds", "status"),
    [
        ([], "active"),
        ([("session_end", {"status": "failed"})], "failed"),
        ([("session_end", {"status": "merged"}), ("recovery", {})], "merged"),
        ([("session_end", {})], "completed"),
        ([("session_end", {"status": ["odd"]})], "completed"),
        ([("session_end", {"status": "exploded\x1b[31m"})], "completed"),
        ([("session_end", {"status": "error"})], "failed"),
        ([("session_end", {"status": "Cancelled"})], "failed"),
        ([("session_end", {"success": False})], "failed"),
        ([("session_end", {"status": "done", "success": False})], "completed"),
        ([("session_end", {"status": "running"})], "active"),
        ([("session_end", {"status": "merged"}), ("session_end", {"status": "failed"})], "merged"),
        ([("session_end", {"status": "failed"}), ("session_start", {})], "failed"),
        ([("session_start", {}), ("session_start", {"resumed": True})], "active"),
        ([("session_end", {"status": "completed"}), ("session_start", {"resumed": True, "source": "hook"})], "active"),
        ([("session_end", {"status": "failed"}), ("session_start", {"resumed": True})], "completed"),
        ([("session_end", {}), ("session_start", {"resumed": True}), ("tool_call", {"source": "hook"})], "active"),
        ([("session_start", {"resumed": True}), ("sighting", {"source": "hook"})], "active"),
        (
            [("session_end", {}), ("session_start", {"resumed": True}), ("session_end", {"status": "discarded"})],
            "discarded",
        ),
    ],
)
def test_the_status_is_what_the_end_says(
    graph: Graph, session: Session, kinds: list[tuple[str, dict[str, Json]]], status: str
) -> None:
    for kind, meta in kinds:
        session.add(kind, meta)
    assert row_of(graph, session).status == status


def test_a_session_is_closed_when_it_ended_and_not_when_it_goes_on(graph: Graph, session: Session) -> None:
    session.prompt("go")
    assert row_of(graph, session).closed is None
    session.add("session_end", {"status": "failed"})
    session.add("session_end", {"status": "completed"})
    assert (row_of(graph, session).status, row_of(graph, session).closed) == ("failed", time_at(2))
    session.add("session_start", {"resumed": True, "source": "hook"})
    assert (row_of(graph, session).status, row_of(graph, session).closed) == ("active", None)


@pytest.mark.parametrize(
    ("kind", "source", "status"),
    [
        ("user", "transcript", "completed"),
        ("user", "import", "completed"),
        ("user", "hook", "active"),
        ("tool_result", "acp", "active"),
        ("checkpoint", "sdk", "completed"),
        ("warning", "watch", "completed"),
        ("sighting", "hook", "completed"),
    ],
)
def test_a_session_that_only_its_file_tells_of_is_over_until_someone_is_there(
    graph: Graph, kind: str, source: str, status: str
) -> None:
    session = Session("own id")
    session.begin(source="transcript")
    session.add("user", text="go")
    assert (row_of(graph, session).status, row_of(graph, session).closed) == ("completed", None)
    session.add(kind, {"source": source})
    assert (row_of(graph, session).status, row_of(graph, session).closed) == (status, None)


def test_a_source_that_knows_says_otherwise_where_a_session_belongs(graph: Graph) -> None:
    root, other, child = Session("root"), Session("other"), Session("child")
    for session in (root, other):
        session.begin()
    child.begin("child", parents=(f"{root.sid}#{root.lines[0].step.hash}",))
    told = {"event": "session-opening", "kind": "fork", "revises": 0}
    child.add("system", told, parents=(child.lines[0].step.hash, f"{other.sid}#{other.lines[0].step.hash}"))
    project(graph, [root.journal(), other.journal()])
    row = row_of(graph, child)
    assert (row.kind, row.parent, row.claimed, row.steps) == ("fork", other.sid, False, 1)
    assert [link.session for link in whole_trees(graph, [other.sid])] == [other.sid, child.sid]
    assert [link.session for link in whole_trees(graph, [root.sid])] == [root.sid]
    child.add("system", {**told, "kind": "child", "revises": 1, "parent_source": {"session": "elsewhere"}})
    row = row_of(graph, child)
    assert (row.kind, row.parent, row.claimed_session) == ("child", None, "elsewhere")


def test_a_session_says_what_it_is_for_and_in_which_run_and_where(graph: Graph) -> None:
    session = Session()
    session.add(
        "session_start",
        {"agent": "demo", "kind": "root", "source_session": "one", "run": "run-1"},
        goal="ship it \0" + "x" * 5_000,
        workspace="shop",
    )
    session.add("user", {"run": "run-2"}, text="go")
    row = row_of(graph, session)
    assert (row.run, row.workspace) == ("run-2", "shop")
    assert row.goal is not None
    assert row.goal.startswith("ship it \ufffdx")
    assert len(row.goal) == 1_000


def test_a_checkpoint_that_names_no_run_is_of_the_run_that_its_session_is_in(graph: Graph) -> None:
    session = Session()
    session.begin(run="run-1")
    marked = {"trigger": "manual", "position": 0, "position_hash": session.lines[0].step.hash}
    session.add("checkpoint", marked)
    session.add("checkpoint", {**marked, "run": "run-2"})
    session.add("compaction")
    row_of(graph, session)
    assert graph.rows("SELECT run_id FROM checkpoints ORDER BY n") == [("run-1",), ("run-2",), ("run-2",)]


def test_the_title_is_the_first_line_of_the_first_prompt(graph: Graph, session: Session) -> None:
    session.add("user", {"origin": "injected"}, text="# Instructions")
    session.prompt(" \n  fix the bug  \nplease")
    session.prompt("something else")
    assert row_of(graph, session).title == "fix the bug"


@pytest.mark.parametrize(
    ("first", "meta", "title"),
    [
        ("Implement the following plan:\n\n# Faster tests", {"asks": "plan"}, "Faster tests"),
        ("<command-name>/review</command-name>", {"origin": "command", "asks": "command"}, "/review"),
        ("<command-name>/clear</command-name>", {"origin": "command"}, "then this"),
        ("This session is being continued", {"origin": "summary"}, "then this"),
        ("Stop hook feedback: no", {"origin": "injected", "asks": "hook"}, "then this"),
        ("Yes", {"origin": "answer", "asks": "answer"}, "then this"),
        ("Write tests", {"origin": "parent", "asks": "task"}, "then this"),
    ],
)
def test_the_title_is_what_was_asked(
    graph: Graph, session: Session, first: str, meta: dict[str, Json], title: str
) -> None:
    session.add("user", meta, text=first)
    session.prompt("then this")
    assert row_of(graph, session).title == title


def test_words_that_no_one_asked_with_are_no_title(graph: Graph, session: Session) -> None:
    session.add("user", {"origin": "summary"}, text="This session is being continued")
    session.add("user", {"origin": "command"}, text="<local-command-stdout>done</local-command-stdout>")
    assert row_of(graph, session).title is None


def test_a_request_has_its_kind(graph: Graph, session: Session) -> None:
    session.prompt("go")
    session.add("user", {"origin": "command", "asks": "command"}, text="<command-name>/x</command-name>")
    session.add("tool_call", {"request": 2})
    session.add("user", {"origin": "answer", "asks": "answer"}, text="B")
    session.add("user", {"origin": "notification"}, text="a task is done")
    found = requests_of(graph, session)
    assert [(row.kind, row.prompt, row.tool_calls) for row in found] == [
        ("prompt", "go", 0),
        ("command", "/x", 1),
        ("answer", "B", 0),
    ]


@pytest.mark.parametrize(
    ("session_kind", "kind"), [("root", None), ("child", "task"), ("continuation", "continuation")]
)
def test_what_nothing_in_the_session_asked_for_has_the_kind_of_the_session(
    graph: Graph, session_kind: str, kind: str | None
) -> None:
    session = Session("own id")
    session.begin(session_kind)
    session.add("tool_call", {"tool": "Bash"}, args={"command": "touch a"})
    project(graph, [session.journal()])
    assert graph.rows("SELECT n, kind FROM requests") == [(0, kind)]


def test_where_nobody_typed_a_prompt_the_task_is_the_title(graph: Graph, session: Session) -> None:
    session.add("user", {"origin": "parent"}, text=[{"type": "text", "text": "x" * 500}])
    assert row_of(graph, session).title == "text"
    assert len(row_of(graph, session).title or "") <= 200


def test_lines_without_a_time_happened_with_the_line_before(graph: Graph, session: Session) -> None:
    session.prompt("go")
    session.add("assistant", {"ts": None, "recorded": time_at(9_000_000)}, text="when?")
    row = row_of(graph, session)
    assert row.last == time_at(1)
    assert step_of(graph, session, 2).ts is None
    found = graph.rows("SELECT at_us FROM steps ORDER BY n")
    assert found[1] == found[2]


def test_a_session_without_any_time_is_listed_under_when_it_was_recorded(graph: Graph) -> None:
    session = Session()
    session.begin(ts=None, source="transcript")
    session.add("assistant", {"ts": None}, text="hm")
    row = row_of(graph, session)
    assert (row.started, row.last) == (None, None)
    assert graph.row("SELECT first_event_at, last_event_at FROM sessions") == graph.row(
        "SELECT (SELECT at_us FROM steps WHERE n = 0) / 1000, (SELECT at_us FROM steps WHERE n = 1) / 1000"
    )


def test_a_request_is_a_prompt_and_what_belongs_to_it(graph: Graph, session: Session) -> None:
    session.prompt("first\nline two")
    session.add("model_call", {"request": 1, "tokens": {"input": 10, "output": 5, "reasoning": 2}})
    session.add("assistant", {"request": 1}, text="I shall look")
    session.add("tool_call", {"request": 1, "tool": "Read"})
    session.add("tool_result", {"request": 1, "success": False})
    session.add("user", {"request": 1, "origin": "notification"}, text="by the way")
    session.add("assistant", {"request": 1}, text="done")
    session.prompt("second")
    first, second = requests_of(graph, session)
    assert (first.session, first.n, first.hash) == (session.sid, 1, session.lines[1].step.hash)
    assert (first.prompt, first.response) == ("first\nline two", "done")
    assert (first.steps, first.tool_calls, first.failures, first.total_tokens) == (7, 1, 1, 15)
    assert first.completed_at_ms == first.created_at_ms + 6_000
    assert (second.prompt, second.response, second.completed_at_ms, second.steps) == ("second", None, None, 1)
    assert graph.rows("SELECT request_id FROM requests ORDER BY n") == graph.rows(
        "SELECT id FROM steps WHERE n IN (1, 8)"
    )


def test_the_last_request_is_over_when_the_session_ends(graph: Graph, session: Session) -> None:
    session.prompt("go")
    session.add("session_end", {"request": 1, "status": "completed"})
    assert [request.completed_at_ms for request in requests_of(graph, session)] == [
        request.created_at_ms + 1000 for request in requests_of(graph, session)
    ]


def test_a_late_result_moves_the_end_of_its_request(graph: Graph, session: Session) -> None:
    session.prompt("one")
    session.prompt("two")
    session.add("tool_result", {"request": 1, "success": True})
    first, _ = requests_of(graph, session)
    assert (first.steps, first.completed_at_ms) == (2, first.created_at_ms + 2000)


def test_a_revision_takes_the_place_of_what_it_revises(graph: Graph, session: Session) -> None:
    session.prompt("go")
    session.add("model_call", {"request": 1, "tokens": {"input": 10, "output": 1}})
    session.add("tool_result", {"request": 1, "success": False})
    session.prompt("next")
    session.add("model_call", {"request": 4, "revises": 2, "tokens": {"input": 10, "output": 90}})
    session.add("model_call", {"request": 4, "revises": 5, "tokens": {"input": 10, "output": 95}})
    session.add("tool_result", {"request": 4, "revises": 3, "success": True})
    row = row_of(graph, session)
    assert (row.size, row.steps, row.requests, row.failures) == (8, 5, 2, 0)
    assert row.tokens == Tokens(input=10, output=95)
    first, second = requests_of(graph, session)
    assert (first.steps, first.failures, first.total_tokens) == (3, 0, 105)
    assert (second.steps, second.total_tokens) == (1, 0)
    assert [step_of(graph, session, n).revised_by for n in range(8)] == [None, None, 5, 7, None, 6, None, None]
    assert step_of(graph, session, 6).request == 1


def test_two_revisions_of_the_same_entry_are_one_after_the_other(graph: Graph, session: Session) -> None:
    session.add("model_call", {"tokens": {"output": 1}})
    session.add("model_call", {"revises": 1, "tokens": {"output": 2}})
    session.add("model_call", {"revises": 1, "tokens": {"output": 4}})
    assert row_of(graph, session).tokens == Tokens(output=4)
    assert [step_of(graph, session, n).revised_by for n in (1, 2, 3)] == [2, 3, None]


def test_a_revised_prompt_opens_no_second_request(graph: Graph, session: Session) -> None:
    session.prompt("fix teh bug")
    session.prompt("fix the bug", revises=1)
    session.add("assistant", {"request": 2}, text="which?")
    (request,) = requests_of(graph, session)
    assert (request.n, request.prompt, request.response, request.steps) == (1, "fix the bug", "which?", 2)
    assert row_of(graph, session).requests == 1


def test_a_prompt_seen_by_two_witnesses_is_one_request(graph: Graph, session: Session) -> None:
    session.prompt("fix the bug", source="hook")
    session.prompt("fix the bug!", corroborates=1)
    session.add("assistant", {"request": 2}, text="sure")
    (request,) = requests_of(graph, session)
    assert (request.n, request.prompt, request.steps) == (1, "fix the bug", 2)
    assert row_of(graph, session).steps == 3
    assert [step_of(graph, session, n).request for n in (1, 2, 3)] == [1, 1, 1]


def test_second_witnesses_are_not_counted(graph: Graph, session: Session) -> None:
    session.add("tool_call", {"source": "hook"})
    session.add("tool_call", {"corroborates": 1})
    session.add("sighting", {"steps": [{"n": 1, "source_id": "c"}]})
    row = row_of(graph, session)
    assert (row.size, row.steps, row.tool_calls) == (4, 2, 1)


@pytest.mark.parametrize("member", ["revises", "request", "corroborates"])
@pytest.mark.parametrize("value", [-1, 2, 3, 99, 1 << 60, "1", None, [1]])
def test_links_that_lead_nowhere_are_no_trouble(graph: Graph, session: Session, member: str, value: Json) -> None:
    session.prompt("go")
    session.add("assistant", {member: value}, text="hm")
    session.add("user", {member: value, "origin": "parent"}, text="hm")
    assert row_of(graph, session).requests == 1


def test_how_a_session_hangs_is_sealed_or_claimed(graph: Graph) -> None:
    child = Session("child")
    child.begin("child", parents=(f"{sid_of('one')}#{'c' * 64}",))
    fork = Session("fork")
    fork.begin("fork", parent_source={"session": "one", "step": "m7"})
    sealed, claimed = row_of(graph, child), row_of(graph, fork)
    assert (sealed.kind, sealed.parent, sealed.parent_step, sealed.claimed) == ("child", sid_of("one"), "c" * 64, False)
    assert (claimed.parent, claimed.claimed, claimed.claimed_session, claimed.claimed_step) == (None, True, "one", "m7")


def test_steps_that_join_sessions_are_edges(graph: Graph, session: Session) -> None:
    session.add("subagent_end", parents=(session.lines[0].step.hash, f"{'a' * 32}#{'b' * 64}"))
    session.add("assistant", text="nothing of the kind")
    project(graph, [session.journal()])
    assert graph.rows("SELECT session_id, n, position, kind, parent_session, parent_step FROM session_edges") == [
        (session.sid, 1, 1, "subagent_end", "a" * 32, "b" * 64)
    ]


def test_the_task_from_a_parent_comes_before_what_was_injected(graph: Graph, session: Session) -> None:
    session.add("user", {"origin": "injected"}, text="<environment_context>")
    session.add("user", {"origin": "parent"}, text="find the callers")
    session.add("user", {"origin": "parent"}, text="another task")
    assert row_of(graph, session).title == "find the callers"
    session.prompt("what a human asks")
    assert row_of(graph, session).title == "what a human asks"

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import UsageError
from tallystick.graph.family import all_links
from tallystick.graph.graph import Graph
from tallystick.graph.lookup import resolve_session
from tallystick.graph.project import project
from tallystick.graph.queries import (
    STATUS,
    Indexed,
    SessionFilter,
    SessionRow,
    get_session,
    indexed_sessions,
    list_requests,
    list_sessions,
    moments_of,
    newest_time,
    telling_steps,
)
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.recorder import Recorder
from tallystick.recording.run_config.declared import RunsUnder
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.states import Moment
from tallystick.workspace.indexing import open_index
from tests.graph.making import Session, sid_of, time_at


def told(name: str, *, agent: str = "demo", start: float = 0, status: str | None = None, kind: str = "root") -> Session:
    session = Session(name, agent=agent, start=start)
    session.begin(kind)
    session.prompt(f"hello {name}")
    if status is not None:
        session.add("session_end", {"status": status})
    return session


@pytest.fixture
def four(graph: Graph) -> Graph:
    sessions = [
        told("a", start=100, status="completed"),
        told("b", start=300, agent="other"),
        told("c", start=200, status="failed", kind="child"),
        told("d", start=400, agent="other", status="completed"),
    ]
    project(graph, [session.journal() for session in sessions])
    return graph


def test_how_a_child_ended_is_found_by_its_call_and_not_among_all_events(graph: Graph) -> None:
    """Read for each child, all events of all sessions take a minute in a store of 220,000 steps."""
    plan = [str(row[3]) for row in graph.rows(f"EXPLAIN QUERY PLAN SELECT {STATUS} FROM sessions s")]
    assert [step for step in plan if step.startswith(("SCAN", "SEARCH a "))] == [
        "SCAN s",
        "SEARCH a USING INDEX agent_events_call (tool_use_id=? AND rowid>? AND rowid<?)",
    ]


def names(rows: tuple[SessionRow, ...]) -> str:
    return "".join(row.source_session or "?" for row in rows)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (SessionFilter(), "dbca"),
        (SessionFilter(limit=2), "db"),
        (SessionFilter(limit=0), ""),
        (SessionFilter(limit=-1), ""),
        (SessionFilter(limit=None), "dbca"),
        (SessionFilter(agents=("other",)), "db"),
        (SessionFilter(agents=("other", "demo")), "dbca"),
        (SessionFilter(agents=("nobody",)), ""),
        (SessionFilter(statuses=("active", "failed")), "bc"),
        (SessionFilter(kinds=("child",)), "c"),
        (SessionFilter(since=time_at(301)), "db"),
        (SessionFilter(since=time_at(301.001)), "d"),
        (SessionFilter(until=time_at(200)), "a"),
        (SessionFilter(until=time_at(200.001)), "ca"),
        (SessionFilter(agents=("other",), statuses=("completed",), since=time_at(0), until=time_at(9999)), "d"),
    ],
)
def test_sessions_are_listed_newest_first_and_filtered(four: Graph, wanted: SessionFilter, found: str) -> None:
    assert names(list_sessions(four, wanted)) == found


def test_a_time_that_is_none_is_refused(four: Graph) -> None:
    with pytest.raises(UsageError):
        list_sessions(four, SessionFilter(since="yesterday"))


def test_a_session_is_got_by_its_full_id_only(four: Graph) -> None:
    row = get_session(four, sid_of("a"))
    assert row is not None
    assert (row.source_session, row.title, row.status, row.steps) == ("a", "hello a", "completed", 3)
    assert get_session(four, sid_of("a")[:31]) is None


def test_a_claimed_parent_is_found_whenever_it_is_recorded(graph: Graph) -> None:
    child = Session("child")
    child.begin("child", parent_source={"session": "parent"})
    stranger = told("parent", agent="other")
    project(graph, [child.journal(), stranger.journal()])
    assert [(link.session, link.parent) for link in all_links(graph) if link.claimed] == [(child.sid, None)]
    parent = Session("parent", sid=sid_of("the real one"))
    parent.begin()
    project(graph, [parent.journal()])
    row = get_session(graph, child.sid)
    assert row is not None
    assert (row.parent, row.claimed, row.claimed_session) == (parent.sid, True, "parent")
    (link,) = (link for link in all_links(graph) if link.claimed)
    assert (link.parent, link.kind, link.claimed_session, link.started) == (parent.sid, "child", "parent", time_at(0))


def test_a_session_that_claims_itself_hangs_on_itself_only_where_no_other_has_its_id(graph: Graph) -> None:
    session = Session("one")
    session.begin("child", parent_source={"session": "one"})
    project(graph, [session.journal()])
    assert [link.parent for link in all_links(graph)] == [session.sid]
    other = Session("one", sid=sid_of("another"))
    other.begin()
    project(graph, [other.journal()])
    assert {link.session: link.parent for link in all_links(graph)} == {session.sid: other.sid, other.sid: None}


def test_links_come_oldest_first(four: Graph) -> None:
    assert [link.session for link in all_links(four)] == [sid_of(name) for name in "acbd"]


def test_requests_come_in_order(graph: Graph) -> None:
    session = told("one")
    for number in range(12):
        session.prompt(f"prompt {number}")
    project(graph, [session.journal()])
    assert [request.n for request in list_requests(graph, session.sid)] == list(range(1, 14))
    assert list_requests(graph, sid_of("two")) == ()


def test_what_is_indexed_can_be_held_against_the_journals(four: Graph) -> None:
    found = {indexed.session: indexed for indexed in indexed_sessions(four)}
    assert found[sid_of("b")] == Indexed(sid_of("b"), 2, told("b", start=300).lines[-1].step.hash)
    assert list(found) == sorted(found)


def test_the_newest_step_of_an_agent_and_a_source_is_found(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    session_writer = SessionWriter(home)
    try:
        session_writer.open(Opening(session="s", agent="a", source=Source.TRANSCRIPT))
        for number, source in enumerate((Source.HOOK, Source.TRANSCRIPT, Source.HOOK, Source.TRANSCRIPT)):
            session_writer.add(
                "a",
                Step(
                    session="s",
                    type="system",
                    source=source,
                    source_id=f"e{number}",
                    ts=f"2026-01-0{number + 1}T00:00:00Z",
                ),
            )
    finally:
        session_writer.close()
    with open_index(home) as index:
        (hook,) = index.graph.rows("SELECT recorded FROM steps WHERE source_id = 'e2'")
        assert newest_time(index.graph, "a", "hook") == hook[0]
        assert newest_time(index.graph, "a", "acp") is None
        assert newest_time(index.graph, "b", "hook") is None


def test_starts_and_ends_are_told_in_order_and_second_tellings_are_not(graph: Graph) -> None:
    session = Session("one")
    session.begin()
    session.prompt("go")
    session.add("session_end", {"status": "error"})
    session.add("session_end", {"status": "success", "corroborates": 2})
    session.add("session_start", {"resumed": True, "source": "hook"})
    session.add("session_end", {"status": ["odd"]})
    session.add("session_end", None)
    session.add("session_end", {"success": False})
    project(graph, [session.journal()])
    assert moments_of(graph, session.sid) == [
        Moment(0, is_end=False),
        Moment(2, is_end=True, word="error"),
        Moment(4, is_end=False, is_resumed=True),
        Moment(5, is_end=True, word=["odd"]),
        Moment(6, is_end=True),
        Moment(7, is_end=True, word="failed"),
    ]
    assert moments_of(graph, sid_of("nobody")) == []


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "store")


def test_the_checkpoints_and_changes_of_one_session_are_found_in_order(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        for name in ("one", "two"):
            with recorder.session("mine", name, configuration=RunsUnder(inputs={"a": {"x": 1}})) as session:
                session.prompt("hi")
                session.runs_under(RunsUnder(inputs={"a": {"x": 2}}))
    with open_index(home) as index:
        asked = resolve_session(index.graph, "two").session
        found = telling_steps(index.graph, asked)
        assert [(n, kind) for n, kind, _ in found] == [(1, "checkpoint"), (3, "config_change")]
        assert [n for n, _, _ in telling_steps(index.graph, asked, until=2)] == [1]
        assert telling_steps(index.graph, "0" * 32) == []

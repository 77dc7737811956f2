from __future__ import annotations

import pytest

from tallystick.errors import UsageError
from tallystick.graph.family import all_links
from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tallystick.graph.queries import (
    Indexed,
    SessionFilter,
    SessionRow,
    get_session,
    indexed_sessions,
    list_requests,
    list_sessions,
)
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

from __future__ import annotations

from tallystick.graph.graph import Graph
from tallystick.graph.moments import moments_of
from tallystick.graph.project import project
from tallystick.sessions.states import Moment
from tests.graph.making import Session, sid_of


def test_starts_and_ends_are_told_in_order_and_second_tellings_are_not(graph: Graph) -> None:
    session = Session("one")
    session.begin()
    session.prompt("go")
    session.add("session_end", {"status": "error"})
    session.add("session_end", {"status": "success", "corroborates": 2})
    session.add("session_start", {"resumed": True})
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

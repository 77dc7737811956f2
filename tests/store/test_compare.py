from __future__ import annotations

from pathlib import Path

from tallystick.store.compare import session_digests
from tallystick.store.graph import Graph, Mode
from tallystick.store.project import project
from tests.store.making import Session, sid_of


def told(name: str) -> Session:
    session = Session(name)
    session.begin("child", parents=(f"{sid_of('parent')}#{'a' * 64}",))
    session.prompt("hello")
    return session


def test_two_indexes_of_the_same_journals_say_the_same(tmp_path: Path) -> None:
    with Graph(tmp_path / "a.db", Mode.WRITE) as one, Graph(tmp_path / "b.db", Mode.WRITE) as other:
        project(one, [told("x").journal(), told("y").journal()])
        for session in (told("y"), told("x")):
            project(other, [session.journal(steps=1)])
            project(other, [session.journal()])
        assert session_digests(one) == session_digests(other)
        assert set(session_digests(one)) == {sid_of("x"), sid_of("y")}


def test_a_change_in_any_table_shows_at_its_session(graph: Graph) -> None:
    project(graph, [told("x").journal(), told("y").journal()])
    before = session_digests(graph)
    for number, table in enumerate(("sessions", "requests", "steps", "session_edges")):
        column = {"session_edges": "kind", "steps": "tool", "requests": "events", "sessions": "cwd"}[table]
        graph.change(f"UPDATE {table} SET {column} = ? WHERE session_id = ?", (f"other {number}", sid_of("x")))
        after = session_digests(graph)
        assert after[sid_of("x")] != before[sid_of("x")]
        assert after[sid_of("y")] == before[sid_of("y")]
        before = after

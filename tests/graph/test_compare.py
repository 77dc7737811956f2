"""A digest of everything that an index says of a session."""

from pathlib import Path

from tallystick.graph.compare import session_digests
from tallystick.journal.home import Home
from tallystick.workspace.indexing import bring_up_to_date
from tests.support.graphs import new_graph


def test_two_indexes_of_the_same_journals_have_the_same_digests(samples: Home, tmp_path: Path) -> None:
    with new_graph(tmp_path / "a.db") as one, new_graph(tmp_path / "b.db") as other:
        bring_up_to_date(samples, one)
        for sid, _ in reversed(list(samples.sessions())):
            bring_up_to_date(samples, other, sessions=[sid])
        assert session_digests(one) == session_digests(other)
        assert set(session_digests(one)) == {sid for sid, _ in samples.sessions()}


def test_a_changed_row_changes_the_digest_of_its_session_alone(samples: Home, tmp_path: Path) -> None:
    for table in ("sessions", "requests", "steps", "session_edges"):
        with new_graph(tmp_path / f"{table}.db") as graph:
            bring_up_to_date(samples, graph)
            before = session_digests(graph)
            row = graph.row(f"SELECT session_id FROM {table} ORDER BY session_id LIMIT 1")
            assert row is not None
            graph.change(f"DELETE FROM {table} WHERE session_id = ?", row)
            after = session_digests(graph)
        changed = {session for session in before if before[session] != after.get(session)}
        assert changed == {row[0]}

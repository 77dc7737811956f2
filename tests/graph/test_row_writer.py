from __future__ import annotations

from itertools import pairwise

import pytest

from tallystick.graph import rules
from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tallystick.graph.row_writer import (
    ROOM,
    Writer,
    ceiling,
    new_session,
    read_place,
    read_positions,
    read_session,
    remove_session,
)
from tallystick.graph.tables import EdgeRow, RequestState, SessionState, StepRow
from tests.graph.making import Session, sid_of


def told(sid: str = "", *, steps: int = 3) -> Session:
    session = Session(sid=sid or None)
    session.begin()
    for n in range(1, steps):
        session.prompt(f"word{n}")
    return session


def first_ids(graph: Graph) -> dict[str, int]:
    return dict(graph.rows("SELECT session_id, first_id FROM sessions"))


@pytest.mark.parametrize(
    ("table", "row"),
    [("sessions", SessionState), ("requests", RequestState), ("steps", StepRow), ("session_edges", EdgeRow)],
)
def test_the_rows_have_the_columns_of_the_tables(graph: Graph, table: str, row: type[SessionState]) -> None:
    columns = [column[1] for column in graph.rows(f"PRAGMA table_info({table})")]
    assert list(row.__struct_fields__) == columns


def test_ids_come_from_the_session_and_the_number(graph: Graph) -> None:
    session = told("80" + "0" * 30)
    project(graph, [session.journal()])
    assert [id - (1 << 61) for (id,) in graph.rows("SELECT id FROM steps ORDER BY n")] == [0, 1, 2]


def test_sessions_in_the_order_of_their_ids_have_steps_in_the_order_of_theirs(graph: Graph) -> None:
    sessions = [told(sid_of(str(n))) for n in range(20)]
    project(graph, [session.journal() for session in sessions])
    assert graph.rows("SELECT id FROM steps ORDER BY session_id, n") == graph.rows("SELECT id FROM steps ORDER BY id")


def test_ids_that_another_session_has_or_is_near_are_not_taken(graph: Graph) -> None:
    near = [f"{number:032x}" for number in (0, 1, 1 << 64, 5 << 66, (1 << 128) - 1, (1 << 128) - 2)]
    for sid in near:
        project(graph, [told(sid).journal()])
    ids = sorted(first_ids(graph).values())
    assert len(ids) == len(near)
    assert all(b - a >= 3 for a, b in pairwise(ids))
    assert ids[0] >= 0
    assert ids[-1] < 1 << 62
    assert graph.row("SELECT count(*) FROM steps") == (3 * len(near),)


def test_a_session_that_grows_into_another_moves(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.graph.row_writer.ROOM", 4)
    small, large = told(f"{0:016x}" + "0" * 16, steps=9), told(f"{6 << 2:016x}" + "0" * 16, steps=3)
    project(graph, [small.journal(steps=2), large.journal()])
    assert first_ids(graph) == {small.sid: 0, large.sid: 6}
    done = project(graph, [small.journal(), large.journal()])
    assert done.unsearchable == 0
    assert first_ids(graph)[small.sid] != 0
    assert first_ids(graph)[large.sid] == 6
    assert graph.rows("SELECT session_id, count(*), max(n) FROM steps GROUP BY 1 ORDER BY 2") == [
        (large.sid, 3, 2),
        (small.sid, 9, 8),
    ]
    assert len(graph.rows("SELECT rowid FROM search WHERE search MATCH 'word2'")) == 2
    assert len(graph.rows("SELECT rowid FROM search WHERE search MATCH 'word8'")) == 1


def test_a_removed_session_leaves_no_rows_and_the_text_of_none(graph: Graph) -> None:
    one, two = told(sid_of("one")), told(sid_of("two"))
    project(graph, [one.journal(), two.journal()])
    state = read_session(graph, one.sid)
    assert state is not None
    assert remove_session(graph, state)
    assert read_session(graph, one.sid) is None
    for table in ("sessions", "requests", "steps"):
        assert graph.rows(f"SELECT DISTINCT session_id FROM {table}") == [(two.sid,)]
    assert graph.rows("SELECT rowid FROM search WHERE search MATCH 'word1'") == []
    assert graph.rows("SELECT text_size FROM sessions") == [(0,)]


def test_removing_a_session_without_text_leaves_the_text_of_the_others(graph: Graph) -> None:
    project(graph, [told(sid_of("two")).journal()])
    assert not remove_session(graph, new_session(graph, sid_of("one"), inode=1, room=ROOM))
    assert len(graph.rows("SELECT rowid FROM search WHERE search MATCH 'word1'")) == 1


def test_positions_are_given_for_few_sessions_and_for_many(graph: Graph) -> None:
    session = told()
    project(graph, [session.journal()])
    position = (1, rules.current(), session.lines[-1].end, 3, 3)
    assert read_positions(graph, []) == {}
    assert read_positions(graph, [session.sid]) == {session.sid: position}
    assert read_positions(graph, [session.sid] * 5000) == {session.sid: position}


def test_a_place_is_where_a_step_was_read(graph: Graph) -> None:
    session = told()
    project(graph, [session.journal()])
    state = read_session(graph, session.sid)
    assert state is not None
    assert read_place(graph, state, 2) == (session.lines[2].step.hash, session.lines[2].offset)
    assert read_place(graph, state, 3) == ("", 0)
    assert ceiling(graph, state.first_id) is None
    assert ceiling(graph, state.first_id - 1) == state.first_id


def test_rows_that_wait_are_found_too(graph: Graph) -> None:
    session = told()
    writer = Writer(graph, new_session(graph, session.sid, inode=1, room=ROOM), lambda offset: None)
    for line in session.lines:
        writer.projection.take(line.step, line.offset)
        writer.take_text(line.step)
    assert writer.waiting_characters == len("word1word2")
    found = writer.step(1)
    assert found is not None
    assert (found.n, found.hash) == (1, session.lines[1].step.hash)
    assert writer.step(3) is None
    assert writer.request(1) is None  # those are asked for only where they do not wait
    writer.write()
    request = writer.request(1)
    assert request is not None
    assert request.original_user_prompt == "word1"
    assert read_session(graph, session.sid) == writer.state
    assert writer.waiting_characters == 0

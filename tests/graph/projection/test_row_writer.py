from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.graph import rules
from tallystick.graph.content_tags import tags_in
from tallystick.graph.graph import Graph
from tallystick.graph.journals import Depth
from tallystick.graph.project import forget, project
from tallystick.graph.projection.row_writer import (
    ROOM,
    Writer,
    ceiling,
    new_session,
    read_place,
    read_positions,
    read_session,
    remove_session,
)
from tallystick.graph.projection.session import SessionProjection
from tallystick.graph.tables import EdgeRow, RequestState, SessionState, StepRow
from tests.graph.making import Session, sid_of
from tests.support.graphs import new_graph
from tests.support.laws import examples


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
    monkeypatch.setattr("tallystick.graph.projection.row_writer.ROOM", 4)
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


# No two sessions share an id -------------------------------------------------------------------------------------------

CALLS = 4
LONGEST = 2 + 3 * CALLS
STEP_IDS = {
    "steps": "id",
    "requests": "request_id",
    "agent_events": "step_id",
    "system_events": "event_id",
    "intents": "step_id",
    "accesses": "step_id",
    "flows": "target_step",
    "artifact_observations": "agent_event_id",
    "scripts": "step_id",
}
"""Tables with rows of steps, and the column that has the id of the step."""


def neighbour(place: int) -> Session:
    """A session whose first id would be `place`: places are close together, and sessions longer than the gaps."""
    session = Session(sid=f"{place << 2:016x}{place:016x}")
    session.begin()
    session.prompt("write it")
    for k in range(CALLS):
        session.add("tool_call", {"tool": "Write", "corr": f"c{k}", "request": 1}, cwd="/w", args=written(k))
        session.add("tool_result", {"corr": f"c{k}", "success": True, "request": 1})
        session.add("file_effect", {"source": "watch", "effect": "create"}, path=f"/w/{k}")
    return session


def written(k: int) -> dict[str, str]:
    return {"file_path": f"/w/{k}", "content": "cp a b"}


def check_that_ids_are_apart(graph: Graph, sizes: dict[str, int]) -> None:
    """Every session has all ids from its first one on, and no row of a step has an id that is not in one of these ranges."""
    ranges = graph.rows("SELECT first_id, first_id + size, session_id, size FROM sessions ORDER BY first_id, size")
    assert {sid: size for _, _, sid, size in ranges} == sizes
    for (_, end, *_), (begin, *_) in pairwise(ranges):
        assert end <= begin, ranges
    for first, end, sid, size in ranges:
        assert graph.rows("SELECT id FROM steps WHERE session_id = ? ORDER BY n", (sid,)) == [
            (first + n,) for n in range(size)
        ]
        assert graph.rows("SELECT DISTINCT session_id FROM steps WHERE id >= ? AND id < ?", (first, end)) == [(sid,)]
    within = "SELECT 1 FROM sessions x WHERE t.{0} >= x.first_id AND t.{0} < x.first_id + x.size"
    for table, column in STEP_IDS.items():
        alone = f"SELECT {column} FROM {table} t WHERE {column} > 0 AND NOT EXISTS ({within.format(column)})"
        assert graph.rows(alone) == [], table


def test_a_session_whose_every_wanted_place_is_taken_finds_another(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = neighbour(0), neighbour(1000)
    project(graph, [one.journal(), two.journal()])
    wanted = [0, 1, LONGEST - 1, 1000 - ROOM + 1, 999, 1000, 1000 + LONGEST - 1]
    monkeypatch.setattr("tallystick.graph.projection.row_writer.ids_of", lambda _sid: iter([*wanted, 5000]))
    assert new_session(graph, sid_of("three"), inode=1, room=ROOM).first_id == 5000
    for free in (LONGEST, 1000 + LONGEST):
        monkeypatch.setattr("tallystick.graph.projection.row_writer.ids_of", lambda _sid, free=free: iter([free]))
        assert new_session(graph, sid_of("three"), inode=1, room=1000 - LONGEST).first_id == free
    monkeypatch.setattr("tallystick.graph.projection.row_writer.ids_of", lambda _sid: iter([LONGEST, 5000]))
    assert new_session(graph, sid_of("three"), inode=1, room=1000 - LONGEST + 1).first_id == 5000


@given(
    places=st.lists(st.integers(0, 40), min_size=2, max_size=8, unique=True),
    room=st.integers(1, 6),
    data=st.data(),
)
@settings(deadline=None, max_examples=examples(40))
@pytest.mark.timeout(60)
def test_ids_of_two_sessions_are_never_the_same(places: list[int], room: int, data: st.DataObject) -> None:
    """However sessions grow, are projected again, are forgotten and come back."""
    sessions = {session.sid: session for session in map(neighbour, places)}
    sizes: dict[str, int] = {}
    inodes = dict.fromkeys(sessions, 1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("tallystick.graph.projection.row_writer.ROOM", room)
        patch.setattr("tallystick.graph.project._STEPS_A_TRANSACTION", data.draw(st.integers(2, 30)))
        with new_graph(Path(folder) / "graph.db") as graph:
            for _ in range(data.draw(st.integers(1, 5))):
                some = data.draw(st.lists(st.sampled_from(sorted(sessions)), min_size=1, unique=True))
                match data.draw(st.sampled_from(["grow", "grow", "again", "forget"])):
                    case "grow":
                        sizes |= {sid: data.draw(st.integers(sizes.get(sid, 1), LONGEST)) for sid in some}
                    case "again":  # their files are others now
                        inodes |= {sid: inodes[sid] + 1 for sid in some}
                    case "forget":
                        forget(graph, some)
                        sizes = {sid: size for sid, size in sizes.items() if sid not in some}
                project(
                    graph,
                    [sessions[sid].journal(steps=size, inode=inodes[sid]) for sid, size in sizes.items()],
                    depth=data.draw(st.sampled_from(Depth)),
                )
                check_that_ids_are_apart(graph, sizes)


def test_the_ids_of_many_sessions_are_apart(graph: Graph) -> None:
    sessions = [neighbour(place) for place in range(0, 120, 2)]
    project(graph, [session.journal(steps=5) for session in sessions])
    grown = {session.sid: 5 + n % 8 for n, session in enumerate(sessions)}
    project(graph, [session.journal(steps=grown[session.sid]) for session in sessions])
    check_that_ids_are_apart(graph, grown)


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
    projection = SessionProjection(writer.state, writer, writer.rows, tags_in)
    for line in session.lines:
        projection.take(line.step, line.offset)
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

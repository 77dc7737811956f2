"""The newest steps with what each follows from."""

import pytest

from tallystick.ask.log_graph import GraphRows, read_graph
from tallystick.journal.home import Home
from tallystick.model.step import Ref, SessionKind
from tallystick.recording.recorder import Recorder
from tallystick.workspace.filters import StepFilter
from tallystick.workspace.indexing import open_index
from tallystick.workspace.names import find_session


@pytest.fixture
def forked(home: Home) -> Home:
    with Recorder(home.folder) as recorder:
        root = recorder.session("demo", "root")
        root.step("user", source_id="ask")
        root.step("tool_call", source_id="call", after=(Ref("ask"),), tool="Agent")
        child = recorder.session("demo", "child", kind=SessionKind.CHILD, parent=Ref("call", session="root"))
        child.step("assistant", source_id="tip")
        root.step("assistant", source_id="beside", after=(Ref("ask"),))
        root.step("merge", source_id="both", after=(Ref("beside"), Ref("tip", session="child")))
    return home


def asked(home: Home, wanted: StepFilter | None = None, **more: object) -> GraphRows:
    with open_index(home) as index:
        return read_graph(home, index, wanted or StepFilter(), **more)  # type: ignore[arg-type]


def edges(found: GraphRows) -> dict[str, list[str]]:
    names = {row.entry.hash: row.entry.source_id or f"{row.entry.agent}:{row.entry.n}" for row in found.rows}
    return {names[row.entry.hash]: [names[parent] for parent in row.parents] for row in found.rows}


def test_the_edges_are_those_of_the_record_across_sessions(forked: Home) -> None:
    found = asked(forked)
    assert not found.has_more
    told = edges(found)
    del told["demo:0"]  # the start of either session
    assert told == {"both": ["beside", "tip"], "beside": ["ask"], "tip": ["demo:0"], "call": ["ask"], "ask": ["demo:0"]}
    start = next(row for row in found.rows if row.step.meta.get("kind") == "child")
    call = next(row for row in found.rows if row.entry.source_id == "call")
    assert start.parents == (call.entry.hash,)


def test_a_step_that_is_not_shown_gives_its_place_to_its_own_parents(forked: Home) -> None:
    found = asked(forked, StepFilter(types=("merge", "user")))
    assert edges(found) == {"both": ["ask"], "ask": []}


def test_a_parent_beyond_the_page_is_none(forked: Home) -> None:
    found = asked(forked, limit=2)
    assert found.has_more
    assert len(found.rows) == 2


def test_no_step_comes_before_what_follows_from_it(samples: Home) -> None:
    found = asked(samples, limit=10_000)
    place = {row.entry.hash: number for number, row in enumerate(found.rows)}
    assert all(place[parent] > number for number, row in enumerate(found.rows) for parent in row.parents)
    assert sum(len(row.parents) > 1 for row in found.rows) > 3
    assert sum(not row.parents for row in found.rows) < 10


def test_one_session_alone(samples: Home) -> None:
    with open_index(samples) as index:
        session = find_session(index, "a42b3437")
        found = read_graph(samples, index, StepFilter(), session=session, limit=10)
    assert [row.entry.n for row in found.rows] == list(range(60, 50, -1))
    assert found.has_more


def test_what_cannot_be_read_is_counted(samples: Home) -> None:
    whole = len(asked(samples, limit=10_000).rows)
    path = samples.journal(asked(samples, limit=1).rows[0].entry.session)
    assert path is not None
    path.write_bytes(b"x" * path.stat().st_size)
    with open_index(samples) as index:
        found = read_graph(samples, index, StepFilter(), limit=10_000)
    assert found.lost > 0
    assert len(found.rows) + found.lost == whole

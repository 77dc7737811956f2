"""Keeping what is looked through current."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tallystick.errors import NotFoundError
from tallystick.graph.graph import GraphError
from tallystick.graph.journals import Depth
from tallystick.graph.timeline import is_searchable, size_of
from tallystick.journal.home import Home
from tallystick.model.verdict import Completeness
from tallystick.recording.recorder import Recorder
from tallystick.review import browse, browse_upkeep
from tallystick.review.browse import Reader


def nothing(_: int) -> None:
    return


@pytest.fixture
def reader(samples: Home) -> Iterator[Reader]:
    browse_upkeep.catch_up(samples, progress=nothing)
    found = Reader(samples)
    yield found
    found.close()


def codex(reader: Reader, kind: str = "root") -> str:
    return next(
        line.session.session
        for line in browse.all_sessions(reader)
        if line.session.agent == "codex" and line.session.kind == kind
    )


def test_the_index_changes_when_a_journal_does_and_one_session_can_be_caught_up_alone(samples: Home) -> None:
    browse_upkeep.catch_up(samples, progress=nothing)
    reader = Reader(samples)
    before = browse.state_of(reader)
    with Recorder(samples.folder) as recorder:
        session = recorder.session("demo", "new")
        session.prompt("hello")
        sid = session.id
        assert browse.state_of(reader) == before
        assert browse_upkeep.catch_up(samples, session=sid, progress=nothing) == []
        assert browse.state_of(reader) != before
        assert size_of(reader.graph, sid) == 2
        session.prompt("again")
        read: list[int] = []
        browse_upkeep.catch_up(samples, session=sid, depth=Depth.TEXT, progress=read.append)
    assert size_of(reader.graph, sid) == 3
    assert sum(read) > 0
    assert is_searchable(reader.graph, sid)
    reader.close()


def test_what_takes_long_can_be_stopped_and_gone_on_with(samples: Home) -> None:
    class Stop(Exception):
        pass

    def stop(_: int) -> None:
        raise Stop

    for path in samples.folder.glob("graph.db*"):
        path.unlink()
    with pytest.raises(Stop):
        browse_upkeep.catch_up(samples, progress=stop)
    assert browse_upkeep.catch_up(samples, progress=nothing) == []
    reader = Reader(samples)
    assert browse.state_of(reader)[0] == 8
    reader.close()


def test_a_verdict_is_reached_in_another_process(reader: Reader) -> None:
    session = codex(reader)
    assert browse_upkeep.verdict_of(reader.home, session).completeness is Completeness.TRUNCATED
    path = reader.home.journal(session)
    assert path is not None
    path.write_bytes(path.read_bytes().replace(b"exec_command", b"exec_commane", 1))
    assert browse_upkeep.verdict_of(reader.home, session).defects


def test_without_a_store_there_is_nothing_to_look_through(tmp_path: object, samples: Home) -> None:
    nowhere = Home(samples.folder / "nowhere")
    with pytest.raises(NotFoundError):
        browse_upkeep.catch_up(nowhere, progress=nothing)
    with pytest.raises(NotFoundError):
        browse_upkeep.verdict_of(nowhere, "0" * 32)
    with pytest.raises(GraphError):
        browse.all_sessions(Reader(nowhere))

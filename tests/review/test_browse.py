"""Looking through sessions, with their journals as they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tallystick.errors import NotFoundError
from tallystick.graph.graph import GraphError
from tallystick.graph.timeline import Spot
from tallystick.journal.home import Home
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


def test_all_trees_are_there_the_newest_first_each_session_below_what_it_hangs_on(reader: Reader) -> None:
    lines = browse.all_sessions(reader)
    assert len(lines) == len({line.session.session for line in lines}) == 8
    newest = [max(tree) for tree in _trees(reader)]
    assert newest == sorted(newest, reverse=True)
    places = {line.session.session: place for place, line in enumerate(lines)}
    assert all(places[line.session.parent] < places[line.session.session] for line in lines if line.session.parent)


def _trees(reader: Reader) -> list[list[str]]:
    trees: list[list[str]] = []
    for line in browse.all_sessions(reader):
        if line.row.depth == 0:
            trees.append([])
        trees[-1].append(line.session.last or "")
    return trees


def test_a_window_has_what_the_journal_says_and_picking_gives_the_same(reader: Reader) -> None:
    session = codex(reader)
    lines = browse.window(reader, session, 10, 20)
    assert [line.entry.n for line in lines] == list(range(10, 30))
    assert all(line.step is not None and line.step.hash == line.entry.hash for line in lines)
    assert browse.picked(reader, session, range(10, 30)) == lines
    assert [line.entry.n for line in lines if line.sessions] == [16]


def test_of_a_journal_that_is_gone_or_cut_the_index_still_has_the_steps(reader: Reader) -> None:
    session = codex(reader)
    path = reader.home.journal(session)
    assert path is not None
    path.write_bytes(path.read_bytes()[:9_000] + b"\nno line\n")
    lines = browse.window(reader, session, 0, 64)
    assert len(lines) == 42
    assert lines[0].step is not None
    assert lines[-1].step is None
    path.unlink()
    assert all(line.step is None for line in browse.window(reader, session, 0, 64))
    with pytest.raises(NotFoundError):
        browse.whole_step(reader, session, 3)


def test_the_cause_of_a_step_is_its_call_its_prompt_or_where_its_session_began(reader: Reader) -> None:
    session, child = codex(reader), codex(reader, "child")
    assert browse.cause_of(reader, session, 12) == Spot(session, 11)
    assert browse.cause_of(reader, session, 11) == Spot(session, 7)
    assert browse.cause_of(reader, session, 7) is None
    assert browse.cause_of(reader, session, 4_000) is None
    assert browse.cause_of(reader, child, 0) == Spot(session, 16)


def test_the_parent_is_what_is_sealed_across_sessions_too(reader: Reader) -> None:
    session, child = codex(reader), codex(reader, "child")
    assert browse.parent_of(reader, session, 17) == Spot(session, 15)
    assert browse.parent_of(reader, session, 0) is None
    assert browse.parent_of(reader, child, 0) == Spot(session, 16)


def test_everything_of_a_step_is_gathered(reader: Reader) -> None:
    session = codex(reader)
    found = browse.whole_step(reader, session, 12)
    assert found.shown.step.n == 12
    assert found.shown.defect is None
    assert [line.entry.n for line in found.beside] == [11]
    assert found.cause == Spot(session, 11)
    assert len(browse.whole_step(reader, session, 16).line.sessions) == 1
    with pytest.raises(NotFoundError, match="step"):
        browse.whole_step(reader, session, 42)


def test_an_index_that_was_made_anew_is_read_anew(reader: Reader) -> None:
    assert len(browse.all_sessions(reader)) == 8
    for path in reader.home.folder.glob("graph.db*"):
        path.unlink()
    with pytest.raises(GraphError):
        browse.all_sessions(reader)
    browse_upkeep.catch_up(reader.home, progress=nothing)
    assert len(browse.all_sessions(reader)) == 8

"""The index follows a journal of which retention has dropped values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tallystick.graph.checkpoints import CheckpointFilter, list_checkpoints
from tallystick.graph.compare import session_digests
from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tallystick.graph.projection.rewritten import Moved, follow
from tests.graph.making import Line, Session
from tests.support.graphs import new_graph

DROPPED = {2: frozenset({"content.label", "content.git"}), 5: frozenset({"content.label"})}


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Graph]:
    """An index made anew, to compare with."""
    with new_graph(tmp_path / "other.db") as graph:
        yield graph


@pytest.fixture
def session() -> Session:
    """A session of 7 steps, of which 2 and 5 are checkpoints."""
    session = Session("one")
    session.begin()
    session.prompt("go")
    mark(session, label="first", git={"head": "ab"})
    session.add("tool_call", {"tool": "Bash", "corr": "c"}, args={"command": "ls"})
    session.add("tool_result", {"tool": "Bash", "corr": "c", "success": True}, output="a")
    mark(session, label="second")
    session.add("assistant", text="done")
    return session


def mark(session: Session, **content: Any) -> None:
    last = session.lines[-1].step
    meta = {"trigger": "manual", "position": last.n, "position_hash": last.hash}
    session.add("checkpoint", meta, **content)


def without(session: Session) -> Session:
    """The session after retention."""
    after, offset = Session("one"), 0
    for line in session.lines:
        names = DROPPED.get(line.step.n, frozenset())
        values = {name: value for name, value in line.step.values.items() if name not in names}
        step = replace(line.step, values=values, withheld=tuple(sorted(names)))
        length = line.end - line.offset - 10 * len(names)
        after.lines.append(Line(step, offset, offset + length))
        offset += length
    return after


def moved(after: Session, *, before: int = 1, dropped: dict[int, frozenset[str]] | None = None) -> Moved:
    offsets = [line.offset for line in after.lines] + [after.lines[-1].end]
    return Moved(session=after.sid, before=before, after=2, offsets=offsets, dropped=dropped or DROPPED)


@pytest.mark.parametrize("known", range(6, 8))
def test_the_rows_are_those_that_reading_it_anew_makes(
    graph: Graph, other: Graph, session: Session, known: int
) -> None:
    project(graph, [session.journal(steps=known)])
    after = without(session)
    assert follow(graph, moved(after))
    assert project(graph, [after.journal(inode=2)]).steps == 7 - known  # what came meanwhile, and no more
    project(other, [after.journal(inode=2)])
    assert session_digests(graph) == session_digests(other)
    rows = list_checkpoints(graph, CheckpointFilter())
    assert [(row.label, row.git, row.is_pruned) for row in rows] == [(None, None, True)] * 2


def test_what_is_searchable_stays_so(graph: Graph, session: Session) -> None:
    project(graph, [session.journal()])
    after = without(session)
    assert follow(graph, moved(after))
    assert graph.rows("SELECT text_size FROM sessions") == [(7,)]
    assert graph.rows("SELECT count(*) FROM search WHERE search MATCH 'done'") == [(1,)]
    assert graph.rows("SELECT count(*) FROM search WHERE search MATCH 'first OR second'") == [(0,)]


def test_what_is_not_sure_changes_nothing(graph: Graph, session: Session) -> None:
    after = without(session)
    assert not follow(graph, moved(after))  # the index does not have it
    project(graph, [session.journal()])
    before = session_digests(graph)
    assert not follow(graph, moved(after, before=7))  # it was rewritten once more
    assert not follow(graph, moved(after, dropped={2: frozenset({"content.git"})}))
    assert not follow(graph, moved(after, dropped={2: frozenset({"content.label", "content.meta"})}))
    short = moved(after)
    assert not follow(graph, replace(short, offsets=short.offsets[:-1]))
    assert session_digests(graph) == before

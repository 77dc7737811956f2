"""Keeping the index in step with the journals.

Owns when the index is brought up to date, and what a reader is reported when it cannot be. Journals decide: the index
and the table of alerts are never written from anything else. How rows are made is graph's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from tallystick.errors import JournalError, NotFoundError
from tallystick.graph.alerts import Seen, has_new_alerts, project_alerts
from tallystick.graph.graph import Graph, GraphError, Mode, OutdatedError, empty_graph
from tallystick.graph.journals import Depth, Journal, Projected
from tallystick.graph.project import as_copied, forget, is_settled, outdated_journals, project
from tallystick.graph.queries import indexed_sessions
from tallystick.journal.home import Home
from tallystick.journal.read import Placed, read_at, read_file
from tallystick.model.recorded import OddlyRecorded, Recorded, legible_step
from tallystick.workspace import index_writer
from tallystick.workspace.index import LARGEST_SEARCHED, Index
from tallystick.workspace.index_elsewhere import REMARK, is_writable, open_if, temporary_copy
from tallystick.workspace.index_writer import Progress, Request

_NOTHING_NEW = Projected(sessions=0, steps=0, failures=(), unsearchable=0)


def journals_of(home: Home, sessions: Iterable[str] | None = None) -> Iterator[Journal]:
    """The journals of some sessions, or of all, as the projector takes them. Files are not opened."""
    if sessions is None:
        pairs: Iterable[tuple[str, str]] = home.files()
    else:
        found = ((sid, home.journal(sid)) for sid in sessions)
        pairs = ((sid, str(path)) for sid, path in found if path is not None)
    for sid, file in pairs:
        try:
            status = os.stat(file)  # noqa: PTH116 of 10,000 journals a Path each costs 100 ms
        except FileNotFoundError:
            continue  # erased or dropped between listing and looking
        yield Journal(session=sid, inode=status.st_ino, size_bytes=status.st_size, read=_reader(home, file))


def _reader(home: Home, file: str) -> Callable[[int], Iterable[Placed]]:
    def read(start: int) -> Iterator[Placed]:
        for placed in read_file(home, Path(file), start=start, load_blobs=True, largest=LARGEST_SEARCHED):
            if isinstance(placed.step, OddlyRecorded):
                yield replace(placed, step=legible_step(placed.step))
            else:
                yield placed

    return read


def _unheard(_bytes: int) -> None:
    pass


def bring_up_to_date(
    home: Home,
    graph: Graph,
    *,
    sessions: Iterable[str] | None = None,
    depth: Depth = Depth.TEXT,
    progress: Progress = _unheard,
) -> Projected:
    """Take what is new in some journals, or in all, into the index; sessions whose journals are gone leave it.

    Raises:
        GraphError: the index cannot be written.
    """
    journals = list(journals_of(home, sessions))
    if sessions is None:
        gone = _gone(graph, journals)
        if gone:
            forget(graph, gone)
    done = project(graph, journals, depth=depth, progress=progress)
    take_alerts(home, graph, seen=Seen.ALL if sessions is None else Seen.SOME)
    return done


def _gone(graph: Graph, journals: Sequence[Journal]) -> list[str]:
    """The sessions in the index that have no journal any more."""
    there = {journal.session for journal in journals}
    return [row.session for row in indexed_sessions(graph) if row.session not in there]


def take_alerts(home: Home, graph: Graph, *, seen: Seen = Seen.ALL) -> int:
    """Bring the table of alerts up to date with the steps that the index has; how many were appended. Raises GraphError."""

    def read(session: str, offset: int) -> Recorded | None:
        path = home.journal(session)
        if path is None:
            return None
        return read_at(home, path, offset, load_blobs=True)

    return project_alerts(graph, read, seen=seen)


@contextmanager
def open_index(home: Home, *, depth: Depth = Depth.ROWS, progress: Progress = _unheard) -> Iterator[Index]:
    """The index, brought up to date if journals have grown. Where it cannot be, it is used as it is, with a remark.

    Args:
        depth: how far: searching needs the text of steps, all else only their rows.
        progress: called with how many bytes more of the journals were read.

    Raises:
        NotFoundError: there is no store. GraphError: the index cannot be used at all.
    """
    if not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    remarks: list[str] = []
    if is_writable(home):
        with _current(home, depth, remarks, progress) as graph:
            yield Index(graph, remarks)
        return
    own = open_if(home, lambda graph: _is_current(home, graph, depth))
    if own is not None:
        with own:
            yield Index(own, remarks)
        return
    with temporary_copy(home) as graph:
        remarks.append(REMARK)
        remarks += _remarks(bring_up_to_date(home, graph, depth=depth, progress=progress))
        yield Index(graph, remarks)


def _is_current(home: Home, graph: Graph, depth: Depth) -> bool:
    """Whether an index has all that is in the journals, which may be copies of those that it was made from."""
    journals = list(journals_of(home))
    is_whole = is_settled(graph) and not _gone(graph, journals)
    return is_whole and not outdated_journals(graph, as_copied(graph, journals), depth)


def refresh_index(
    home: Home, *, sessions: Iterable[str] | None = None, depth: Depth = Depth.ROWS, progress: Progress = _unheard
) -> Projected:
    """Have the index know what some journals hold now, or all: by the indexer where one runs, else by this process.

    Raises:
        GraphError: the index cannot be written, or no one who writes it answers.
    """
    wanted = Request(sessions=None if sessions is None else tuple(sessions), depth=depth)
    until = time.monotonic() + index_writer.PATIENCE_S
    while True:
        with index_writer.claim(home) as is_mine:
            if is_mine:
                with _open(home, []) as graph:
                    return bring_up_to_date(home, graph, sessions=wanted.sessions, depth=depth, progress=progress)
        done = index_writer.ask(home, wanted, progress)
        if done is not None:
            return done
        index_writer.look_again(home, until)


def _current(home: Home, depth: Depth, remarks: list[str], progress: Progress) -> Graph:
    graph: Graph | None = None
    done = _NOTHING_NEW
    try:
        with index_writer.claim(home) as is_mine:
            if is_mine:
                graph = _open(home, remarks)
                done = bring_up_to_date(home, graph, depth=depth, progress=progress)
        if graph is None:
            if not is_current(home, depth):
                done = refresh_index(home, depth=depth, progress=progress)
            graph = Graph(home.graph)
        remarks += _remarks(done)
        return graph
    except (GraphError, JournalError) as error:
        if graph is not None:
            graph.close()
        stale = Graph(home.graph, Mode.READ)  # raises where the index is of no use at all
        remarks.append(f"the index is stale: {error}")
        return stale


def _remarks(done: Projected) -> Iterator[str]:
    """What a reader should know of how the index was brought up to date."""
    if done.outdated:
        sessions = "1 session was"
        if done.outdated != 1:
            sessions = f"{done.outdated:,} sessions were"
        yield f"the rules of the index have changed: {sessions} projected again"
    for failure in done.failures:
        yield f"{failure.session[:8]}: cannot be read from step {failure.n} on: {failure.why}"


def is_current(home: Home, depth: Depth = Depth.ROWS) -> bool:
    """Whether the index has all that the journals hold, so that no one needs to be asked."""
    try:
        with Graph(home.graph) as graph:
            journals = list(journals_of(home))
            is_behind = _gone(graph, journals) or outdated_journals(graph, journals, depth) or has_new_alerts(graph)
            return is_settled(graph) and not is_behind
    except GraphError:
        return False


def _open(home: Home, remarks: list[str]) -> Graph:
    """The index, to be brought up to date; one of an older version is rebuilt."""
    try:
        return Graph(home.graph, Mode.WRITE)
    except OutdatedError:
        remarks.append("index rebuilt: it was written by another version")
        return empty_graph(home.graph)


def indexed(home: Home) -> tuple[tuple[str, int, str], ...]:
    """(session, size, hash of the last entry) of all sessions as the index has them; nothing if it cannot be read."""
    try:
        with Graph(home.graph) as graph:
            return tuple((row.session, row.size, row.last_hash) for row in indexed_sessions(graph))
    except GraphError:
        return ()

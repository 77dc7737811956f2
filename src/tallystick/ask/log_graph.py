"""The newest steps with what each follows from, for a graph of them.

Owns their order (newest first, but never before what follows from them) and what stands for parents that are not shown: the
nearest of their own that are. Which steps are the newest is the log's; lanes are display's.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.ask.log import page_of_log
from tallystick.errors import TallystickError
from tallystick.graph.replay_tracks import tracks_of
from tallystick.graph.steps import StepEntry
from tallystick.journal.home import Home
from tallystick.journal.read import read_file
from tallystick.model.recorded import Recorded
from tallystick.sessions.merging import merged
from tallystick.sessions.timeline import Track
from tallystick.workspace.filters import StepFilter
from tallystick.workspace.index import Index

_MOST_PARENTS = 16


class GraphRow(msgspec.Struct, frozen=True):
    """A step, as the index and as its journal has it, and the hashes of the shown steps that it follows from."""

    entry: StepEntry
    step: Recorded
    parents: tuple[str, ...]


class GraphRows(msgspec.Struct, frozen=True):
    """Some steps, newest first, whether there are more, and how many cannot be read where the index says."""

    rows: tuple[GraphRow, ...]
    has_more: bool
    lost: int


def read_graph(
    home: Home, index: Index, wanted: StepFilter, *, session: str | None = None, limit: int = 50
) -> GraphRows:
    """The newest steps that a filter takes, at most `limit`, of one session (our whole id) or of all.

    Raises:
        UsageError: a request without its session, or a time that is none.
    """
    page = page_of_log(index, wanted, session=session, limit=limit)
    by_session: dict[str, list[StepEntry]] = {}
    for entry in page.steps:
        by_session.setdefault(entry.session, []).append(entry)
    shown = {entry.hash: entry for entry in page.steps}
    tracks = tracks_of(index.graph, by_session)
    beats = merged(((track, 0) for track in tracks.values()), lambda track: _between(home, by_session[track.session]))
    rows: list[GraphRow] = []
    nearest: dict[str, tuple[str, ...]] = {}
    for beat in beats:
        step = beat.step
        parents = _shown_parents(step, beat.track, shown, nearest)
        found = shown.get(step.hash)
        if found is not None:
            rows.append(GraphRow(found, step, parents))
        else:
            nearest[step.hash] = parents
    return GraphRows(tuple(reversed(rows)), page.next is not None, len(page.steps) - len(rows))


def _between(home: Home, entries: list[StepEntry]) -> Iterator[Recorded]:
    """The steps of a session from the first that is shown to the last, as far as they can be read."""
    first, last = min(entries, key=lambda entry: entry.n), max(entries, key=lambda entry: entry.n)
    path = home.journal(first.session)
    if path is None:
        return
    try:
        for placed in read_file(home, path, start=first.offset):
            yield placed.step
            if placed.step.n >= last.n:
                return
    except TallystickError:
        return  # who asks is told how many steps are lost


def _shown_parents(
    step: Recorded, track: Track, shown: dict[str, StepEntry], nearest: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """What a step follows from among those that are shown; a parent that is not stands for its own."""
    parents = [parent.rpartition("#")[2] for parent in step.parent_path]
    if step.n == 0 and not parents and track.hangs_on is not None:
        parents = [track.hangs_on]
    found: dict[str, None] = {}
    for parent in parents:
        found |= dict.fromkeys((parent,) if parent in shown else nearest.get(parent, ()))
    return tuple(found)[:_MOST_PARENTS]

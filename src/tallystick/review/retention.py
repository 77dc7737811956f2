"""Retention of checkpoints: what old and replaced ones say is dropped, what they mark stays.

Owns which checkpoints are too old, and what of them goes. The tombstone keeps position, hash, trigger and tokens; the
first one of a session's start, those that someone wants kept, and those that another session belongs to stay whole.
Must not know how values are taken away: journal.erase does. Sources: docs/format.md 9.2 and 12; docs/checkpoints.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from tallystick.graph.checkpoints import Marked, due_checkpoints
from tallystick.graph.graph import Graph, GraphError, Mode
from tallystick.graph.projection.rewritten import Moved, follow
from tallystick.graph.times import asked_time
from tallystick.journal.erase import Rewritten, drop_content
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.read import read_at
from tallystick.model.ids import SessionId
from tallystick.model.moments import write_time
from tallystick.model.recorded import Recorded
from tallystick.recording.checkpoints.write import check_enabled, read_rules
from tallystick.recording.store import open_archive
from tallystick.workspace.index_writer import claimed
from tallystick.workspace.indexing import open_index

RULE = "checkpoints"
"""The rule that the ledger names."""
_MOST_DAYS = 36_500


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint that is to be dropped, and the names of its values."""

    session: str
    n: int
    hash: str = msgspec.field(name="id")
    trigger: str
    label: str | None
    names: tuple[str, ...]


class Pruned(msgspec.Struct, frozen=True):
    """What was dropped: of how many checkpoints, in how many sessions, and how many values."""

    checkpoints: int
    sessions: int
    values: int


def due(home: Home, *, now: datetime, older_than_days: int | None = None) -> tuple[Due, ...]:
    """The checkpoints that retention takes what they say from, by session and number. Nothing is changed.

    Args:
        older_than_days: instead of the setting `checkpoints.retention_days`; 0: none is too old, only replaced ones go.

    Raises:
        CheckpointError: checkpoints are off. NotFoundError: there is no store. GraphError: the index cannot be read.
    """
    rules = read_rules(home)
    check_enabled(rules)
    days = min(rules.retention_days if older_than_days is None else older_than_days, _MOST_DAYS)
    before = None
    if days:
        before = asked_time(write_time(now - timedelta(days=days)))
    with open_index(home) as index:
        marked = due_checkpoints(index.graph, before)
    return tuple(_still_due(home, marked))


def _still_due(home: Home, marked: list[Marked]) -> Iterator[Due]:
    """Those of which the journal says the same, and no one wants them kept."""
    if marked:
        paths = dict(home.sessions())
    else:
        paths = {}
    for each in marked:
        path = paths.get(SessionId(each.session))
        step = None
        if path is not None:
            step = read_at(home, path, each.offset)
        if step is None or step.hash != each.hash or step.meta.get("keep") is True:
            continue
        names = _names(step)
        if names:
            yield Due(
                session=each.session,
                n=each.n,
                hash=each.hash,
                trigger=str(step.meta.get("trigger")),
                label=step.text("content.label"),
                names=names,
            )


def _names(step: Recorded) -> tuple[str, ...]:
    return tuple(sorted(name for name in (*step.values, *step.raw, *step.unloaded) if name.startswith("content.")))


def prune(home: Home, found: tuple[Due, ...], *, progress: Callable[[int], None] = lambda _: None) -> Pruned:
    """Drop what some checkpoints say. The record verifies as before, and the index forgets it too.

    Args:
        progress: called with how many more sessions are done.

    Raises:
        JournalError: the store cannot be written; what was sealed is finished at the next opening.
    """
    wanted: dict[SessionId, dict[int, frozenset[str]]] = {}
    for each in found:
        wanted.setdefault(SessionId(each.session), {})[each.n] = frozenset(each.names)
    if wanted:
        done: list[Rewritten] = []

        def rewritten(one: Rewritten) -> None:
            done.append(one)
            progress(1)

        archive = open_archive(home)
        try:
            drop_content(archive, wanted, rule=RULE, rewritten=rewritten)
        finally:
            archive.close()
            _follow(home, done, wanted)
        with open_index(home):  # what could not be followed is read again: the index holds no word any longer
            pass
    return Pruned(len(found), len(wanted), sum(len(each.names) for each in found))


def _follow(home: Home, done: list[Rewritten], dropped: dict[SessionId, dict[int, frozenset[str]]]) -> None:
    """Tell the index where the lines of rewritten journals are now, so that it need not read them, nor empty its search."""
    try:
        with claimed(home), Graph(home.graph, Mode.WRITE) as graph:
            for one in done:
                path = home.journal(one.session)
                if path is not None and path.stat().st_ino == one.after:
                    moved = Moved(
                        session=one.session,
                        before=one.before,
                        after=one.after,
                        offsets=_offsets(path),
                        dropped=dropped[one.session],
                    )
                    follow(graph, moved)
            graph.wipe_traces()
    except (GraphError, OSError):
        return  # anyone who reads the index next brings it up to date


def _offsets(path: Path) -> list[int]:
    """Where each line begins, and where the last one ends."""
    lines = LineFile(path)
    return [0, *(lines.end for _ in lines)]

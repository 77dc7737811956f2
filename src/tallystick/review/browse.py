"""Looking through sessions: windows of steps, and what each belongs to.

Owns joining what the index answers with the lines of the journals, for someone who stays and asks again and again.
Every answer is read again: nothing of a session is kept here. Must not know a screen, nor how the index is kept current.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice

import msgspec

from tallystick.ask.show import Shown, show_step
from tallystick.errors import FormatError, JournalError, NotFoundError
from tallystick.graph import timeline
from tallystick.graph.family import all_links
from tallystick.graph.graph import Graph, Mode
from tallystick.graph.queries import SessionFilter, SessionRow, list_sessions
from tallystick.graph.steps import StepEntry, get_step
from tallystick.graph.timeline import Spot, Wanted
from tallystick.journal.home import Home
from tallystick.journal.read import read_at, read_file
from tallystick.model.recorded import Recorded
from tallystick.sessions.tree import Forest, Node, TreeRow

FAILED = Wanted(failed=True)
DECIDED = Wanted(types=timeline.DECIDING)
PROMPTS = Wanted(types=("user",))


class Reader:
    """The index, open for one thread that asks it often. It is not brought up to date by being read."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._graph: Graph | None = None

    @property
    def graph(self) -> Graph:
        """The index as it is now; it is opened again where the file is another one than before.

        Raises: GraphError: none exists, or none of use.
        """
        if self._graph is not None and self._graph.is_moved:
            self.close()
        if self._graph is None:
            self._graph = Graph(self.home.graph, Mode.READ)
        return self._graph

    def close(self) -> None:
        """Close the index until it is asked again."""
        if self._graph is not None:
            self._graph.close()
            self._graph = None


# The tree -------------------------------------------------------------------------------------------------------------


class SessionLine(msgspec.Struct, frozen=True):
    """A session, and the line of the drawn trees that it is on."""

    row: TreeRow
    session: SessionRow


def all_sessions(reader: Reader) -> list[SessionLine]:
    """All trees of sessions, the one with the newest step first. Raises GraphError."""
    nodes = (Node(**{name: getattr(link, name) for name in Node.__struct_fields__}) for link in all_links(reader.graph))
    known = {row.session: row for row in list_sessions(reader.graph, SessionFilter(limit=None))}
    trees: list[list[SessionLine]] = []
    for row in Forest(nodes).all_rows():
        if row.depth == 0:
            trees.append([])
        if row.session in known:
            trees[-1].append(SessionLine(row, known[row.session]))
    trees.sort(key=lambda tree: max((line.session.last or "" for line in tree), default=""), reverse=True)
    return [line for tree in trees for line in tree]


# Windows --------------------------------------------------------------------------------------------------------------


class Line(msgspec.Struct, frozen=True):
    """A step as the index and its journal have it (None: it is not where the index says), and what sessions belong to it."""

    entry: StepEntry
    step: Recorded | None
    sessions: tuple[str, ...] = ()


def window(reader: Reader, session: str, first: int, count: int) -> list[Line]:
    """The steps of a session from number `first` on. Raises GraphError."""
    entries = timeline.window(reader.graph, session, first, count)
    path = reader.home.journal(session)
    found: list[Recorded] = []
    if path is not None and entries:
        with suppress(FormatError, JournalError):  # the steps before a line that is none of ours are shown
            found += (
                placed.step for placed in islice(read_file(reader.home, path, start=entries[0].offset), len(entries))
            )
    return _joined_lines(reader, session, entries, found)


def picked(reader: Reader, session: str, numbers: Sequence[int]) -> list[Line]:
    """The steps of a session with some numbers. Raises GraphError."""
    entries = timeline.picked(reader.graph, session, numbers)
    path = reader.home.journal(session)
    if path is not None:
        found = [read_at(reader.home, path, entry.offset) for entry in entries]
    else:
        found = []
    return _joined_lines(reader, session, entries, (step for step in found if step is not None))


def _joined_lines(reader: Reader, session: str, entries: Sequence[StepEntry], steps: Iterable[Recorded]) -> list[Line]:
    by_hash = {step.hash: step for step in steps}
    names = [name for entry in entries for name in (entry.hash, entry.source_id) if name is not None]
    on = timeline.sessions_on(reader.graph, session, names)
    return [
        Line(entry, by_hash.get(entry.hash), (*on.get(entry.hash, ()), *on.get(entry.source_id or "-", ())))
        for entry in entries
    ]


# One step -------------------------------------------------------------------------------------------------------------


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """A step with all that is known of it, and the steps beside it: who decided on the call, and what it gave."""

    shown: Shown
    line: Line
    beside: tuple[Line, ...]
    cause: Spot | None


def whole_step(reader: Reader, session: str, n: int) -> Whole:
    """Everything about step `n` of a session.

    Raises:
        NotFoundError: there is no such step, or its journal is gone. FormatError: its line is none of ours.
        GraphError: the index cannot be read.
    """
    entry = get_step(reader.graph, session, n)
    if entry is None:
        raise NotFoundError(f"step {session}:{n} does not exist", hint="R reads the journals again")
    shown = show_step(reader.home, session, n, entry.offset)
    beside = timeline.beside(reader.graph, entry)
    return Whole(
        shown=shown,
        line=_joined_lines(reader, session, [entry], [shown.step])[0],
        beside=tuple(picked(reader, session, beside)) if beside else (),
        cause=cause_of(reader, session, n),
    )


def cause_of(reader: Reader, session: str, n: int) -> Spot | None:
    """What a step was for: the call it answers or was observed of, else the step it is within, else its prompt.

    Of a prompt and of what no prompt asked: the step of another session that this session belongs to. None: nothing is
    known.
    """
    entry = get_step(reader.graph, session, n)
    if entry is None:
        return None
    call = timeline.call_of(reader.graph, entry)
    if call is not None:
        return call
    for number in (entry.parent, entry.request):
        if number is not None and 0 <= number < n:
            return Spot(session, number)
    return timeline.began_at(reader.graph, session)


def parent_of(reader: Reader, session: str, n: int) -> Spot | None:
    """The step that a step follows from: what its journal seals, else the one before it; None: it is the first of all."""
    entry = get_step(reader.graph, session, n)
    path = reader.home.journal(session)
    step = None
    if entry is not None and path is not None:
        step = read_at(reader.home, path, entry.offset)
    for parent in step.parents if step is not None else ():
        sid, mark, digest = parent.rpartition("#")
        found = timeline.by_hash(reader.graph, sid if mark else session, digest)
        if found is not None:
            return found
    if n:
        return Spot(session, n - 1)
    return timeline.began_at(reader.graph, session)


def state_of(reader: Reader) -> tuple[int, ...]:
    """What changes when the index does. Raises GraphError."""
    row = reader.graph.row("SELECT count(*), coalesce(sum(size), 0), coalesce(max(last_event_at), 0) FROM sessions")
    return tuple(row or ())

"""Projecting journals into the index.

Owns from where each journal is read, what makes a session start over, and when is committed. A session's rows and how far
its journal was read are written together, so that it does not matter where projecting stops: it goes on from there.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from tallystick.errors import FormatError, TallystickError
from tallystick.graph import row_writer, rules
from tallystick.graph.graph import Graph
from tallystick.graph.relation_builder import settle
from tallystick.graph.tables import SessionState
from tallystick.model.recorded import Recorded

_STEPS_A_TRANSACTION = 20_000
_STEPS_OF_THE_FIRST = 1_000
"""Steps of a run's first transaction: anyone who looks at an index that is being made sees something at once."""
_CHARACTERS_A_TRANSACTION = 16_000_000
_STEPS_A_WRITE = 1_000
_CHARACTERS_A_WRITE = 2_000_000


class Placed(Protocol):
    """A step and where its line lies in the journal: bytes `offset` to `end`."""

    @property
    def step(self) -> Recorded:
        """The step."""
        ...

    @property
    def offset(self) -> int:
        """Where its line begins."""
        ...

    @property
    def end(self) -> int:
        """Where the next one begins."""
        ...


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """A journal to project. `read(start)` gives its steps from byte `start` on, which begins a line.

    `inode` and `size_bytes` are the file's, taken before anything is read. Values that are kept as blobs and that `read`
    does not load cannot be searched.
    """

    session: str
    inode: int
    size_bytes: int
    read: Callable[[int], Iterable[Placed]]


class Depth(enum.Enum):
    """How much of each step is projected."""

    ROWS = "rows"
    """Its rows only; its text becomes searchable when it is projected to depth TEXT."""
    TEXT = "text"


class Failure(msgspec.Struct, frozen=True):
    """A journal that could not be projected to its end. What comes before entry `n` is in the index."""

    session: str
    n: int
    why: str


class Projected(msgspec.Struct, frozen=True, kw_only=True):
    """What was done: how many sessions changed, how many of their steps were read, and which journals are not all there.

    `outdated` is how many sessions had rows made by other rules, which were made again. `unsearchable` is how many sessions
    of the whole index have text that `search` does not find yet.
    """

    sessions: int
    steps: int
    failures: tuple[Failure, ...]
    unsearchable: int
    outdated: int = 0


def project(
    graph: Graph,
    journals: Iterable[Journal],
    *,
    depth: Depth = Depth.TEXT,
    progress: Callable[[int], None] = lambda _bytes: None,
) -> Projected:
    """Bring the index up to date with these journals. Those that have not changed are not opened.

    A journal whose file was replaced (an erasure does that), cut or changed is projected again. Because single
    documents cannot be taken out of the search index, this empties it; it fills again as journals are projected to
    depth TEXT.

    Args:
        progress: called with how many bytes more of the journals were read.

    Raises:
        GraphError: the index cannot be written. What was committed before stays, and nothing is half done.
    """
    run = _Run(graph, depth, progress)
    # In the order of their ids, which is that of their rows; of two files for one session the first counts.
    by_session: dict[str, Journal] = {}
    for journal in journals:
        by_session.setdefault(journal.session, journal)
    todo = [by_session[session] for session in sorted(by_session)]
    try:
        behind = run.drop_replaced(todo)
        if run.project(todo if run.has_wiped else behind):
            run.project(todo)
        settle(graph)
    finally:
        graph.roll_back()
    if run.has_wiped:
        graph.wipe_traces()
    return Projected(
        sessions=len(run.changed),
        steps=run.steps,
        failures=tuple(run.failures.values()),
        unsearchable=unsearchable_sessions(graph),
        outdated=run.outdated,
    )


def forget(graph: Graph, sessions: Iterable[str]) -> None:
    """Take sessions out of the index: those whose journals are gone. Empties the search index. Raises GraphError."""
    run = _Run(graph, Depth.ROWS, lambda _bytes: None)
    try:
        graph.begin()
        for session in sessions:
            state = row_writer.read_session(graph, session)
            if state is not None:
                run.remove(state)
        graph.commit()
        settle(graph)
    finally:
        graph.roll_back()
    if run.has_wiped:
        graph.wipe_traces()


def outdated_sessions(graph: Graph) -> list[str]:
    """The sessions whose rows were made by other rules than this program's: projecting makes them again."""
    found = graph.rows("SELECT session_id FROM sessions WHERE rules != ? ORDER BY session_id", (rules.current(),))
    return [row[0] for row in found]


def unsearchable_sessions(graph: Graph) -> int:
    """How many sessions have steps whose text is not in the search index yet."""
    found = graph.row("SELECT count(*) FROM sessions WHERE text_size < size")
    if found is None:
        return 0
    return int(found[0])


class _StartOver(Exception):
    """The session's rows do not fit its journal any more, or there are no ids left where it stands."""

    def __init__(self, room: int = row_writer.ROOM) -> None:
        super().__init__()
        self.room = room


class _Run:
    """One call of `project`."""

    def __init__(self, graph: Graph, depth: Depth, progress: Callable[[int], None]) -> None:
        self.changed: set[str] = set()
        self.steps = 0
        self.outdated = 0
        self.failures: dict[str, Failure] = {}
        self.has_wiped = False
        self._graph = graph
        self._depth = depth
        self._progress = progress
        self._bytes = 0
        self._steps_to_commit = 0
        self._characters_to_commit = 0

    def drop_replaced(self, journals: Sequence[Journal]) -> list[Journal]:
        """Take sessions out whose files are not those that were read. All of them first: each empties the search index.

        The journals of which something is not in the index.
        """
        behind = self._behind(journals)
        for journal in behind:
            state = row_writer.read_session(self._graph, journal.session)
            if state is not None and _is_replaced(journal, state):
                self._begin()
                self.outdated += state.rules != rules.current()
                self.remove(state)
        return behind

    def project(self, journals: Sequence[Journal]) -> bool:
        """Project what is new. True if the search index was emptied on the way, so that there is more to do."""
        wiped_before, self.has_wiped = self.has_wiped, False
        for journal in self._behind(journals):
            room = row_writer.ROOM
            while (more := self._project_one(journal, room)) is not None:
                room = more
        if self._graph.in_transaction:
            self._graph.commit()
        self.steps += self._steps_to_commit
        self._steps_to_commit = self._characters_to_commit = 0
        wiped_late, self.has_wiped = self.has_wiped, self.has_wiped or wiped_before
        return wiped_late and self._depth is Depth.TEXT

    def remove(self, state: SessionState) -> None:
        """Take a session out of the index."""
        self.changed.add(state.session_id)
        if row_writer.remove_session(self._graph, state):
            self.has_wiped = True

    def _behind(self, journals: Sequence[Journal]) -> list[Journal]:
        """The journals of which something is not in the index yet."""
        known = row_writer.read_positions(self._graph, [journal.session for journal in journals])
        behind = []
        for journal in journals:
            at = known.get(journal.session, row_writer.Position())
            is_current = at[:3] == (journal.inode, rules.current(), journal.size_bytes)
            if not is_current or (self._depth is Depth.TEXT and at.text_size < at.size):
                behind.append(journal)
        return behind

    def _begin(self) -> None:
        if not self._graph.in_transaction:
            self._graph.begin()

    def _project_one(self, journal: Journal, room: int) -> int | None:
        """Project one journal; how much room its ids need if it has to be done again."""
        self._begin()
        state = row_writer.read_session(self._graph, journal.session)
        if state is None:
            state = row_writer.new_session(self._graph, journal.session, inode=journal.inode, room=room)
            state.rules = rules.current()
        try:
            if self._read(journal, row_writer.Writer(self._graph, state, _step_at(journal))):
                return None
            return room
        except _StartOver as start_over:
            self.remove(state)
            return start_over.room

    def _read(self, journal: Journal, writer: row_writer.Writer) -> bool:
        """Read a journal from where the index ends. False if another process projected the session meanwhile."""
        state = writer.state
        reading = _Reading(journal, self._graph, state, self._depth)
        room = row_writer.ceiling(self._graph, state.first_id)
        for placed in reading.steps():
            step = placed.step
            if room is not None and state.first_id + step.n >= room:
                raise _StartOver(max(row_writer.ROOM, 4 * step.n))
            if step.n == state.size:
                writer.projection.take(step, placed.offset)
                state.read_to = placed.end
            if self._depth is Depth.TEXT and step.n == state.text_size:
                self._characters_to_commit += writer.take_text(step)
            self._bytes += placed.end - placed.offset
            self._steps_to_commit += 1
            is_time = self._steps_to_commit % _STEPS_A_WRITE == 0 or writer.waiting_characters > _CHARACTERS_A_WRITE
            if is_time and not self._write(writer):
                return False
        if reading.failure is not None:
            self.failures[journal.session] = reading.failure
        return self._write(writer, is_end=True)

    def _write(self, writer: row_writer.Writer, *, is_end: bool = False) -> bool:
        """Write what is waiting, and commit if that is much. False if another process changed the session thereupon."""
        writer.write_steps()
        self._progress(self._bytes)
        self._bytes = 0
        enough = _STEPS_OF_THE_FIRST
        if self.steps:
            enough = _STEPS_A_TRANSACTION
        is_much = self._steps_to_commit >= enough or self._characters_to_commit >= _CHARACTERS_A_TRANSACTION
        if (is_much or is_end) and writer.state.size:
            writer.write()
            self.changed.add(writer.state.session_id)
        if not is_much:
            return True
        self._graph.commit()
        self.steps += self._steps_to_commit
        self._steps_to_commit = self._characters_to_commit = 0
        self._begin()
        return is_end or row_writer.read_session(self._graph, writer.state.session_id) == writer.state


class _Reading:
    """The steps of one journal that are not in the index, as long as each follows from the one before."""

    def __init__(self, journal: Journal, graph: Graph, state: SessionState, depth: Depth) -> None:
        self.failure: Failure | None = None
        self._journal = journal
        self._size = state.size
        self._last_hash = state.last_hash
        if depth is Depth.TEXT:
            self._n = min(state.size, state.text_size)
        else:
            self._n = state.size
        self._before = row_writer.read_place(graph, state, self._n - 1) if self._n else None

    def steps(self) -> Iterator[Placed]:
        """The steps. Raises _StartOver if the journal does not begin as it did when it was read."""
        try:
            for placed in self._steps_after_the_last():
                if not self._follows(placed.step):
                    self._fail("this entry does not follow from the one before it")
                    return
                self._n += 1
                self._before = (placed.step.hash, placed.offset)
                if self._n == self._size and placed.step.hash != self._last_hash:
                    raise _StartOver
                yield placed
            if self._n < self._size:
                raise _StartOver
        except TallystickError as error:
            self._fail(str(error))

    def _steps_after_the_last(self) -> Iterator[Placed]:
        """What comes after the last step that was read, which is read again: it must still be where it was."""
        if self._before is None:
            yield from self._journal.read(0)
            return
        digest, offset = self._before
        try:
            placed = iter(self._journal.read(offset))
            last = next(placed, None)
        except FormatError as error:
            raise _StartOver from error
        if last is None or last.step.hash != digest:
            raise _StartOver
        yield from placed

    def _follows(self, step: Recorded) -> bool:
        if step.session != self._journal.session or step.n != self._n:
            return False
        return self._before is None or step.prev == self._before[0]

    def _fail(self, why: str) -> None:
        self.failure = Failure(self._journal.session, self._n, why)


def _step_at(journal: Journal) -> Callable[[int], Recorded | None]:
    """Reads the step whose line begins at an offset, or None now."""

    def read(offset: int) -> Recorded | None:
        try:
            placed = next(iter(journal.read(offset)), None)
        except TallystickError:
            return None
        if placed is None:
            return None
        return placed.step

    return read


def _is_replaced(journal: Journal, state: SessionState) -> bool:
    """Whether the rows are those of another file, or made by other rules."""
    return journal.inode != state.inode or state.rules != rules.current()

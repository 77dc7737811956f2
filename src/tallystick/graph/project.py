"""Projecting journals into the index.

Owns from where each journal is read, what makes a session start over, and when is committed. A session's rows and how far
its journal was read are written together, so that it does not matter where projecting stops: it goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from tallystick.errors import FormatError, TallystickError
from tallystick.graph import rules
from tallystick.graph.content_tags import meaning, tags_in
from tallystick.graph.graph import Graph
from tallystick.graph.journals import Depth, Failure, Journal, Placed, Projected
from tallystick.graph.projection import row_writer
from tallystick.graph.projection.relation_builder import settle
from tallystick.graph.projection.session import SessionProjection
from tallystick.graph.queries import unsearchable_sessions
from tallystick.graph.tables import SessionState
from tallystick.model.recorded import Recorded

_STEPS_A_TRANSACTION = 20_000
_STEPS_OF_THE_FIRST = 1_000
"""Steps of a run's first transaction: anyone who looks at an index that is being made sees something at once."""
_CHARACTERS_A_TRANSACTION = 16_000_000
_STEPS_A_WRITE = 1_000
_CHARACTERS_A_WRITE = 2_000_000


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
    depth TEXT. What is made of a thing costs as much as all that ever touched it, so who projects one session after
    another does it to depth STEPS, and the rest once.

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
        if depth is not Depth.STEPS:
            settle(graph, meaning)
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


def outdated_journals(graph: Graph, journals: Sequence[Journal], depth: Depth) -> list[Journal]:
    """The journals of which something is not in the index yet."""
    known = row_writer.read_positions(graph, [journal.session for journal in journals])
    behind = []
    for journal in journals:
        at = known.get(journal.session, row_writer.Position())
        is_current = at[:3] == (journal.inode, rules.current(), journal.size_bytes)
        if not is_current or (depth.has_text and at.text_size < at.size):
            behind.append(journal)
    return behind


def is_settled(graph: Graph) -> bool:
    """Whether versions and relations are made of all that is in the index."""
    return graph.row("SELECT 1 FROM unsettled LIMIT 1") is None


def as_copied(graph: Graph, journals: Sequence[Journal]) -> list[Journal]:
    """Journals of a store that was copied, each as the file that the index was made from if it is as long as that."""
    known = row_writer.read_positions(graph, [journal.session for journal in journals])
    found = []
    for journal in journals:
        at = known.get(journal.session, row_writer.Position())
        if at.read_to == journal.size_bytes:
            found.append(msgspec.structs.replace(journal, inode=at.inode))
        else:
            found.append(journal)
    return found


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
        settle(graph, meaning)
    finally:
        graph.roll_back()
    if run.has_wiped:
        graph.wipe_traces()


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
        return wiped_late and self._depth.has_text

    def remove(self, state: SessionState) -> None:
        """Take a session out of the index."""
        self.changed.add(state.session_id)
        if row_writer.remove_session(self._graph, state):
            self.has_wiped = True

    def _behind(self, journals: Sequence[Journal]) -> list[Journal]:
        """The journals of which something is not in the index yet."""
        return outdated_journals(self._graph, journals, self._depth)

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
        projection = SessionProjection(state, writer, writer.rows, tags_in)
        reading = _Reading(journal, self._graph, state, self._depth)
        room = row_writer.ceiling(self._graph, state.first_id)
        for placed in reading.steps():
            step = placed.step
            if room is not None and state.first_id + step.n >= room:
                raise _StartOver(max(row_writer.ROOM, 4 * step.n))
            if step.n == state.size:
                projection.take(step, placed.offset)
                state.read_to = placed.end
            if self._depth.has_text and step.n == state.text_size:
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
        if depth.has_text:
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

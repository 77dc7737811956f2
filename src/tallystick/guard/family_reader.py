"""Reading on in the journals of one family of sessions, in the order of time.

Owns how far each journal is read, and the state that follows from what was read. Must not know how a state follows from a
step (`state.reducer`), nor where states are kept (`snapshots`).
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from tallystick.errors import TallystickError
from tallystick.guard.session_families import FamilyJournal
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.read import read_file, read_line
from tallystick.model.recorded import Recorded
from tallystick.state.families import Start
from tallystick.state.family_state import FamilyState
from tallystick.state.reducer import FamilyStep, Knowledge, advance
from tallystick.state.steps import moment_of

_LARGEST = 2 << 20
"""Bytes of a value that is kept beside the journal: longer ones are not looked at."""
_AT_ONCE = 32
"""So many steps of a journal are in memory."""
_MOST_LOOKED_AT = 64
"""So many journals are looked at for one call; of a larger family, those that grew lately and some of the others."""
_LATELY_S = 60.0


class Position(msgspec.Struct, frozen=True):
    """How far a journal is read."""

    inode: int
    n: int
    """How many entries."""
    hash: str
    """Of the last of these."""
    last: int
    """Where that one begins."""
    end: int
    """Where the next one begins."""


class _Next(NamedTuple):
    """A step that was read and not taken in yet. In the order of time, but each journal in its own."""

    at_us: int
    sid: str
    n: int
    start: Start
    step: Recorded
    position: Position


class ReplacedError(TallystickError):
    """A journal is not the one that was read: what followed from it is to be made again."""


class Read(NamedTuple):
    """What was read of a family: its state, how far each journal was read for that, and how many steps were taken in."""

    state: FamilyState
    positions: dict[str, Position]
    steps: int


class FamilyReader:
    """One family of sessions, and what it has done as far as its journals were read.

    One thread reads at a time; any may ask what `read` says meanwhile.
    """

    def __init__(
        self,
        home: Home,
        known: Knowledge,
        state: FamilyState | None = None,
        positions: dict[str, Position] | None = None,
    ) -> None:
        """Go on from a state and how far the journals were read for it; without them, from the beginning."""
        self.state = state or FamilyState()
        self.positions = positions or {}
        """By journal."""
        self.steps = 0
        """How many were taken in here."""
        self.known = known
        self.is_due: Callable[[Recorded], bool] = lambda _: True
        """Whether an entry is to be read yet: a journal is read up to the first one that is not."""
        self._home = home
        self._grew: dict[str, float] = {}
        self._turn = 0
        self._taking = threading.Lock()

    def read(self) -> Read:
        """What was read so far, all of the same moment."""
        with self._taking:
            return Read(self.state, dict(self.positions), self.steps)

    def follow(
        self,
        journals: Sequence[FamilyJournal],
        until: float = float("inf"),
        own: str | None = None,
        least: int = 0,
    ) -> bool:
        """Read on; whether all is read.

        Args:
            until: when to stop, in seconds of the monotonic clock; a step is taken in at least, so that it goes on.
            own: the agent's own id of a session whose journal is looked at in any case.
            least: before so many `steps` it goes on, however late it is.
        """
        try:
            return self._follow(self._looked_at(journals, own), until, least)
        except ReplacedError:
            with self._taking:
                self.state, self.positions, self._grew = FamilyState(), {}, {}
            return self._follow(journals, until, least)

    def may_have_more(self, journals: Sequence[FamilyJournal]) -> bool:
        """Whether something may be there to be read; of many journals that is not looked for."""
        if len(journals) > _MOST_LOOKED_AT:
            return True
        return any(self._is_longer(journal) for journal in journals)

    def _is_longer(self, journal: FamilyJournal) -> bool:
        position = self.positions.get(journal.start.sid)
        if position is None:
            return True
        try:
            status = journal.path.stat()
        except OSError:
            return False
        return status.st_size > position.end or status.st_ino != position.inode

    def _follow(self, journals: Iterable[FamilyJournal], until: float, least: int) -> bool:
        new = [self._new(journal) for journal in journals]
        first = self.steps
        for one in heapq.merge(*new, key=lambda one: one[:3]):
            if self.steps > first and self.steps >= least and time.monotonic() > until:
                return False
            state, _ = advance(self.state, FamilyStep(one.start, one.step), self.known)
            with self._taking:
                self.state, self.positions[one.sid] = state, one.position
                self.steps += 1
        return True

    def _looked_at(self, journals: Sequence[FamilyJournal], own: str | None) -> Sequence[FamilyJournal]:
        if len(journals) <= _MOST_LOOKED_AT:
            return journals
        now = time.monotonic()
        first = (self._turn % len(journals), self._turn % len(journals) + _MOST_LOOKED_AT // 2)
        self._turn += _MOST_LOOKED_AT // 2
        return [
            journal
            for number, journal in enumerate(journals)
            if first[0] <= number < first[1]
            or journal.start.source == own
            or journal.start.sid not in self.positions
            or now - self._grew.get(journal.start.sid, now - 2 * _LATELY_S) < _LATELY_S
        ]

    # One journal ----------------------------------------------------------------------------------------------------

    def _new(self, journal: FamilyJournal) -> Iterator[_Next]:
        """What is new in a journal; a few steps at a time are read."""
        start, path = journal
        at_us, size = 0, 1
        while (position := self._position(start.sid, path)) is not None:
            read = [*self._read(path, position, size)]
            for step, there in read:
                if not self.is_due(step):
                    return
                at_us = max(at_us, moment_of(step))  # one that tells an earlier time was recorded later all the same
                yield _Next(at_us, start.sid, step.n, start, step, there)
            if len(read) < size:
                return
            size = _AT_ONCE

    def _position(self, sid: str, path: Path) -> Position | None:
        """From where a journal is to be read; None if nothing of it is new."""
        try:
            status = path.stat()
        except OSError:
            return None
        position = self.positions.get(sid)
        if position is None:
            position = Position(status.st_ino, 0, "", 0, 0)
        elif position.inode != status.st_ino:  # an erasure rewrote it: what was read of it stands
            position = self.positions[sid] = _found_again(self._home, path, position, status.st_ino)
        if status.st_size <= position.end:
            return None
        self._grew[sid] = time.monotonic()
        return position

    def _read(self, path: Path, position: Position, most: int) -> Iterator[tuple[Recorded, Position]]:
        end = position.end
        try:
            for placed in islice(read_file(self._home, path, start=end, load_blobs=True, largest=_LARGEST), most):
                end, step = placed.end, placed.step
                yield step, Position(position.inode, step.n + 1, step.hash, placed.offset, end)
        except TallystickError:  # what is no line of ours is passed over
            with_size = msgspec.structs.replace(position, end=max(end, _size(path)))
            self.positions[path.stem] = with_size


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def is_at(home: Home, path: Path, position: Position) -> bool:
    """Whether a journal has the entry that was read last where it was."""
    if not position.n:
        return True
    try:
        text = next(iter(LineFile(path, start=position.last)), None)
        return text is not None and read_line(home, text).hash == position.hash
    except (TallystickError, OSError):
        return False


def _found_again(home: Home, path: Path, position: Position, inode: int) -> Position:
    """The same position in a file that was written again, where lines have other lengths.

    Raises:
        ReplacedError: the entry that was read last is not there.
    """
    last = end = 0
    count = 0
    try:
        lines = LineFile(path)
        for _ in islice(lines, position.n):
            last, end, count = end, lines.end, count + 1
    except OSError:
        count = -1
    found = Position(inode, position.n, position.hash, last, end)
    if count != position.n or not is_at(home, path, found):
        raise ReplacedError(f"{path} is another journal than the one that was read")
    return found

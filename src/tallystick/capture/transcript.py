"""Following the file that an agent writes a session to, while it writes it (docs/format.md 13.4).

Owns how far a file was read, and noticing that what was read is not there any more as it was: cut, edited, replaced, taken
away. Only new bytes are read; that the old ones still stand is checked against digests of them, since a file says of itself
only when it was changed and how long it is. Must not know what events mean, nor what is done about a change.
"""

from __future__ import annotations

import enum
import hashlib
import stat
import time
from array import array
from collections.abc import Callable, Iterator
from os import stat_result
from pathlib import Path

import msgspec

from tallystick.agents import Adapter, Reader, Shape
from tallystick.capture.history import (
    HistoryFile,
    Piece,
    half_line,
    is_json,
    open_reader,
    prefix_digest,
    read_line,
    split_lines,
)
from tallystick.errors import SourceError

_WHOLE_CHECK_S = 10.0
_MOST_CHECKING = 0.01
"""The share of time that re-reading what was read may take."""
_MOST_REREADING = 0.05
_TAIL_BYTES = 64 << 10
MOST_FOLLOWED_BYTES = 1 << 30
"""A longer file is not read on: checking that it stands would take too long. `tally import` reads it."""

Clock = Callable[[], float]
"""Gives seconds that never go back."""


class Change(enum.StrEnum):
    """What happened to bytes that had been read."""

    CUT = "cut"
    """The file ends before them; what is left of it stands as it was."""
    EDITED = "edited"
    """Lines of them are others now, or gone; the file goes on after them."""
    REPLACED = "replaced"
    """None of the lines stands as it was."""
    DELETED = "deleted"
    """There is no file."""


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes `first` to `last` (not included) of what was read are not there as they were: whole lines, as they had stood.

    `read` counts the bytes that had been read, and `had` is SHA-256 of them; `now` is SHA-256 of as many bytes of the
    file (of all, if it has fewer), None if not found. `size` is how long the file is.
    """

    change: Change
    first: int
    last: int
    read: int
    size: int
    had: str
    now: str | None


class LineTranscript:
    """A file to which its agent appends lines, and its reader, which is fed each line once.

    Attributes:
        offset: bytes read, up to the end of a whole line. number: lines read.
    """

    def __init__(self, path: Path, adapter: Adapter, *, clock: Clock = time.monotonic) -> None:
        self.path = path
        self.adapter = adapter
        self._clock = clock
        self._is_gone = False
        self.restart()

    def restart(self) -> None:
        """Forget what was read: the file is read from its beginning, by a new reader."""
        self.offset = 0
        self.number = 0
        self._reader: Reader | None = None
        self._hash = hashlib.sha256()
        self._ends = array("Q")
        self._lines = array("Q")
        self._read_size = 0
        self._status: stat_result | None = None
        self._next_whole_check = self._clock() + _WHOLE_CHECK_S

    @property
    def digest(self) -> str:
        """SHA-256 of the whole lines read so far, in hex."""
        return self._hash.hexdigest()

    def has_more(self) -> bool:
        """Whether the file is longer than when it was last read to its end."""
        return self.size > self._read_size

    @property
    def size(self) -> int:
        """How long the file is now; 0 if it is not a regular file that can be looked at."""
        status = self._look()
        if status is None:
            return 0
        return status.st_size

    def _look(self) -> stat_result | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        if stat.S_ISREG(status.st_mode):
            return status
        return None

    # Reading --------------------------------------------------------------------------------------------------------

    def read(self) -> Iterator[Piece]:
        """The events of the lines that are new and whole. May be left at any time, and goes on from there.

        Raises:
            SourceError: the file cannot be read.
        """
        status = self._look()
        if status is None:
            return
        self._is_gone = False
        self._refuse_if_long(status.st_size)
        ahead = self._hash.copy()
        lines = split_lines(self.path, ahead.update, start=self.offset, pauses=True)
        try:
            for line, size, has_end in lines:
                if size == 0:  # in the middle of a very long line: others may want to do something
                    self._refuse_if_long(self.size)
                    yield Piece((), self.offset, 0)
                    continue
                if not has_end:
                    break
                self._hash = ahead.copy()
                piece = self._feed(line, size)
                if piece is not None:
                    yield piece
            self._read_size = max(status.st_size, self.offset)
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror}") from error
        finally:
            lines.close()  # type: ignore[attr-defined]

    def _feed(self, line: bytes | None, size: int) -> Piece | None:
        if self._reader is None:
            self._reader = open_reader(self.path, self.adapter)
        offset, self.offset = self.offset, self.offset + size
        self.number += 1
        self._ends.append(self.offset)
        self._lines.append(_digest(line))
        return read_line(line, size, offset, self.number, self._reader)

    def finish(self) -> Iterator[Piece]:
        """The events held back until the end is known, and those of a last line that is whole but for its end."""
        for line, _, has_end in split_lines(self.path, lambda _: None, start=self.offset) if self.size else ():
            if has_end or line is None:
                continue
            if is_json(line):
                piece = read_line(line, len(line), self.offset, self.number + 1, self._opened())
            else:
                piece = half_line(line, self.offset, self.number + 1)
            if piece is not None:
                yield piece
        if self._reader is not None:
            yield Piece(tuple(self._reader.finish()), self.offset, 0)

    def _opened(self) -> Reader:
        self._reader = self._reader or open_reader(self.path, self.adapter)
        return self._reader

    @property
    def reader(self) -> Reader | None:
        """The reader, once a line was read."""
        return self._reader

    # Checking -------------------------------------------------------------------------------------------------------

    def check(self, *, whole: bool = False) -> Damage | None:
        """What happened to the bytes that were read, None if they stand, as far as one can tell cheaply.

        A file that became shorter, was replaced, or changed without growing is compared as a whole. One that grew has its
        last line compared each time, and all of it now and then.

        Args:
            whole: compare all of it, whatever it costs.

        Raises:
            SourceError: the file cannot be read.
        """
        before, self._status = self._status, self._look()
        now = self._status
        if now is None:
            return self._gone()
        self._refuse_if_long(now.st_size)
        if self.offset == 0:
            return None
        if now.st_size < self.offset:
            return self._located(now.st_size)
        if before is not None and not whole and _same_state(before, now):
            return None
        if whole or before is None or self._is_suspicious(before, now):
            return self._checked_whole(now.st_size)
        if self._tail_stands():
            return None
        return self._located(now.st_size)

    def _refuse_if_long(self, size: int) -> None:
        if size > MOST_FOLLOWED_BYTES:
            why = f"it has {size} bytes, and {MOST_FOLLOWED_BYTES} are followed"
            raise SourceError(f"{self.path} is read no further: {why}", hint="`tally import` reads the rest")

    def _gone(self) -> Damage | None:
        if self._is_gone or self.offset == 0:
            return None
        self._is_gone = True
        return Damage(
            change=Change.DELETED, first=0, last=self.offset, read=self.offset, size=0, had=self.digest, now=None
        )

    def _is_suspicious(self, before: stat_result, now: stat_result) -> bool:
        if (before.st_ino, before.st_dev) != (now.st_ino, now.st_dev) or now.st_size <= before.st_size:
            return True
        return self._clock() >= self._next_whole_check

    def _checked_whole(self, size: int) -> Damage | None:
        began = self._clock()
        stands = prefix_digest(self.path, self.offset) == self.digest
        took = self._clock() - began
        self._next_whole_check = began + max(_WHOLE_CHECK_S, took / _MOST_CHECKING)
        if stands:
            return None
        return self._located(size)

    def _tail_stands(self) -> bool:
        """Whether the last line that was read still stands; of a very long one, this is not asked."""
        start = 0
        if len(self._ends) > 1:
            start = self._ends[-2]
        if self.offset - start > _TAIL_BYTES:
            return True
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                line = file.read(self.offset - start)
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror}") from error
        return line.endswith(b"\n") and _digest(line[:-1]) == self._lines[-1]

    def _located(self, size: int) -> Damage | None:
        """Where the file is not as it was read, by its lines; None if it is as it was after all."""
        now = array("Q")
        try:
            for line, _, has_end in split_lines(self.path, lambda _: None):
                if has_end:
                    now.append(_digest(line))
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror}") from error
        digest = prefix_digest(self.path, min(self.offset, size))
        if digest == self.digest:
            return None
        first, last = _difference(self._lines, now)
        begin = 0
        if first:
            begin = self._ends[first - 1]
        end = 0
        if last:
            end = self._ends[last - 1]
        return Damage(
            change=_kind(self._lines, now, first, last),
            first=begin,
            last=max(begin, end),
            read=self.offset,
            size=size,
            had=self.digest,
            now=digest,
        )


def _digest(line: bytes | None) -> int:
    """Eight bytes by which a line is known again; of one that was too long to be read, nothing is known."""
    if line is None:
        return 0
    return int.from_bytes(hashlib.blake2b(line, digest_size=8).digest())


def _same_state(before: stat_result, now: stat_result) -> bool:
    names = ("st_ino", "st_dev", "st_size", "st_mtime_ns", "st_ctime_ns")
    return all(getattr(before, name) == getattr(now, name) for name in names)


def _difference(had: array[int], now: array[int]) -> tuple[int, int]:
    """The lines of `had`, from the first to the one after the last, that do not are in `now` in their order."""
    first = 0
    while first < min(len(had), len(now)) and had[first] == now[first]:
        first += 1
    last = len(had)
    if last > first:
        at = next((place for place in range(len(now) - 1, first - 1, -1) if now[place] == had[-1]), -1)
        while last > first and at >= first and now[at] == had[last - 1]:
            last, at = last - 1, at - 1
    return first, last


def _kind(had: array[int], now: array[int], first: int, last: int) -> Change:
    if first == len(now) and first < len(had):
        return Change.CUT
    if first == 0 and last == len(had):
        return Change.REPLACED
    return Change.EDITED


# Files that are written again as a whole
# -------------------------------------------------------------------------------


class WholeTranscript:
    """A document or a database: read again as a whole whenever it has changed, though not all the time.

    Attributes:
        offset, digest: what is noted of it in the ledger, as of the last reading.
    """

    def __init__(self, path: Path, adapter: Adapter, *, clock: Clock = time.monotonic) -> None:
        self.path = path
        self.adapter = adapter
        self.offset = 0
        self.digest = ""
        self._clock = clock
        self._state: tuple[object, ...] = ()
        self._not_before = 0.0

    def has_changed(self, *, now: bool = False) -> bool:
        """Whether there is something to read, and it is time to (`now`: it always is)."""
        state = self._look()
        return bool(state) and state != self._state and (now or self._clock() >= self._not_before)

    def _look(self) -> tuple[object, ...]:
        """What tells a changed file, and a changed log beside it; empty if none exists."""
        found: list[object] = []
        beside = (self.path.with_name(f"{self.path.name}-wal"),) if self.adapter.SHAPE is Shape.SQLITE else ()
        for path in (self.path, *beside):
            try:
                status = path.stat()
            except OSError:
                if path == self.path:
                    return ()
                continue
            if not stat.S_ISREG(status.st_mode):
                return ()
            found += [status.st_ino, status.st_size, status.st_mtime_ns]
        return tuple(found)

    def read(self) -> Iterator[Piece]:
        """All events of the file as it is now.

        Raises:
            SourceError: it cannot be read, maybe only just now: it is tried again when it changes.
        """
        began, self._state = self._clock(), self._look()
        file = HistoryFile(self.path, self.adapter)
        try:
            yield from file.pieces()
            self.offset, self.digest = file.offset, file.digest
        finally:
            now = self._clock()
            self._not_before = now + (now - began) / _MOST_REREADING

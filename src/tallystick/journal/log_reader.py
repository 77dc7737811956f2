"""Reading a session log as it grows: where its events are in a file, read once, and the events themselves when asked for.

Owns following the file without a lock and without writing, and starting over where another file has its name (an erasure
rewrites a journal). What a line says is for the two who read: files of the agent's format, and sealed journals. A log in
which anything is unusual, such as numbers that go back, is read as a whole instead, as often as it has grown.
"""

from __future__ import annotations

import abc
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from tallystick.errors import JournalError, NotFoundError
from tallystick.journal.lines import LineFile
from tallystick.sessions.session_events import Events
from tallystick.sessions.session_log import Event, Log

_AT_ONCE = 1_000


class LogReader(abc.ABC):
    """The events of one session in one file. Safe to use from several threads."""

    line_limit = 64 << 20

    def __init__(self, where: Callable[[], Path]) -> None:
        """Read the file that `where` finds. Raises what that raises."""
        self.path = where()
        self._where = where
        self._lock = threading.RLock()
        self._file = (0, 0)
        self._forget()

    def _forget(self) -> None:
        """Start over: nothing of the file was read."""
        self._is_plain = True
        self._end = self._size = 0
        self._blocks: list[int] = []
        self._whole_log: Log | None = None

    # What is there --------------------------------------------------------------------------------------------------

    def events(self) -> Events:
        """The events so far. Only what is new since the last time is looked at. Raises what `log` raises."""
        with self._lock:
            self._look()
            return Events(self, range(self._count()))

    def last_seq(self) -> int:
        """The highest number of an event so far. Raises what `log` raises."""
        with self._lock:
            self._look()
            if self._is_plain:
                return self._newest()
            return max((event.seq for event in self._whole().events), default=0)

    def blocks(self) -> Iterator[Event]:
        """The events that tell of blocks of content. Raises what `log` raises."""
        with self._lock:
            self._look()
            if self._is_plain:
                spots = self._spots(self._blocks)
            else:
                return (event for event in self._whole().events if event.type == "security_block")
        return (self._event(spot) for spot in spots)

    def log(self) -> Log:
        """How the session stands, without its events.

        Raises:
            NotFoundError: there is no such file any more. JournalError, SourceError, FormatError: it cannot be read.
        """
        with self._lock:
            self._look()
            if self._is_plain:
                return self._members()
            whole = self._whole()
            return msgspec.structs.replace(whole, events=())

    def whole(self) -> Log:
        """The session with all its events, read now. Raises what `log` raises."""
        return self._load()

    def read(self, places: range) -> Iterator[Event]:
        """The events at some places. Raises what `log` raises."""
        while places:
            some, places = places[:_AT_ONCE], places[_AT_ONCE:]
            yield from self._some(some)

    def _some(self, places: range) -> Iterator[Event]:
        with self._lock:
            self._look()
            if not self._is_plain:
                events = self._whole().events
                return (events[place] for place in places)
            spots = self._spots(places)
        if places.step == 1:
            return self._run(spots)
        return (self._event(spot) for spot in spots)

    # Following ------------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Take in what was added to the file since the last time."""
        self.path = self._where()
        try:
            status = self.path.lstat()
            if (status.st_ino, status.st_dev) != self._file or status.st_size < self._size:
                self._file = (status.st_ino, status.st_dev)
                self._forget()
            if status.st_size == self._size:
                return
            self._whole_log = None
            lines = LineFile(self.path, start=self._end, until=status.st_size, limit=self.line_limit)
            for text in lines:
                self._is_plain = self._take(text, self._end) and self._is_plain
                self._end = lines.end
            self._size = status.st_size
            if lines.torn and self._is_whole_without_end(lines.torn):
                self._is_plain = False
        except FileNotFoundError as error:
            raise NotFoundError(f"{self.path} does not exist") from error
        except OSError as error:
            raise JournalError(f"cannot read {self.path}: {error.strerror or error}") from error

    def _whole(self) -> Log:
        if self._whole_log is None:
            self._whole_log = self._load()
        return self._whole_log

    def _count(self) -> int:
        if self._is_plain:
            return self._known()
        return len(self._whole().events)

    # For the two kinds of file --------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _take(self, text: bytes, offset: int) -> bool:
        """Take note of a line; False: with it the log is none whose events can be told line by line."""

    @abc.abstractmethod
    def _known(self) -> int:
        """How many events were taken note of."""

    @abc.abstractmethod
    def _newest(self) -> int:
        """The number of the last of them."""

    @abc.abstractmethod
    def _spots(self, places: Iterable[int]) -> list[tuple[int, ...]]:
        """The bytes at which the lines of some events begin."""

    @abc.abstractmethod
    def _event(self, spot: tuple[int, ...]) -> Event:
        """The event whose lines begin there."""

    @abc.abstractmethod
    def _run(self, spots: list[tuple[int, ...]]) -> Iterator[Event]:
        """The events of a run of spots, reading the file once."""

    @abc.abstractmethod
    def _members(self) -> Log:
        """How the session stands, of what was taken note of."""

    @abc.abstractmethod
    def _load(self) -> Log:
        """All of the session, by reading the whole file."""

    def _is_whole_without_end(self, size: int) -> bool:
        """Whether the last bytes of the file, behind the last end of line, are a record all the same."""
        return False

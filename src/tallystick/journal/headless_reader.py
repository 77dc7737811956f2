"""The events of a file of the headless agent's format, read as the file grows.

Owns which lines tell an event by themselves: an event with a number that is the next one. What following a file is, and
what is done with any other file, is log_reader.py's and headless_file.py's.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from tallystick.errors import JournalError
from tallystick.journal.headless_file import LONGEST_LINE, read_log, read_tail, record_in
from tallystick.journal.lines import LineFile
from tallystick.journal.log_reader import LogReader
from tallystick.journal.opening import open_to_read
from tallystick.sessions.session_log import Event, JSONLRecord, Log, record_from
from tallystick.sessions.session_reading import ReadLog


class _Peek(msgspec.Struct, rename={"record_type": "_type"}):
    """As much of a line as is needed to place its event."""

    record_type: str
    seq: int = 0
    type: str = ""


_PEEK = msgspec.json.Decoder(_Peek)


class FileReader(LogReader):
    """The events of one file."""

    line_limit = LONGEST_LINE

    def __init__(self, where: Callable[[], Path], session: Callable[[ReadLog], Log]) -> None:
        """Read the file that `where` finds; `session` makes the session of what it holds."""
        self._session = session
        super().__init__(where)

    def _forget(self) -> None:
        super()._forget()
        self._is_plain = self.path.suffix == ".jsonl"
        self._offsets = array("q")
        self._header: JSONLRecord | None = None
        self._footer: JSONLRecord | None = None

    def _take(self, text: bytes, offset: int) -> bool:
        try:
            peek = _PEEK.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        if peek.record_type == "event":
            self._place(peek, offset)
            return bool(peek.type) and peek.seq == self._newest() and len(text) <= LONGEST_LINE
        return self._frame(text)

    def _place(self, peek: _Peek, offset: int) -> None:
        if peek.type == "security_block":
            self._blocks.append(len(self._offsets))
        self._offsets.append(offset)

    def _frame(self, text: bytes) -> bool:
        """A header or a footer; another header of the same session says what was not known when it began."""
        record = record_from(record_in(text) or {})
        if record is None:
            return False
        if record.record_type == "footer":
            self._footer = record
            return True
        is_first = self._header is None or self._header.id == record.id
        self._header = record
        return is_first

    def _is_whole_without_end(self, size: int) -> bool:
        return record_in(read_tail(self.path, self._end, size)) is not None

    def _known(self) -> int:
        return len(self._offsets)

    def _newest(self) -> int:
        return len(self._offsets)

    def _spots(self, places: Iterable[int]) -> list[tuple[int, ...]]:
        return [(self._offsets[place],) for place in places]

    def _event(self, spot: tuple[int, ...]) -> Event:
        text = next(iter(LineFile(self.path, start=spot[0], limit=LONGEST_LINE)), b"")
        return self._event_in(text)

    def _event_in(self, text: bytes) -> Event:
        record = record_from(record_in(text) or {})
        if record is None or record.event is None:
            raise JournalError(f"{self.path} was changed while it was read", hint="get the events again")
        return record.event

    def _run(self, spots: list[tuple[int, ...]]) -> Iterator[Event]:
        wanted = iter(spots)
        at = next(wanted, None)
        lines = LineFile(self.path, start=spots[0][0], limit=LONGEST_LINE)
        offset = spots[0][0]
        for text in lines:
            if at is not None and offset == at[0]:
                yield self._event_in(text)
                at = next(wanted, None)
            if at is None:
                return
            offset = lines.end

    def _members(self) -> Log:
        return self._session(ReadLog(self._header, (), self._footer))

    def _load(self) -> Log:
        return self._session(read_log(self.path, opener=open_to_read))

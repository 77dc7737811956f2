"""One file of a session log: open for appending, and read in either of its forms, whatever state it is in.

Owns the lock, which number comes next, the repair of a torn tail, and that a line is either wholly there or not. Several
threads and processes may have the same file open. Must not know what events mean.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from tallystick.agents.headless import transcript as headless
from tallystick.errors import FormatError, JournalError, NotFoundError, SourceError
from tallystick.exports.headless import line
from tallystick.journal.durable import sync_folder, write_whole
from tallystick.journal.lines import LineFile
from tallystick.journal.opening import Opener, open_elsewhere, open_file, open_to_read
from tallystick.model.step import Json
from tallystick.sessions.session_log import Event, JSONLRecord, event_from, record_from
from tallystick.sessions.session_reading import Assembly, ReadLog


class _Peek(msgspec.Struct, rename={"kind": "_type"}):
    """As much of an event's line as an appender must know."""

    kind: str
    seq: int = 0


_CHUNK = 1 << 20
_PEEK = msgspec.json.Decoder(_Peek)


class LogFile:
    """A session's file. Everything but `make`, `locked`, `settle` and `release` is for who holds the lock.

    Attributes:
        last_seq: the highest number in the file, as of the last time the lock was held. header, footer: the last ones.
        is_footed: whether the last line is a footer.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = -1
        self.path = path
        self.last_seq = 0
        self.header: JSONLRecord | None = None
        self.footer: JSONLRecord | None = None
        self.is_footed = False
        self._mutex = threading.RLock()
        self._process = os.getpid()
        self._length = self._synced = 0
        self._depth = 0
        self._failed: JournalError | None = None

    def make(self) -> bool:
        """Make the file, empty; False if it is there already. Raises JournalError: it cannot be made."""
        try:
            os.close(open_file(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        except OSError as error:
            raise JournalError(f"cannot make {self.path}: {error.strerror or error}") from error
        return True

    # The lock -------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the file's lock; on entering, what others added is read and a torn tail repaired. Re-entrant.

        Raises:
            JournalError: the file is gone or cannot be locked.
        """
        if self._process != os.getpid():  # a forked child shares its parent's lock with the descriptor
            self._process, self._mutex, self._depth = os.getpid(), threading.RLock(), 0
            self._close()
        with self._mutex:
            if self._depth == 0:
                self._lock()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._unlock()

    def _lock(self) -> None:
        try:
            while True:
                if self._descriptor < 0:
                    self._descriptor = open_file(self.path, os.O_RDWR | os.O_APPEND)
                    self._length = 0
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)
                status = os.fstat(self._descriptor)
                if os.path.samestat(status, self.path.lstat()):
                    break
                self._close()  # another file has the name now
            if status.st_size != self._length:
                self._catch_up(status.st_size)
        except OSError as error:
            self._close()
            raise JournalError(
                f"cannot append to {self.path}: {error.strerror or error}", hint="was the file removed?"
            ) from error

    def _unlock(self) -> None:
        try:
            if self._descriptor >= 0:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        except OSError:
            self._close()  # which gives up the lock too; what was written is written

    def release(self) -> None:
        """Close the file unless it is locked right now. It is opened again by the next `locked`."""
        with self._mutex:
            if self._depth == 0:
                self._close()

    def __del__(self) -> None:
        self._close()

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            self._length = 0

    # Reading what is there ------------------------------------------------------------------------------------------

    def _catch_up(self, size: int) -> None:
        if size < self._length:  # someone cut it: numbers that were given stay given
            self._length = 0
        lines = LineFile(self.path, start=self._length, until=size, limit=LONGEST_LINE)
        for text in lines:
            self._note(text)
        self._length = lines.end
        if lines.torn:
            self._repair(size)

    def _note(self, text: bytes) -> None:
        """Learn from one line what must be known of it."""
        try:
            peek = _PEEK.decode(text)
            if peek.kind == "event":
                self.last_seq, self.is_footed = max(self.last_seq, peek.seq), False
                return
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        members = record_in(text)
        record = None
        if members is not None:
            record = record_from(members)
        if record is None:
            return
        self.is_footed = record.record_type == "footer"
        if record.event is not None:
            self.last_seq = max(self.last_seq, record.event.seq)
        elif self.is_footed:
            self.footer = record
        else:
            self.header = record

    def _repair(self, size: int) -> None:
        """End a last line that only lacks its end; move half a line to a file beside this one."""
        tail = read_tail(self.path, self._length, size - self._length)
        if record_in(tail) is not None:
            os.write(self._descriptor, b"\n")
            self._note(tail)
            self._length = size + 1
            return
        beside = self.path.with_name(f"{self.path.name}.torn")
        descriptor = open_file(beside, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            with open_to_read(self.path) as file:
                file.seek(self._length)
                while part := file.read(_CHUNK):
                    write_whole(descriptor, part)
            write_whole(descriptor, b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_folder(beside.parent)
        os.ftruncate(self._descriptor, self._length)

    # Appending ------------------------------------------------------------------------------------------------------

    def append(self, record: Mapping[str, Json]) -> None:
        """Write one line, in one call. On return it survives the death of any process.

        Raises:
            FormatError: the line would be too long. JournalError: the disk refused; what it took was cut back.
        """
        text = line(record)
        if len(text) > LONGEST_LINE:
            raise FormatError(f"{self.path}: a line of {len(text) >> 20} MB; the limit is {LONGEST_LINE >> 20} MB")
        try:
            written = os.write(self._descriptor, text)
            if written != len(text):
                raise OSError(28, f"the disk accepted {written} of {len(text)} bytes")
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._length)
            raise JournalError(
                f"cannot append to {self.path}: {error.strerror or error}", hint="is the disk full?"
            ) from error
        self._length += len(text)
        self._note(text)

    def sync(self) -> None:
        """Make everything written so far survive a loss of power. Raises JournalError: the disk refused."""
        failed, self._failed = self._failed, None
        if failed is not None:  # the disk says it once, to anyone who asked first
            raise failed
        self._sync(self._descriptor)

    def settle(self) -> None:
        """The same for who does not hold the lock: no one who appends waits for the disk. What fails, `sync` raises."""
        with self._mutex:
            if self._process != os.getpid() or self._descriptor < 0 or self._synced == self._length:
                return
            descriptor, length = os.dup(self._descriptor), self._length
        try:
            self._sync(descriptor)
            self._synced = length
        except JournalError as error:
            self._failed = error
        finally:
            os.close(descriptor)

    def _sync(self, descriptor: int) -> None:
        try:
            os.fdatasync(descriptor)
        except OSError as error:
            raise JournalError(f"cannot make {self.path} durable: {error.strerror or error}") from error


LONGEST_LINE = 64 << 20
"""Bytes. A longer line is told of and not read."""
LARGEST_DOCUMENT = 512 << 20
_SNIFFED_BYTES = 256
_HEADER = ("id", "workflow_name", "inputs", "created_at")
"""Members of a document that a header has; the others are a footer's."""


def detect_format(path: str | Path, *, opener: Opener = open_elsewhere) -> Literal["jsonl", "json"]:
    """Which form of the log a file has, by the agent's own rules: its name decides, else its first 256 bytes.

    Raises:
        FormatError: the name says nothing and the file is empty. SourceError: it has to be opened and cannot be.
    """
    name = str(path)
    if name.endswith((".jsonl", ".json")):
        return headless.detect_format(name, b"")
    try:
        with opener(Path(path)) as file:
            return headless.detect_format(name, file.read(_SNIFFED_BYTES))
    except OSError as error:
        raise _unreadable(Path(path), error) from error


def read_log(path: str | Path, *, opener: Opener = open_elsewhere) -> ReadLog:
    """What a file holds: header, events in order, the footer that counts, and what was wrong with it.

    `opener` opens it; a file that someone names may be a link.

    Raises: NotFoundError: there is no such file. SourceError: it cannot be read. FormatError: an older document that is
    not a JSON object, or one without a name and empty.
    """
    path = Path(path)
    try:
        if detect_format(path, opener=opener) == "json":
            return _read_document(path, opener)
        return _read_lines(path, opener)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> NotFoundError | SourceError:
    if isinstance(error, FileNotFoundError):
        return NotFoundError(f"{path} does not exist")
    return SourceError(f"cannot read {path}: {error.strerror or error}")


def record_in(text: bytes) -> dict[str, Json] | None:
    """The object that a line holds; None if it holds none. Bytes that are not UTF-8 are read as the agent's reader does."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        try:
            value = json.loads(text.decode("utf-8", "replace"))  # lone surrogates, for example
        except (ValueError, RecursionError):
            return None
    if isinstance(value, dict):
        return value
    return None


def read_back(members: Mapping[str, Json]) -> Event | None:
    """An event as it will be read from what is written: numbers are numbers, what JSON cannot hold is text."""
    return event_from(record_in(line(members)) or {})


def _read_lines(path: Path, opener: Opener) -> ReadLog:
    assembly = Assembly()
    lines = LineFile(path, limit=LONGEST_LINE, opener=opener)
    offset = 0
    for text in lines:
        _take_line(assembly, text, offset)
        offset = lines.end
    if lines.torn:
        _take_tail(assembly, read_tail(path, lines.end, lines.torn, opener), lines.end, lines.torn)
    return assembly.finish()


def _take_line(assembly: Assembly, text: bytes, offset: int) -> None:
    if not text.strip():
        return
    record = None
    if len(text) <= LONGEST_LINE:
        record = record_in(text)
    if record is None:
        too_long = ""
        if len(text) > LONGEST_LINE:
            too_long = f", longer than {LONGEST_LINE >> 20} MB"
        assembly.note("bad_line", f"no JSON object{too_long}", offset)
    else:
        assembly.take(record, offset)


def _take_tail(assembly: Assembly, tail: bytes, offset: int, size: int) -> None:
    """What follows the last end of line: a whole record that only lacks its own, else half of one."""
    record = record_in(tail)
    if record is None:
        assembly.note("torn_tail", f"the last {size} bytes are half a line", offset)
    else:
        assembly.take(record, offset)


def read_tail(path: Path, offset: int, size: int, opener: Opener = open_to_read) -> bytes:
    """The bytes from an offset on, as far as a line may reach."""
    with opener(path) as file:
        file.seek(offset)
        return file.read(min(size, LONGEST_LINE + 1))


def _read_document(path: Path, opener: Opener) -> ReadLog:
    size = path.stat().st_size
    if size > LARGEST_DOCUMENT:
        raise SourceError(f"{path} has {size >> 20} MB; the limit is {LARGEST_DOCUMENT >> 20} MB")
    with opener(path) as file:
        document = record_in(file.read())
    if document is None:
        raise FormatError(f"{path} is not a JSON object", hint="an older session file is one JSON document")
    assembly = Assembly()
    assembly.take({**{key: value for key, value in document.items() if key.lower() in _HEADER}, "_type": "header"}, 0)
    events = next((value for key, value in document.items() if key.lower() == "events"), None)
    for number, event in enumerate(events if isinstance(events, list) else ()):
        if isinstance(event, dict):
            assembly.take({**event, "_type": "event"}, number)
        else:
            assembly.note("unknown_record", f"events[{number}] is not an object", 0)
    footer = {key: value for key, value in document.items() if key.lower() not in (*_HEADER, "events")}
    assembly.take({**footer, "_type": "footer"}, 0)
    return assembly.finish()

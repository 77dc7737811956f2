"""Reading one history file through its agent's reader, in bounded memory.

Owns offsets, the running digest by which a file is known again (docs/format.md 13.4), and what is done about half a line.
Must not know what events mean.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
import orjson

from tallystick.agents import Adapter, Reader, Shape, SourceFile
from tallystick.capture.git_text import GitText
from tallystick.errors import SourceError
from tallystick.model.step import Event, Loss

MOST_LINE_BYTES = 32 << 20
"""A longer line of a source is skipped and reported: nothing of it could be kept in bounded memory."""
MOST_DOCUMENT_BYTES = 256 << 20
_COMPANION_BYTES = 1 << 20
_KEPT_BYTES = 8 << 20
"""A larger output that an agent put into a file is named, not read."""
_MOST_ON_A_LINE = 64
_BEGINNING = 12
"""So many bytes of a line are like those of the next: a brace and most of the name of its first member."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_CHUNK = 1 << 20


class Piece(msgspec.Struct, frozen=True):
    """One line, row or document, as the events it gave. `offset` is where it begins; `number` counts from 1."""

    events: tuple[Event, ...]
    offset: int
    number: int


class HistoryFile:
    """One pass over a history file.

    Attributes:
        offset: bytes read up to the end of the last whole line. digest: SHA-256 of those bytes, in hex, when done.
    """

    def __init__(self, path: Path, adapter: Adapter, text: GitText | None = None) -> None:
        self.path = path
        self.adapter = adapter
        self._source = text or path
        self.offset = 0
        self.position = 0
        self._hash = hashlib.sha256()

    @property
    def digest(self) -> str:
        """SHA-256 of the whole lines read so far, in hex."""
        return self._hash.hexdigest()

    def pieces(self) -> Iterator[Piece]:
        """The file's events, line by line.

        Raises:
            SourceError: the file cannot be read.
        """
        reader = open_reader(self.path, self.adapter)
        shape = self.adapter.SHAPE
        try:
            if shape is Shape.LINES:
                yield from self._lines(reader)
            elif shape is Shape.DOCUMENT:
                yield from self._document(reader)
            else:
                yield from self._rows(reader)
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror}") from error
        yield Piece(tuple(reader.finish()), self.position, 0)

    def _lines(self, reader: Reader) -> Iterator[Piece]:
        number = 0
        for line, size, has_end in split_lines(self._source, self._hash.update):
            number += 1
            offset = self.position
            self.position += size
            if line is not None and not has_end and not is_json(line):
                yield half_line(line, offset, number)
                continue
            if has_end:
                self.offset = self.position
            piece = read_line(line, size, offset, number, reader)
            if piece is not None:
                yield piece

    def _document(self, reader: Reader) -> Iterator[Piece]:
        if isinstance(self._source, Path):
            size = self._source.stat().st_size
        else:
            size = self._source.size
        if size > MOST_DOCUMENT_BYTES:
            raise SourceError(f"{self.path} has {size} bytes; a document of this agent may have {MOST_DOCUMENT_BYTES}")
        data = self._source.read_bytes()
        self._hash.update(data)
        self.offset = self.position = len(data)
        yield Piece(tuple(reader.feed(data, 0)), 0, 1)

    def _rows(self, reader: Reader) -> Iterator[Piece]:
        from tallystick.capture.sqlite_rows import read_rows

        # Read before the rows: what comes between the two is found new again the next time, and known by its ids.
        self._hash, self.offset = database_state(self.path)
        self.position = self.offset
        for text, ordinal in read_rows(self.path, self.adapter.TABLES):  # type: ignore[attr-defined]
            yield Piece(tuple(reader.feed(text, ordinal)), ordinal, ordinal + 1)


def open_reader(path: Path, adapter: Adapter) -> Reader:
    """A reader for a file, given the files beside it that it asks for."""
    return adapter.reader(SourceFile(str(path), Companions(path, adapter.COMPANIONS)))


class Companions(Mapping[str, bytes]):
    """The files beside a source that its reader asks for; those in a folder are read when they are asked for.

    Links are not followed, and no name leads out of its folder: what is asked for may be what an agent wrote.
    """

    def __init__(self, path: Path, patterns: Iterable[str]) -> None:
        self._folders: dict[str, Path] = {}
        self._found: dict[str, bytes] = {}
        for pattern in patterns:
            beside = path.parent / pattern.replace("{stem}", path.stem)
            if pattern.endswith("/*"):
                self._folders[pattern.removesuffix("*")] = beside.parent
            elif (data := _read_beside(beside, _COMPANION_BYTES)) is not None:
                self._found[pattern] = data

    def __getitem__(self, name: str) -> bytes:
        if name in self._found:
            return self._found[name]
        folder, slash, last = name.rpartition("/")
        below = self._folders.get(folder + slash)
        if below is None or not last.strip("."):
            raise KeyError(name)
        data = _read_beside(below / last, _KEPT_BYTES)
        if data is None:
            raise KeyError(name)
        return data

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _read_beside(path: Path, most: int) -> bytes | None:
    try:
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= most:
            return path.read_bytes()
    except (OSError, ValueError):
        pass
    return None


def read_line(line: bytes | None, size: int, offset: int, number: int, reader: Reader) -> Piece | None:
    """A whole line as the events it gave; a loss if it is too long (`line` None); nothing for a blank one.

    A line that its reader cannot parse may be several that lost the line end between them (`run_together`).
    """
    if line is None:
        why = f"line {number} (byte {offset}) has {size} bytes, the limit is {MOST_LINE_BYTES}"
        return Piece((Loss(kind="line_too_long", detail=why, fault=True),), offset, number)
    text = line.strip()
    if not text:
        return None
    events = tuple(reader.feed(text, offset))
    if len(events) == 1 and isinstance(events[0], Loss) and events[0].fault:
        parts = run_together(text)
        if parts:
            events = tuple(event for at, part in parts for event in reader.feed(part, offset + at))
    return Piece(events, offset, number)


def half_line(line: bytes, offset: int, number: int) -> Piece:
    """The loss that the end of a file is if it is not a whole line."""
    why = f"line {number} (byte {offset}) is half a line of {len(line)} bytes; it is read when it is whole"
    return Piece((Loss(kind="half_line", detail=why, fault=True),), offset, number)


def split_lines(
    path: Path | GitText, count: Callable[[bytes], None], *, start: int = 0, pauses: bool = False
) -> Iterator[tuple[bytes | None, int, bool]]:
    """The lines of a file: text without LF (None if it is too long), bytes with LF, and whether it had one.

    Args:
        count: gets the bytes of every whole line. start: the byte at which the first line begins.
        pauses: give a line of no bytes now and then while one that is too long is passed over.
    """
    with path.open("rb", buffering=_CHUNK) as file:
        file.seek(start)
        while line := file.readline(MOST_LINE_BYTES + 1):
            if line.endswith(b"\n"):
                count(line)
                yield line[:-1], len(line), True
            elif len(line) <= MOST_LINE_BYTES:
                yield line, len(line), False
            else:
                size, more = 0, line
                while more and not more.endswith(b"\n"):
                    size += len(more)
                    count(more)
                    more = file.readline(_CHUNK)
                    if pauses:
                        yield None, 0, False
                count(more)
                yield None, size + len(more), True


def database_state(path: Path) -> tuple[hashlib._Hash, int]:
    """What a database's files hold now: SHA-256 over its main file and its write-ahead log, and their sizes together.

    Raises:
        SourceError: they cannot be read.
    """
    state, size = hashlib.sha256(), 0
    for part in (path, path.with_name(f"{path.name}-wal")):
        if part == path or part.exists():
            try:
                with part.open("rb") as file:
                    while chunk := file.read(_CHUNK):
                        state.update(chunk)
                        size += len(chunk)
            except OSError as error:
                raise SourceError(f"{part} cannot be read: {error.strerror}") from error
    return state, size


def prefix_digest(path: Path | GitText, size: int) -> str | None:
    """SHA-256 of the first `size` bytes of a file, in hex; None if it has fewer.

    Raises:
        SourceError: it cannot be read.
    """
    state, left = hashlib.sha256(), size
    try:
        with path.open("rb") as file:
            while left > 0:
                chunk = file.read(min(_CHUNK, left))
                if not chunk:
                    return None
                state.update(chunk)
                left -= len(chunk)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    return state.hexdigest()


def is_json(text: bytes) -> bool:
    """Whether a line is whole although it has no end."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def run_together(text: bytes) -> list[tuple[int, bytes]]:
    """The lines that stand on one, each with its place in it; none if it is one line, or one that cannot be parted.

    Two programs that append to one file, or one that was stopped in the middle of a line and started again, leave such
    lines. A text that was broken off counts as a line of its own if the one after it begins as it did.
    """
    found: list[tuple[int, bytes]] = []
    at = 0
    while at < len(text):
        end = None
        if len(found) < _MOST_ON_A_LINE:
            end = _end_of_object(text, at) or _next_beginning(text, at)
        part = text[at:end].rstrip()
        found.append((at, part))
        at += len(part)
        at += len(text[at:]) - len(text[at:].lstrip())
    if len(found) == 1:
        return []
    return found


def _end_of_object(text: bytes, at: int) -> int | None:
    """Where the object that begins at `at` ends; None if none does."""
    if text[at : at + 1] != b"{":
        return None
    depth = 0
    for token in _TOKEN.finditer(text, at):
        if token[0] in b"{[":
            depth += 1
        elif token[0] in b"}]":
            depth -= 1
        if depth == 0:
            if is_json(text[at : token.end()]):
                return token.end()
            return None
    return None


def _next_beginning(text: bytes, at: int) -> int | None:
    """Where, after a text that was broken off, another begins in the same way and is whole."""
    begins = text[at : at + _BEGINNING]
    start = text.find(begins, at + 1)
    if len(begins) == _BEGINNING and start > at and _end_of_object(text, start) is not None:
        return start
    return None

"""Reading a file line by line, in bounded memory whatever the file holds.

Owns what a complete line is: bytes ended by one LF. Must not know what lines mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tallystick.journal.opening import Opener, open_to_read
from tallystick.seal.limits import LINE_BYTES

_CHUNK = 1 << 18


class LineFile:
    """The complete lines of a file from an offset on (seal.ledgercheck.Lines).

    A line over `limit` comes as its first `limit` + 1 bytes, so that anyone who checks it sees that it is too long.
    Iterating again reads again. `opener` opens a file that is not a store's. `torn` is the number of bytes after the last
    LF, `end` the offset after it.
    """

    def __init__(
        self,
        path: Path,
        *,
        start: int = 0,
        limit: int = LINE_BYTES,
        until: int | None = None,
        opener: Opener = open_to_read,
    ) -> None:
        self.path = path
        self.torn = 0
        self.end = start
        self._start = start
        self._limit = limit
        self._until = until
        self._opener = opener

    def __iter__(self) -> Iterator[bytes]:
        with self._opener(self.path) as file:
            yield from self._lines(file)

    def _lines(self, file: IO[bytes]) -> Iterator[bytes]:
        file.seek(self._start)
        self.end, self.torn = self._start, 0
        rest, rest_bytes = b"", 0  # the beginning of an unfinished line, and how long it is so far
        for chunk in self._chunks(file):
            first, *others = chunk.split(b"\n")
            rest_bytes += len(first)
            if len(rest) <= self._limit:
                rest += first[: self._limit + 1 - len(rest)]
            for piece in others:
                self.end += rest_bytes + 1
                yield rest
                rest, rest_bytes = piece[: self._limit + 1], len(piece)
        self.torn = rest_bytes

    def _chunks(self, file: IO[bytes]) -> Iterator[bytes]:
        left = None
        if self._until is not None:
            left = self._until - self._start
        while left is None or left > 0:
            chunk = file.read(_CHUNK if left is None else min(_CHUNK, left))
            if not chunk:
                return
            if left is not None:
                left -= len(chunk)
            yield chunk


class JudgedLines(LineFile):
    """The lines of a file that is verified: after one over the limit, which need not have its LF, nothing is read.

    So a file that takes up no room on the disk, and ends nowhere, is judged by its beginning (docs/format.md 19.9).
    """

    def _lines(self, file: IO[bytes]) -> Iterator[bytes]:
        for text in super()._lines(file):
            yield text
            if len(text) > self._limit:
                return

    def _chunks(self, file: IO[bytes]) -> Iterator[bytes]:
        unended = 0
        for chunk in super()._chunks(file):
            yield chunk
            last = chunk.rfind(b"\n")
            if last >= 0:
                unended = 0
            unended += len(chunk) - last - 1
            if unended > self._limit:
                yield b"\n"
                return

"""Cutting a stream of bytes into lines, however it comes in pieces.

Owns where a line ends, and how much of a long one is gathered. Must not know where bytes come from or go to.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Piece(msgspec.Struct, frozen=True):
    """A whole line with its newline, or a part of a line that is too long to gather."""

    data: bytes
    whole: bool = True
    ends: bool = True
    """Whether the line ends here."""


class Lines:
    """A cutter. All pieces together are the bytes that were fed, in order."""

    def __init__(self, hold_bytes: int) -> None:
        self._hold = hold_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._long = False

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        """The pieces that `chunk` completes."""
        at = 0
        while (end := chunk.find(b"\n", at) + 1) > 0:
            yield self._complete(chunk[at:end])
            at = end
        if at < len(chunk):
            yield from self._gather(chunk[at:])

    def rest(self) -> Iterator[Piece]:
        """What stands behind the last newline: the stream has ended."""
        if self._parts or self._long:
            yield self._complete(b"")

    def _complete(self, tail: bytes) -> Piece:
        whole = not self._long
        data = tail
        if self._parts:
            data = b"".join((*self._parts, tail))
        self._parts, self._size, self._long = [], 0, False
        return Piece(data, whole)

    def _gather(self, part: bytes) -> Iterator[Piece]:
        self._parts.append(part)
        self._size += len(part)
        if self._long or self._size > self._hold:
            self._long = True
            data, self._parts = b"".join(self._parts), []
            yield Piece(data, whole=False, ends=False)

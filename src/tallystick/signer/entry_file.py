"""The entries that a signer keeps of one ledger: a file beside the log's key, compressed, which only grows.

Owns that file. It begins with a line of canonical JSON; then comes a record for each request: the bytes and the number of
entries that it holds (four bytes each, largest first), and the lines, compressed (zlib, which brings a check of its
own). A record is durable before anything is signed over it, so one that is torn was answered for to no one. Of a file
that is damaged before its end a copy is set aside, and what can be read stands: the rest is asked for again. Must not know
what entries say.
"""

from __future__ import annotations

import os
import struct
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

from tallystick.errors import JournalError
from tallystick.journal.durable import replace_file, write_whole
from tallystick.seal.canonical import canonical

_RECORD = struct.Struct(">II")
_LEVEL, _WINDOW, _MEMORY = 6, 12, 6
_USUAL = (
    b'0123456789abcdef"did:key:z6Mk"type":"store_start""key_add""key_retire""erasure","basis":"names":["content.'
    b'"retention","action":"drop_content","rule":"from":,"to":"drop_session""import","agent":"skipped":{},"offset":'
    b'"local.source":{"digest":"","path":""anchor","kind":"git","root":"tsa""alert_head","n":"content.head":"'
    b'"content.target":""content.receipt":"{"entry":{"fields":"","n":,"parents":[],"prev":"","sid":"","v":1},'
    b'"fields":{"meta":{"adopted":,"closed":false,"recorded":"2026-01-01T00:00:00.000000Z","root":"","session":"",'
    b'"size":32,"type":"session_head"}},"seed":""}\n'
)
"""What lines look like, for the compression. It is a part of the form of the file."""
MOST_ANSWER = 1 << 20
"""Bytes of lines after which an answer holds no more of them."""


def entries_path(vault: Path) -> Path:
    """Where the entries of a log are kept."""
    return vault.with_suffix(".entries")


class EntryFile:
    """The entries of one log. Its owner holds the log's key, so that one process at a time has it."""

    def __init__(self, path: Path, store: str) -> None:
        """Open the file, or begin it.

        Raises:
            JournalError: it cannot be opened, or is another store's.
        """
        self.path = path
        self._first = canonical({"v": 1, "store": store}) + b"\n"
        try:
            if not path.exists():
                replace_file(path, [self._first])
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
            data = path.read_bytes()
        except OSError as error:
            raise JournalError(f"cannot open {path}: {error.strerror}") from error
        if not data.startswith(self._first):
            os.close(self._file)
            raise JournalError(
                f"{path} does not keep the entries of store {store}",
                hint="restore it, or move it away: it is filled again",
            )
        self.size, self._ends, self._begins = 0, array("Q", [len(self._first)]), array("Q")
        self._read(data)

    @property
    def length(self) -> int:
        """The length of the file."""
        return self._ends[-1]

    def _read(self, data: bytes) -> None:
        while self._ends[-1] < len(data):
            at = self._ends[-1]
            found = _record(data, at)
            if found is None:
                if any(data[at:]) and not _is_torn(data, at):
                    replace_file(self.path.with_name(f"{self.path.name}.damaged"), [data])
                os.ftruncate(self._file, at)
                return
            count, end = found
            self._add(count, end)

    def _add(self, count: int, end: int) -> None:
        self._begins.append(self.size)
        self._ends.append(end)
        self.size += count

    def append(self, lines: Sequence[bytes]) -> None:
        """Keep some more, durably. Raises JournalError: none of them is kept."""
        if not lines:
            return
        packed = _packed(lines)
        try:
            os.ftruncate(self._file, self.length)  # of what a disk that refused took before
            write_whole(self._file, _RECORD.pack(len(packed), len(lines)) + packed)
            os.fdatasync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self.length)
            raise JournalError(f"cannot write {self.path}: {error.strerror}", hint="is the disk full?") from error
        self._add(len(lines), self.length + _RECORD.size + len(packed))

    def set_aside(self) -> None:
        """Begin again; what was kept is kept aside."""
        replace_file(self.path.with_name(f"{self.path.name}.damaged"), [self.path.read_bytes()])
        self.cut(0)

    def cut(self, size: int) -> None:
        """Keep no more than so many, which is where a record ends."""
        while self.size > size:
            self._ends.pop()
            self.size = self._begins.pop()
        os.ftruncate(self._file, self.length)

    def lines(self, start: int = 0) -> Iterator[bytes]:
        """The entries from one on. Raises JournalError: the file is another than it was."""
        first = max(bisect_right(self._begins, start) - 1, 0)
        for number in range(first, len(self._begins)):
            begin, end = self._ends[number], self._ends[number + 1]
            try:
                shown = _unpacked(os.pread(self._file, end - begin, begin)[_RECORD.size :])
            except (OSError, zlib.error) as error:
                raise JournalError(f"cannot read {self.path}: {error}") from error
            yield from shown[max(start - self._begins[number], 0) :]

    def answer(self, start: int) -> bytes:
        """As many from one on as one answer holds, each ended by LF; at least one, if there is one."""
        found, size = list[bytes](), 0
        for line in self.lines(start):
            size += len(line) + 1
            if found and size > MOST_ANSWER:
                break
            found.append(line + b"\n")
        return b"".join(found)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def _packed(lines: Sequence[bytes]) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, _USUAL)
    return packer.compress(b"\n".join(lines)) + packer.flush()


def _unpacked(packed: bytes) -> list[bytes]:
    opener = zlib.decompressobj(_WINDOW, _USUAL)
    data = opener.decompress(packed)
    if not opener.eof:
        raise zlib.error("a record is not whole")
    return data.split(b"\n")


def _is_torn(data: bytes, at: int) -> bool:
    """Whether a record that cannot be read is the last one."""
    return len(data) < at + _RECORD.size or len(data) <= at + _RECORD.size + _RECORD.unpack_from(data, at)[0]


def _record(data: bytes, at: int) -> tuple[int, int] | None:
    """How many entries a record holds, and where it ends; None if it cannot be read."""
    if len(data) < at + _RECORD.size:
        return None
    length, count = _RECORD.unpack_from(data, at)
    end = at + _RECORD.size + length
    try:
        if len(data) >= end and count and len(_unpacked(data[at + _RECORD.size : end])) == count:
            return count, end
    except zlib.error:
        return None
    return None

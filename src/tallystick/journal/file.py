"""One journal file, open for appending (docs/format.md 11).

Owns the lock, what is chained next, recovery of a torn tail, and the promise that a step is either wholly there or not.
Several processes and threads may have the same journal open. Must not know what a step means, nor sign anything.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from tallystick.errors import FormatError, JournalError
from tallystick.journal.blobs import write_blob
from tallystick.journal.durable import sync_folder, write_whole
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.opening import open_file, open_to_read
from tallystick.model.raw import Raw
from tallystick.model.step import Json
from tallystick.seal.hashes import genesis
from tallystick.seal.line import Sealed, Slot, parse_line, seal_line, skim
from tallystick.seal.merkle import Frontier

Clock = Callable[[], str]
"""Gives `recorded` times."""
Seeds = Callable[[], bytes]
"""Gives 32 fresh random bytes."""


class Sources(NamedTuple):
    """What an entry has that its step does not give."""

    clock: Clock
    seeds: Seeds


Follower = Callable[[int, bytes, bytes], None]
"""Gets number, hash and line (without LF) of an entry."""


class Appended(msgspec.Struct, frozen=True):
    """A step that is on disk: its number and hash."""

    n: int
    hash: str


class Unsynced(msgspec.Struct, frozen=True):
    """What of a journal is not durable yet: a descriptor of the file as it was, and how much of it."""

    descriptor: int
    length: int
    opened: int
    is_first: bool


class JournalFile:
    """A journal that can be appended to.

    Attributes:
        size: entries in the file, as of the last time the lock was held. head: hash of the last one, or genesis.
        ended: whether the last entry is a `session_end`. own: how many entries were written through this object.
            own_sealed: how many of them a head covers. sealed_size: how many entries a signed head covers; the opener sets
            it, and fewer than that in the file is an alarm, never repaired.
    """

    def __init__(self, home: Home, sid: str, path: Path, sources: Sources) -> None:
        """Open the journal at `path`; it is made if it is not there.

        Raises:
            JournalError: it cannot be opened, or what is in it cannot be appended to.
        """
        self.sid = sid
        self.path = path
        self.in_ledger = path == home.ledger
        self.failed: str | None = None
        self.sealed_size = 0
        self.own = self.own_sealed = 0
        self._home = home
        self._clock, self._seeds = sources
        self._mutex = threading.RLock()
        self._depth = 0
        self._descriptor = -1
        self._was_opened = False
        self._opened = 0
        self._held = _Held(self)
        self._name = str(path)
        self._followers: list[Follower] = []
        self._forget()

    def _forget(self) -> None:
        """Start over from the beginning of the file: nothing of it has been read."""
        self.size = 0
        self.head = genesis(self.sid)
        self.tree = Frontier()
        self.ended = False
        self._length = 0
        self._synced = 0

    def on_entry(self, callback: Follower) -> None:
        """Have `callback(n, hash, line)` called, under the lock, for each entry found on disk that others wrote.

        Entries appended through this object are not among them. After an erasure by another process the whole file is
        read again, so a callback may see an entry twice.
        """
        self._followers.append(callback)

    @property
    def length(self) -> int:
        """How many bytes of the file are complete lines, as of the last time the lock was held."""
        return self._length

    # The lock -------------------------------------------------------------------------------------------------------

    def locked(self) -> _Held:
        """A context that holds the journal's lock; on entering, what others added is read and a torn tail recovered.

        Re-entrant.
        """
        return self._held

    def hold(self) -> None:
        """Enter the lock. Raises JournalError, and then it is not held."""
        self._mutex.acquire()
        try:
            if self._depth == 0:
                self._lock()
            self._depth += 1
        except BaseException:
            self._mutex.release()
            raise

    def let_go(self) -> None:
        """Leave the lock."""
        self._depth -= 1
        try:
            if self._depth == 0 and self._descriptor >= 0:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        except OSError:
            self.close()  # which gives up the lock too; the next `hold` opens the file again
        finally:
            self._mutex.release()

    def _lock(self) -> None:
        if self.failed is not None:
            raise JournalError(f"{self.path}: {self.failed}", hint="run `tally verify`, then start again")
        try:
            while True:
                if self._descriptor < 0:
                    self._open()
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)
                status = os.fstat(self._descriptor)
                if _is_at(self._name, status):
                    break
                # The file was replaced, by an erasure, between opening and locking: the name decides.
                self.close()
            if status.st_size != self._length:
                self._catch_up(status.st_size)
        except OSError as error:
            self.close()
            raise JournalError(f"cannot lock {self.path}: {error.strerror or error}") from error
        except JournalError:
            self.close()
            raise

    def _open(self) -> None:
        self._forget()
        if not self.path.parent.exists():
            self._home.make_folder(self.path.parent)
        # Only the first opening may make the file: one that is gone later was taken away, and must not come back empty.
        flags = os.O_RDWR | os.O_APPEND | (0 if self._was_opened else os.O_CREAT)
        self._descriptor = open_file(self.path, flags)
        self._was_opened = True
        self._opened += 1

    def close(self) -> None:
        """Close the file. It is opened again by the next `locked`."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            self._length = 0

    # Reading what is there ------------------------------------------------------------------------------------------

    def _catch_up(self, length: int) -> None:
        """Chain the entries from `_length` on, then deal with what follows the last complete line."""
        if length < self._length:
            raise JournalError(
                f"{self.path} became shorter while it was open ({self._length} to {length} bytes)",
                hint="run `tally verify`",
            )
        lines = LineFile(self.path, start=self._length, until=length)
        last = b""
        for text in lines:
            if b"\x00" in text:
                break
            found = skim(text)
            if found is None or found.n != self.size or found.prev != self.head.hex() or found.sid != self.sid:
                raise JournalError(
                    f"{self.path}: entry {self.size} does not follow from the one before it",
                    hint="run `tally verify`; a changed journal is not continued",
                )
            self._chain(found.hash, len(text) + 1)
            last = text
            for follower in self._followers:
                follower(found.n, found.hash, text)
        if last:
            self.ended = _type_of(last) == "session_end" or (self.ended and _type_of(last) == "recovery")
        self._synced = min(self._synced, self._length)
        if self.size < self.sealed_size:
            raise JournalError(
                f"{self.path} has {self.size} entries, a signed head covers {self.sealed_size}",
                hint="entries were removed: run `tally verify`, keep the file unchanged, restore it from a backup",
            )
        if self._length < length:
            self._recover(length)

    def _chain(self, digest: bytes, line_bytes: int) -> None:
        self.tree.append(digest)
        self.head = digest
        self.size += 1
        self._length += line_bytes

    def _recover(self, length: int) -> None:
        """Move what follows the last complete line to `torn/`, cut the file, and record that (11.5)."""
        with open_to_read(self.path) as file:
            file.seek(self._length)
            tail = file.read(length - self._length)
        stamp = self._clock().replace(":", "").replace(".", "")
        self._home.make_folder(self._home.torn)
        target = self._home.torn / f"{self.sid}-{self.size}-{stamp}"
        descriptor = open_file(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            write_whole(descriptor, tail)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_folder(self._home.torn)
        os.ftruncate(self._descriptor, self._length)
        if self.size > 0:
            meta: dict[str, Json] = {"type": "recovery", "bytes": len(tail)}
            if not self.in_ledger:
                meta["source"] = "watch"
            sealed = self._seal(meta, {}, {}, ())
            self._write(sealed)
            for follower in self._followers:
                follower(sealed.n, sealed.hash, sealed.line[:-1])

    # Appending ------------------------------------------------------------------------------------------------------

    def append(
        self,
        meta: Mapping[str, Json],
        values: Mapping[str, Raw] | None = None,
        raw: Mapping[str, bytes] | None = None,
        parents: tuple[str, ...] = (),
    ) -> Appended:
        """Seal a step and write its line. On return the step survives the death of any process.

        Args:
            meta: all members of `meta` but `recorded`, which is the moment of sealing.

        Raises:
            FormatError: the step cannot be sealed; nothing was written.
            JournalError: the disk refused; what it took was cut back, or this journal takes no more from this process.
        """
        with self.locked():
            sealed = self._seal(meta, values or {}, raw or {}, parents)
            for blob in sealed.blobs:
                write_blob(self._home, blob)
            self._write(sealed)
            self.own += 1
            self.ended = meta.get("type") == "session_end"
            return Appended(sealed.n, sealed.hash.hex())

    def _seal(
        self,
        meta: Mapping[str, Json],
        values: Mapping[str, Raw],
        raw: Mapping[str, bytes],
        parents: tuple[str, ...],
    ) -> Sealed:
        return seal_line(
            Slot(self.sid, self.size, self.head, parents),
            seed=self._seeds(),
            values={**values, "meta": {**meta, "recorded": self._clock()}},
            raw=raw,
        )

    def _write(self, sealed: Sealed) -> None:
        try:
            written = os.write(self._descriptor, sealed.line)
            if written != len(sealed.line):
                raise OSError(28, f"the disk accepted {written} of {len(sealed.line)} bytes")
        except OSError as error:
            self._cut_back(error)
            raise JournalError(
                f"cannot append to {self.path}: {error.strerror or error}", hint="is the disk full?"
            ) from error
        self._chain(sealed.hash, len(sealed.line))

    def _cut_back(self, error: OSError) -> None:
        try:
            os.ftruncate(self._descriptor, self._length)
        except OSError as worse:
            self.failed = f"a half-written line could not be cut back ({worse.strerror}) after: {error.strerror}"

    def lines_from(self, offset: int) -> list[bytes]:
        """The lines from an offset on at which one begins, without their LF. The lock is held. Raises JournalError."""
        try:
            return os.pread(self._descriptor, self._length - offset, offset).split(b"\n")[:-1]
        except OSError as error:
            raise JournalError(f"cannot read {self.path}: {error.strerror}") from error

    def sync(self) -> set[Path]:
        """Make everything written so far survive a loss of power.

        Returns:
            The folders whose names must be made durable too (sync_folder) before the journal's file surely is: those of a
            file that was not synced before. Several journals share a folder, so the caller does each once.

        Raises:
            JournalError: it could not be made durable; nothing may be signed over it, and this journal takes no more.
        """
        with self._mutex:
            pending = self.unsynced()
            if pending is not None:
                return self.settle(pending)
            return set()

    def unsynced(self) -> Unsynced | None:
        """What is written and not durable yet, which `settle` makes so; None if there is nothing.

        Raises:
            JournalError: this process has too many files open.
        """
        with self._mutex:
            if self._descriptor < 0 or self._synced == self._length:
                return None
            try:
                descriptor = os.dup(self._descriptor)
            except OSError as error:
                raise JournalError(f"cannot make {self.path} durable: {error.strerror}") from error
            return Unsynced(descriptor, self._length, self._opened, self._synced == 0)

    def settle(self, pending: Unsynced) -> set[Path]:
        """Make durable what `unsynced` gave. Needs no lock: anyone who appends need not wait for the disk.

        Returns and raises what `sync` does.
        """
        try:
            os.fdatasync(pending.descriptor)
        except OSError as error:
            self.failed = f"fdatasync failed: {error.strerror}"
            raise JournalError(f"cannot make {self.path} durable: {error.strerror}") from error
        finally:
            os.close(pending.descriptor)
        with self._mutex:
            if self._opened == pending.opened:  # else it is another file, of which nothing is known
                self._synced = max(self._synced, pending.length)
        if pending.is_first:
            return {self.path.parent}
        return set()


def sync_alone(journal: JournalFile) -> None:
    """Make one journal survive a loss of power, its name included. Raises what `sync` raises."""
    for folder in journal.sync():
        sync_folder(folder)


class _Held:
    """The lock of a journal as a context: one object a journal, because every append enters it."""

    __slots__ = ("_journal",)

    def __init__(self, journal: JournalFile) -> None:
        self._journal = journal

    def __enter__(self) -> None:
        self._journal.hold()

    def __exit__(self, *_: object) -> None:
        self._journal.let_go()


def _is_at(path: str, status: os.stat_result) -> bool:
    try:
        named = os.lstat(path)
    except FileNotFoundError:
        return False
    return (named.st_ino, named.st_dev) == (status.st_ino, status.st_dev)


def _type_of(text: bytes) -> str | None:
    try:
        kind = parse_line(text).meta.get("type")
    except FormatError:
        return None
    if isinstance(kind, str):
        return kind
    return None

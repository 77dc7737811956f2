"""What a signer keeps of its epochs: how long they are, and the end of each, in a file beside the log's key.

Owns that file, which holds no secret and only grows: a first line with the key that the row begins with, then a line of
canonical JSON for the end of each epoch. A last line that is torn was told to no one. Must not know the keys that sign.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tallystick.errors import JournalError
from tallystick.journal.durable import replace_file, write_whole
from tallystick.seal.canonical import canonical
from tallystick.seal.epochs import Epoch, later
from tallystick.seal.keys import named_key

SHORTEST, LONGEST = 60, 31 * 86_400
"""Seconds that an epoch may be meant to last."""
MOST_ENDS = 100
"""Ends in one answer."""


class _Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line. `key` is the did:key of the first epoch, which began at `at`."""

    v: int
    store: str
    key: str
    seconds: int
    at: str


_PLAN = msgspec.json.Decoder(_Plan)
_END = msgspec.json.Decoder(Epoch)


def epochs_path(vault: Path) -> Path:
    """Where the epochs of a log's key are kept."""
    return vault.with_suffix(".epochs")


class EpochFile:
    """The epochs of one log, held by one process at a time."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            JournalError: it cannot be read, is damaged, or another process holds it.
        """
        self.path = path
        self.last: Epoch | None = None
        self._file = -1
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            data = path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            first, *ends = whole.splitlines()
            self.plan = _PLAN.decode(first)
            for number, line in enumerate(ends, 1):
                self.last = _END.decode(line)
                if self.last.epoch != number:
                    raise ValueError(f"line {number + 1} is not of epoch {number}")
        except BlockingIOError as error:
            self.close()
            raise JournalError(f"another signer holds {path}", hint="`tally signer status` shows which") from error
        except OSError as error:
            self.close()
            raise JournalError(f"cannot open {path}: {error.strerror}") from error
        except (ValueError, msgspec.MsgspecError) as error:
            self.close()
            raise JournalError(
                f"{path} is damaged: {error}", hint="restore it together with the key beside it"
            ) from error
        self._size = len(whole)

    @property
    def number(self) -> int:
        """Which epoch it is now."""
        if self.last is None:
            return 1
        return self.last.epoch + 1

    @property
    def key(self) -> str:
        """The did:key of the epoch that it is now."""
        if self.last is None:
            return self.plan.key
        return self.last.key

    @property
    def began(self) -> str:
        """When the epoch that it is now began."""
        if self.last is None:
            return self.plan.at
        return self.last.ended

    def is_over(self, now: str) -> bool:
        """Whether the epoch that it is now has lasted as long as it is to."""
        return now >= later(self.began, self.plan.seconds)

    def append(self, end: Epoch) -> None:
        """Write down how an epoch ended: from then on its key signs no more. Raises JournalError: nothing is written."""
        line = canonical(msgspec.to_builtins(end)) + b"\n"
        try:
            os.ftruncate(self._file, self._size)  # of what a disk that refused took before
            os.lseek(self._file, 0, os.SEEK_END)
            write_whole(self._file, line)
            os.fdatasync(self._file)
        except OSError as error:
            raise JournalError(f"cannot write {self.path}: {error.strerror}", hint="is the disk full?") from error
        self.last, self._size = end, self._size + len(line)

    def after(self, key: str) -> Iterator[Epoch]:
        """The ends after the one that names this key, as many as one answer holds; from the first on if none names it."""
        lines = self.path.read_bytes()[: self._size].splitlines()[1:]
        named = f'"key":"{key}"'.encode()
        begin = next((n for n, line in enumerate(lines, 1) if named in line), 0)
        yield from map(_END.decode, lines[begin : begin + MOST_ENDS])

    def row(self) -> dict[Epoch, bytes]:
        """All ends, and the key that signed each."""
        ends = [_END.decode(line) for line in self.path.read_bytes()[: self._size].splitlines()[1:]]
        keys = [named_key(key) or b"" for key in (self.plan.key, *(end.key for end in ends))]
        return dict(zip(ends, keys, strict=False))

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)


def make_epochs(path: Path, *, store: str, key: str, seconds: int, at: str) -> None:
    """Begin the first epoch of a key. Raises JournalError: the length is out of bounds, or it cannot be written."""
    if not SHORTEST <= seconds <= LONGEST:
        raise JournalError(
            f"an epoch of {seconds} s is too short or too long", hint="use 1 minute to 31 days: 1h, 24h, 7d"
        )
    replace_file(path, [canonical({"v": 1, "store": store, "key": key, "seconds": seconds, "at": at}) + b"\n"])


def epoch_plan(path: Path) -> tuple[str, int] | None:
    """The did:key that a row of epochs begins with, and their length in seconds, or None. Raises JournalError."""
    try:
        with path.open("rb") as file:
            plan = _PLAN.decode(file.readline())
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise JournalError(f"cannot read {path}: {error}") from error
    return plan.key, plan.seconds

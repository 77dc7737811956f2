"""What hooks note of their deliveries, and the receipts by which the recorder knows those that it has.

Owns the file `run/deliveries`: a line a delivery, `ID AGENT RECEIPT`, which the hook writes when it was answered or has kept
the delivery in the spool, and the recorder when it took one from there. To make a receipt takes the store's key of the spool.
A delivery without one is in no record; once that is reported, the recorder writes its receipt itself: so the file says all
there is to know. Must not know what is done about a delivery that is missing. Source: decision 0071.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import stat
from collections.abc import Iterable
from pathlib import Path

import msgspec

ASKED = ".r"
"""With this the id of a delivery ends whose hook wants a receipt."""
SPOOLED = "spooled"
"""In the place of a receipt: the delivery waits in the spool, under the name that its id is."""
_OPENING = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_READ = 512 << 10
_MOST_WORD = 80
_SHORT = 256 << 10
"""A longer file is begun again."""
_LONGEST = 16 << 20
"""No hooks write so much between two looks: the file is not read, and set aside."""
_MOST_NAMED = 5


def receipt(key: bytes, id_: str) -> str:
    """What only who has the key can say of a delivery with this id."""
    return hmac.digest(key, f"answered\n{id_}".encode(), "sha256").hex()[:32]


class Unrecorded(msgspec.Struct, frozen=True):
    """Deliveries that hooks made and that no recorder has: the agent of each, by id."""

    agents: dict[str, str]

    @property
    def moments(self) -> list[int]:
        """When they were made, in nanoseconds since 1970, as far as their ids say."""
        words = (word for id_ in self.agents for word in id_.replace("-", ".").split("."))
        return sorted(int(word) for word in words if word.isdigit() and len(word) == 19)

    @property
    def named(self) -> list[str]:
        """Some of the agents."""
        return sorted(set(self.agents.values()))[:_MOST_NAMED]


class _Open(msgspec.Struct):
    """A delivery without a receipt."""

    agent: str
    is_spooled: bool
    is_missed: bool = False
    """It was not in the spool at the last look."""


class _File:
    """One file of lines, and how far it was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self._id: tuple[int, int] | None = None

    def make(self) -> None:
        """Have an empty file, unless there is one. Raises OSError."""
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _OPENING, 0o600))
        status = self.path.lstat()
        self._id = status.st_dev, status.st_ino

    @property
    def is_kept(self) -> bool:
        """Whether it is there as it was made, and no shorter than it was read."""
        try:
            status = self.path.lstat()
        except OSError:
            return False
        is_same = self._id in (None, (status.st_dev, status.st_ino))
        return is_same and stat.S_ISREG(status.st_mode) and status.st_size >= self.offset

    @property
    def size(self) -> int:
        try:
            return self.path.lstat().st_size
        except OSError:
            return 0

    def read(self) -> list[list[str]]:
        """The words of the next lines that are whole."""
        try:
            with os.fdopen(os.open(self.path, os.O_RDONLY | _OPENING), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return []
                file.seek(self.offset)
                found = file.read(_MOST_READ)
        except OSError:
            return []
        whole = found[: found.rfind(b"\n") + 1]
        self.offset += len(whole) or (len(found) if len(found) == _MOST_READ else 0)
        return [line.decode("utf-8", "replace").split() for line in whole.splitlines()]

    def append(self, lines: Iterable[str]) -> None:
        """Write lines at its end. Raises OSError."""
        data = "".join(f"{line}\n" for line in lines).encode()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | _OPENING)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)


class Deliveries:
    """The file of one store, as its recorder uses it. Another thread may ask for receipts and settle while one looks."""

    def __init__(self, run: Path, spool: Path, key: bytes) -> None:
        """Of a store with the folders `run` and `spool`, and the key of its spool."""
        self._spool = spool
        self._key = key
        self._file = _File(run / "deliveries")
        self._before = _File(run / "deliveries.old")
        self._open: dict[str, _Open] = {}
        self._unsettled: dict[str, str] = {}
        self.was_removed = False
        """Whether the file was taken away, cut or grown beyond all measure since that was last asked."""

    def begin(self) -> None:
        """Have hooks note what they deliver. Raises OSError: the store cannot be written."""
        self._file.make()

    def receipt_of(self, id_: str) -> str | None:
        """The receipt for a delivery that is recorded; None if its hook wants none."""
        if id_.endswith(ASKED):
            return receipt(self._key, id_)
        return None

    def settle(self, agents: dict[str, str]) -> None:
        """Say that these deliveries are recorded, or reported. What finds no room now is written at the next look."""
        if not agents:
            return
        for id_ in agents:
            self._open.pop(id_, None)
        try:
            self._file.append([f"{id_} {agent} {receipt(self._key, id_)}" for id_, agent in agents.items()])
        except OSError:  # the disk is full, or the file is begun again at this moment
            self._unsettled.update(agents)

    def look(self) -> Unrecorded | None:
        """Deliveries that are in no record; they are found again until they are settled. Raises OSError."""
        waiting = self._waiting()  # first: what leaves the spool has its receipt by then
        self._check()
        unsettled, self._unsettled = self._unsettled, {}
        self.settle(unsettled)
        lines = [words for words in (*self._before.read(), *self._file.read()) if _is_line(words)]
        self._open |= {words[0]: _Open(words[1], words[2] == SPOOLED) for words in lines if words[0] not in self._open}
        for id_ in {*(id_ for id_, _, said in lines if self._is_ours(id_, said)), *self._unsettled}:
            self._open.pop(id_, None)  # wherever the receipt is: a line that was taken over stands behind it
        found = {id_: each.agent for id_, each in list(self._open.items()) if self._is_missing(id_, each, waiting)}
        if self._file.offset == self._file.size and self._before.offset >= self._before.size:
            self._begin_again()
        if found:
            return Unrecorded(found)
        return None

    @property
    def is_unsure(self) -> bool:
        """Whether a delivery may be missing, which only another look tells."""
        return any(each.is_missed for each in list(self._open.values()))

    def _waiting(self) -> set[str]:
        try:
            return {path.name.partition(".")[0] for path in self._spool.iterdir()}
        except OSError:
            return set()

    def _is_ours(self, id_: str, said: str) -> bool:
        return hmac.compare_digest(said.encode(), receipt(self._key, id_).encode())

    def _is_missing(self, id_: str, each: _Open, waiting: set[str]) -> bool:
        """Whether a delivery is lost; one that was kept must be away from the spool twice, for its file may be renamed."""
        was_missed, each.is_missed = each.is_missed, id_ not in waiting
        return each.is_missed and (was_missed or not each.is_spooled)

    def _check(self) -> None:
        if self._file.is_kept and self._file.size <= _LONGEST:
            return
        self.was_removed = True
        with contextlib.suppress(OSError):
            self._file.path.rename(self._file.path.with_suffix(".aside"))
        self._renew()

    def _begin_again(self) -> None:
        """Once all of a long file is read, have a new one; what hooks still write to the old one is read the next time."""
        self._before.path.unlink(missing_ok=True)
        self._before.offset = 0
        if self._file.size <= _SHORT:
            return
        self._file.path.rename(self._before.path)
        self._before.offset = self._file.offset
        self._renew()

    def _renew(self) -> None:
        self._file = _File(self._file.path)
        self._file.make()
        known = list(self._open.items())
        self._file.append(f"{id_} {each.agent} {SPOOLED}" for id_, each in known if each.is_spooled)


def _is_line(words: list[str]) -> bool:
    """Whether words are those of a line; a full disk may have cut one."""
    return len(words) == 3 and all(len(word) <= _MOST_WORD for word in words)

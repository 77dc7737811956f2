"""A clock that stands and random bytes that count, for a whole process.

Owns what is replaced, before anything of the program is imported. The clock stands rather than ticks, so that a program
which asks it once more or less does the same.
"""

from __future__ import annotations

import datetime
import itertools
import os
import random
import tempfile
import time
import uuid
from hashlib import sha256

NOW_NS = 1_795_348_800_000_000_000
"""2026-11-22T12:00:00Z."""
_NOW_SECONDS = NOW_NS // 1_000_000_000
_REAL = datetime.datetime


class _Bytes:
    """Random bytes that are the same in each run; requests of another length do not shift them."""

    def __init__(self) -> None:
        self._name = ""
        self._counts: dict[int, int] = {}

    def restart(self, name: str) -> None:
        self._name, self._counts = name, {}

    def take(self, size: int, /) -> bytes:
        count = self._counts.get(size, 0)
        self._counts[size] = count + 1
        found = b""
        while len(found) < size:
            found += sha256(f"{self._name}\0{size}\0{count}\0{len(found)}".encode()).digest()
        return found[:size]


_BYTES = _Bytes()


class _LooksReal(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _REAL)


class _Frozen(datetime.datetime, metaclass=_LooksReal):
    """The class `datetime` with a clock that stands; what it makes are plain datetimes."""

    def __new__(cls, *arguments: object, **named: object) -> datetime.datetime:  # type: ignore[misc]
        return _REAL(*arguments, **named)  # type: ignore[arg-type]

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:  # type: ignore[override]
        return _REAL.fromtimestamp(_NOW_SECONDS, tz)

    @classmethod
    def utcnow(cls) -> datetime.datetime:  # type: ignore[override]
        return cls.now(datetime.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> datetime.datetime:  # type: ignore[override]
        return cls.now()


def freeze() -> None:
    """Replace clock and randomness of this process. To be called before the program is imported."""
    time.time = lambda: float(_NOW_SECONDS)
    time.time_ns = lambda: NOW_NS
    datetime.datetime = _Frozen  # type: ignore[misc]
    os.urandom = _BYTES.take
    uuid.uuid4 = lambda: uuid.UUID(bytes=_BYTES.take(16), version=4)
    random._urandom = _BYTES.take  # type: ignore[attr-defined]
    # Patterns of commands are held against the path of the store: `pkill -f x` must not depend on a letter in it.
    tempfile._name_sequence = (f"{os.getpid()}-{number}" for number in itertools.count())  # type: ignore[attr-defined]
    restart("")


def restart(name: str) -> None:
    """Begin a piece of work: its random bytes depend on its name alone, not on what was done before it."""
    _BYTES.restart(name)
    random.seed(name)

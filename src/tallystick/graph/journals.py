"""Journals as they are projected, and what is said of a projection that was made.

Owns these values. Must not know how rows are made.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from tallystick.model.recorded import Recorded


class Placed(Protocol):
    """A step and where its line lies in the journal: bytes `offset` to `end`."""

    @property
    def step(self) -> Recorded:
        """The step."""
        ...

    @property
    def offset(self) -> int:
        """Where its line begins."""
        ...

    @property
    def end(self) -> int:
        """Where the next one begins."""
        ...


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """A journal to project. `read(start)` gives its steps from byte `start` on, which begins a line.

    `inode` and `size_bytes` are the file's, taken before anything is read. Values that are kept as blobs and that `read`
    does not load cannot be searched.
    """

    session: str
    inode: int
    size_bytes: int
    read: Callable[[int], Iterable[Placed]]


class Depth(enum.Enum):
    """How much of each step is projected."""

    ROWS = "rows"
    """Its rows only; its text becomes searchable when it is projected to depth TEXT."""
    TEXT = "text"
    STEPS = "steps"
    """Its rows and its text, but not yet versions and relations: those follow when anything is projected to another depth."""

    @property
    def has_text(self) -> bool:
        """Whether text becomes searchable."""
        return self is not Depth.ROWS


class Failure(msgspec.Struct, frozen=True):
    """A journal that could not be projected to its end. What comes before entry `n` is in the index."""

    session: str
    n: int
    why: str


class Projected(msgspec.Struct, frozen=True, kw_only=True):
    """What was done: how many sessions changed, how many of their steps were read, and which journals are not all there.

    `outdated` is how many sessions had rows made by other rules, which were made again. `unsearchable` is how many sessions
    of the whole index have text that `search` does not find yet.
    """

    sessions: int
    steps: int
    failures: tuple[Failure, ...]
    unsearchable: int
    outdated: int = 0

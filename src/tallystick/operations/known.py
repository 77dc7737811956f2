"""What a journal already holds, compactly, so that an event is recorded once (docs/format.md 13).

Owns the map from source ids to entries of one journal, and the paths that led to each entry. Costs about 200 bytes a
step. Must not decide what to do about an event that is known: record.py does.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from hashlib import _Hash

_PATHS_KEPT = 64


class PathInput(msgspec.Struct, frozen=True):
    """The steps on a main-parent path: runs of entry numbers, and SHA-256 over their hashes in that order."""

    runs: tuple[tuple[int, int], ...]
    digest: str


class _Path(msgspec.Struct):
    runs: tuple[tuple[int, int], ...]
    state: _Hash


class KnownSteps:
    """The entries of one journal by number and by source id. Fed in order, as they are read or appended."""

    def __init__(self) -> None:
        self._hashes = bytearray()
        self._offsets = array("Q")
        self._main_parents = array("q")
        self._by_source: dict[str, int] = {}
        self._paths: OrderedDict[int, _Path] = OrderedDict()

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, digest: bytes, *, offset: int, parents: tuple[str, ...], source_id: str | None) -> None:
        """Take the next entry: its hash, where its line begins, its parents as they stand, and its source id."""
        n = len(self)
        self._main_parents.append(self._main_parent(n, parents))
        self._hashes += digest
        self._offsets.append(offset)
        if source_id is not None:
            self._by_source[source_id] = n

    def _main_parent(self, n: int, parents: tuple[str, ...]) -> int:
        if not parents:
            return n - 1
        if "#" in parents[0]:
            return -1
        found = self.number_of(parents[0])
        return n - 1 if found is None else found

    def find(self, source_id: str) -> int | None:
        """The number of the newest entry with this source id."""
        return self._by_source.get(source_id)

    def hash_at(self, n: int) -> str:
        """The hash of entry `n`, in hex."""
        return self._hashes[32 * n : 32 * n + 32].hex()

    def number_of(self, digest: str) -> int | None:
        """The number of the entry with this hash (hex), None if it is another journal's or none."""
        if "#" in digest:
            return None
        wanted, end = bytes.fromhex(digest), len(self._hashes)
        while (position := self._hashes.rfind(wanted, 0, end)) >= 0:  # from the end: parents are mostly near
            if position % 32 == 0:
                return position // 32
            end = position + 31
        return None

    def offset_of(self, n: int) -> int:
        """Where the line of entry `n` began when it was added."""
        return self._offsets[n]

    def path_to(self, n: int) -> PathInput:
        """The main-parent path that ends at entry `n`, oldest first."""
        missing: list[int] = []
        at = n
        while at >= 0 and at not in self._paths:
            missing.append(at)
            at = self._main_parents[at]
        path = self._paths.get(at) or _Path((), sha256())
        for step in reversed(missing):
            path = self._extended(path, step)
        self._paths[n] = path
        self._paths.move_to_end(n)
        while len(self._paths) > _PATHS_KEPT:
            self._paths.popitem(last=False)
        return PathInput(path.runs, path.state.hexdigest())

    def _extended(self, path: _Path, step: int) -> _Path:
        state = path.state.copy()
        state.update(self._hashes[32 * step : 32 * step + 32])
        if path.runs and path.runs[-1][1] == step - 1:
            return _Path((*path.runs[:-1], (path.runs[-1][0], step)), state)
        return _Path((*path.runs, (step, step)), state)

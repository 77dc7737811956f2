"""What a journal already holds, compactly, so that an event is recorded once (docs/format.md 13).

Owns the map from source ids to entries of one journal, which entries tell the same event, who else has seen it, and the
paths that led to each entry. Costs about 120 bytes a step. Must not decide what to do about an event that is known:
record.py does.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tallystick.model.step import Json
from tallystick.recording.source_ids import SourceIds

if TYPE_CHECKING:
    from hashlib import _Hash

_PATHS_KEPT = 64
_MOST_RUNS = 200


class PathInput(msgspec.Struct, frozen=True):
    """The steps on a main-parent path: runs of entry numbers, and SHA-256 over their hashes in that order."""

    runs: tuple[tuple[int, int], ...]
    digest: str


class _Path(msgspec.Struct):
    runs: tuple[tuple[int, int], ...]
    state: _Hash


class KnownStep(NamedTuple):
    """One entry as it is known."""

    digest: bytes
    """Its hash."""
    offset: int
    """Where its line begins."""
    parents: tuple[str, ...]
    """As its line has them."""
    source_id: str | None = None
    tells: int | None = None
    """The entry that it revises or corroborates."""


class KnownSteps:
    """The entries of one journal by number and by source id. Fed in order, as they are read or appended."""

    def __init__(self) -> None:
        self._hashes = bytearray()
        self._offsets = array("Q")
        self._main_parents = array("q")
        self._ids = SourceIds()
        self._first: dict[int, int] = {}
        """For entries that revise or corroborate another: the first report of the event."""
        self._later: dict[int, list[int]] = {}
        """By first report: the entries that tell the event again."""
        self._names: dict[int, list[str]] = {}
        """By first report: its source ids, where sources name it differently."""
        self._seen: dict[str, set[int]] = {}
        """By source: the first reports of events that it has seen too, and recorded nothing of."""
        self._paths: OrderedDict[int, _Path] = OrderedDict()

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, step: KnownStep) -> None:
        """Take the next entry."""
        n = len(self)
        digest, offset, parents, source_id, tells = step
        self._ids.add(source_id)
        self._main_parents.append(self._main_parent(n, parents))
        self._hashes += digest
        self._offsets.append(offset)
        if tells is not None and 0 <= tells < n:
            first = self.first(tells)
            self._first[n] = first
            self._later.setdefault(first, []).append(n)
            self._name(first, source_id)

    def _main_parent(self, n: int, parents: tuple[str, ...]) -> int:
        if not parents:
            return n - 1
        if "#" in parents[0]:
            return -1
        found = self.number_of(parents[0])
        if found is None:
            return n - 1
        return found

    def find(self, source_id: str) -> int | None:
        """The number of the newest entry that tells the event with this source id, whichever source gave it that."""
        n = self._ids.find(source_id)
        if n is None and self._names:
            n = self._under_another_name(source_id)
        if n is None:
            return None
        return self.reports(n)[-1]

    def _under_another_name(self, source_id: str) -> int | None:
        """What belongs to an event (`<call id>/result`) that another source names differently."""
        base, _, rest = source_id.rpartition("/")
        event = self._ids.find(base)
        if event is not None:
            names = self._names.get(self.first(event), ())
        else:
            names = ()
        return next((n for name in names if (n := self._ids.find(f"{name}/{rest}")) is not None), None)

    # Several reports of one event ------------------------------------------------------------------------------------

    def first(self, n: int) -> int:
        """The first report of the event that entry `n` tells."""
        return self._first.get(n, n)

    def reports(self, n: int) -> tuple[int, ...]:
        """The entries that tell the same event as entry `n`, oldest first."""
        first = self.first(n)
        return (first, *self._later.get(first, ()))

    def see(self, n: int, source: str, source_id: str | None) -> None:
        """Note that `source`, which calls it `source_id`, has seen the event of entry `n` too."""
        first = self.first(n)
        self._seen.setdefault(source, set()).add(first)
        if source_id is not None:
            self._ids.also(source_id, first)
            self._name(first, source_id)

    def is_seen(self, n: int, source: str) -> bool:
        """Whether `source` has seen the event of entry `n`, and recorded nothing of it."""
        return self.first(n) in self._seen.get(source, ())

    def id_of(self, n: int) -> str | None:
        """The source id of entry `n`."""
        return self._ids.of(n)

    def names(self, n: int) -> tuple[str, ...]:
        """The ids that sources give the event of entry `n`."""
        first = self.first(n)
        own = self._ids.of(first)
        return tuple(self._names.get(first, () if own is None else (own,)))

    def _name(self, first: int, name: str | None) -> None:
        own = self._ids.of(first)
        if name is None or own is None or name == own:
            return
        names = self._names.setdefault(first, [own])
        if name not in names:
            names.append(name)

    # Places -----------------------------------------------------------------------------------------------------------

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


def written_input(path: PathInput, tip: int) -> Json:
    """The `input` member of a model call."""
    if len(path.runs) > _MOST_RUNS:
        return {"path": tip, "digest": path.digest}
    steps = [f"{first}-{last}" if first != last else str(first) for first, last in path.runs]
    return {"steps": steps, "digest": path.digest}

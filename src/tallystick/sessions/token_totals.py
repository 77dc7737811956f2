"""What a session has used so far: its tokens, kept up step by step.

Owns the sum and the rule behind it, which is the index's: a step that revises another takes its place, and what a second
witness saw is not counted again. Must not know where steps come from, nor what tokens cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile

from tallystick.model.step import Json

TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")
_MOST_TOKENS = 1 << 40
_NONE = (0,) * len(TOKENS)


class Used:
    """The tokens of one session. Fed with every entry in order."""

    def __init__(self) -> None:
        self._changes: list[tuple[int, tuple[int, ...]]] = []
        """The entries that name tokens or take such ones out, each with what it changes in the sums."""
        self._sums = _NONE
        self._counted: dict[int, tuple[int, ...]] = {}
        """By entry that names tokens: what of it is in the sums."""
        self._revised: dict[int, int] = {}

    def take(self, n: int, meta: Mapping[str, Json]) -> None:
        """Take the members of entry `n`."""
        before = _NONE
        if "revises" in meta:
            before = self._taken_out(n, meta["revises"])
        found = _counts(meta)
        if found != _NONE:
            self._counted[n] = found
        if found != before:
            change = tuple(now - was for now, was in zip(found, before, strict=True))
            self._changes.append((n, change))
            self._sums = tuple(one + other for one, other in zip(self._sums, change, strict=True))

    def _taken_out(self, n: int, revised: Json) -> tuple[int, ...]:
        """What the entry that is revised has in the sums, and has no more."""
        if type(revised) is not int or not 0 <= revised < n:
            return _NONE
        while revised in self._revised:
            revised = self._revised[revised]
        self._revised[revised] = n
        return self._counted.pop(revised, _NONE)

    @property
    def tokens(self) -> dict[str, int]:
        """The sums by kind. Those of reasoning are among those of the output."""
        return dict(zip(TOKENS, self._sums, strict=True))

    def at(self, n: int) -> dict[str, int]:
        """The sums as they were when entry `n` was the newest."""
        sums = self._sums  # what is asked for is mostly near the end
        for _, change in takewhile(lambda each: each[0] > n, reversed(self._changes)):
            sums = tuple(one - other for one, other in zip(sums, change, strict=True))
        return dict(zip(TOKENS, sums, strict=True))


def _counts(meta: Mapping[str, Json]) -> tuple[int, ...]:
    counts = meta.get("tokens")
    if not isinstance(counts, dict) or "corroborates" in meta or meta.get("type") == "sighting":
        return _NONE
    if not (_is_count(counts.get("input")) or _is_count(counts.get("output"))):
        return _NONE
    return tuple(int(counts[kind]) if _is_count(counts.get(kind)) else 0 for kind in TOKENS)


def _is_count(value: Json) -> bool:
    return type(value) is int and 0 <= value <= _MOST_TOKENS

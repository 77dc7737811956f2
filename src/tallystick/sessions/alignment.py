"""Lining up two sequences: what of one stands for what of the other, in order.

Owns the pairing, and that it takes little time however long the sequences are: what is common at both ends; then the
k-th of a kind with the k-th, as many as are in the same order; then again between those, counted again. Of what occurs
once that is Bram Cohen's patience diff. Swapped, the sequences are paired alike. Must not know what the sequences are
of.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

Pair: TypeAlias = tuple[int, int]
"""Positions in the left and in the right sequence."""

_MOST_ROUNDS = 64
"""How often the space between pairs is looked at again: a bound for sequences that are made to take long."""


def align(left: Sequence[str], right: Sequence[str]) -> list[Pair]:
    """The positions that go together, ascending in both; what is there is equal."""
    if list(right) < list(left):  # so that both directions give the same
        return [(i, j) for j, i in align(right, left)]
    found: list[Pair] = []
    waiting = [(0, len(left), 0, len(right), 0)]
    while waiting:
        low, high, start, end, rounds = waiting.pop()
        while low < high and start < end and left[low] == right[start]:
            found.append((low, start))
            low, start = low + 1, start + 1
        while low < high and start < end and left[high - 1] == right[end - 1]:
            high, end = high - 1, end - 1
            found.append((high, end))
        if low == high or start == end:
            continue
        anchors = _anchors(left[low:high], right[start:end], low, start)
        if not anchors:
            continue
        found += anchors
        edges = [(low - 1, start - 1), *anchors, (high, end)]
        for (before, before_right), (after, after_right) in pairwise(edges):
            if rounds < _MOST_ROUNDS:
                waiting.append((before + 1, after, before_right + 1, after_right, rounds + 1))
    return sorted(found)


def _anchors(left: Sequence[str], right: Sequence[str], low: int, start: int) -> list[Pair]:
    """Pairs of the k-th of each kind, as many as are in the same order. The sequences begin at `low` and `start`."""
    places = {key: start + j for j, key in enumerate(_numbered(right))}
    return _ascending([(low + i, places[key]) for i, key in enumerate(_numbered(left)) if key in places])


def _numbered(items: Sequence[str]) -> Iterator[tuple[str, int]]:
    seen: Counter[str] = Counter()
    for item in items:
        yield item, seen[item]
        seen[item] += 1


def _ascending(pairs: list[Pair]) -> list[Pair]:
    """The longest part of pairs, ascending on the left, that ascends on the right as well."""
    ends: list[int] = []  # the lowest right position at which a run of each length ends
    last: list[int] = []  # and which pair that is
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        if length:
            before.append(last[length - 1])
        else:
            before.append(-1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [number]
    chosen, at = [], last[-1] if last else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]

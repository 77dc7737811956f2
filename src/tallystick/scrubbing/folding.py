"""A text without its repetitions: what is said the same way over and over is looked at a few times, not each time.

Owns how a repetition is noticed, which part of a text is left out for it, and how what was found in the rest is put into the
whole text. Must not know what is looked for. A word that stands a million times costs as much as one that stands fifty times.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

Hit: TypeAlias = tuple[int, int, int]
"""What is found, from where to where."""
Search: TypeAlias = Callable[[bytes, int, int], list[Hit]]
"""Finds what ends in a text after one place, and at another at the latest."""
_FIRST_PIECE, _PIECE = 1 << 11, 1 << 15
"""How much of a text is searched at once: little where what is found may be a repetition."""
_DENSE = 512
"""Something in so many bytes: it is worth looking whether that is a repetition."""
_LEAST = 1024
"""A shorter repetition is read as it is."""
_KEPT = 128
"""So much of a repetition is read before and after what is left out of it, or two periods if they are longer."""
_LONGEST_PERIOD = 4096
_PROBES = (24, 320)
_ANCHORS = 6
_STEP = 4096


class Fold(NamedTuple):
    """What is left out of a text."""

    at: int
    """From which place on; before and after it, at least two more periods are in the text."""
    period: int
    times: int
    """How many periods."""

    @property
    def size(self) -> int:
        """How many bytes."""
        return self.period * self.times


class Edit(NamedTuple):
    """A part of a text that is written otherwise."""

    start: int
    end: int
    text: bytes
    kinds: tuple[str, ...]
    """The secrets that are replaced in it."""


# Noticing ------------------------------------------------------------------------------------------------------------


def pieces(data: bytes, search: Search) -> Iterator[tuple[list[Hit], Fold | None]]:
    """What is found in a text, in the order of ends, piece by piece; and what is left out after a piece."""
    at, size = 0, _FIRST_PIECE
    while at < len(data):
        stop = min(len(data), at + size)
        hits = search(data, at, stop)
        fold = None
        if len(hits) * _DENSE > stop - at and len(data) >= _LEAST:
            fold = _fold_near(data, [start for _, start, _ in hits])
        if fold is None:
            yield hits, None
            at, size = stop, min(2 * size, _PIECE)
        else:
            yield search(data, at, fold.at), fold
            at, size = fold.at + fold.size, _FIRST_PIECE


def folded(data: bytes, search: Search, spend: Callable[[int], None]) -> tuple[Folded, list[Hit]]:
    """A text without its repetitions, and what is found in the rest. Each costs one of what is spent."""
    folds: list[Fold] = []
    found: list[Hit] = []
    left_out = 0
    for hits, fold in pieces(data, search):
        spend(len(hits))
        if left_out:
            hits = [(index, start - left_out, end - left_out) for index, start, end in hits]
        found += hits
        if fold is not None:
            folds.append(fold)
            left_out += fold.size
    return Folded(data, folds), found


def _fold_near(data: bytes, anchors: Sequence[int]) -> Fold | None:
    """What can be left out of a text, if one of the places is in a repetition."""
    for anchor in anchors[:: max(1, len(anchors) // _ANCHORS)]:
        for size in _PROBES:
            period = _period(data, anchor, size)
            found = _fold(data, anchor, period) if period else None
            if found is not None:
                return found
    return None


def _period(data: bytes, at: int, size: int) -> int:
    """After how many bytes what is at `at` stands again; 0: it does not."""
    again = data.find(data[at : at + size], at + 1, at + size + _LONGEST_PERIOD)
    return max(0, again - at)


def _fold(data: bytes, at: int, period: int) -> Fold | None:
    kept = period * max(2, -(-_KEPT // period))
    least = max(_LEAST, 2 * kept + period)
    if data[at : at + least - period] != data[at + period : at + least] or at + least > len(data):
        return None
    size = period + _alike(data, at, at + period)
    return Fold(at + kept, period, (size - 2 * kept) // period)


def _alike(data: bytes, first: int, second: int) -> int:
    """How many bytes are the same from two places on."""
    size, step = 0, _STEP

    def goes_on() -> bool:
        other = data[second + size : second + size + step]
        return len(other) == step and data[first + size : first + size + step] == other

    while goes_on():
        size, step = size + step, 2 * step
    while step:
        if goes_on():
            size += step
        step //= 2
    return size


# Putting together ----------------------------------------------------------------------------------------------------


class Folded:
    """A text of which repetitions are left out."""

    def __init__(self, whole: bytes, folds: Sequence[Fold] = ()) -> None:
        """A text without what folds of it say, which are in their order and apart from each other."""
        self._whole = whole
        self._folds: list[Fold] = []
        self._left_out = [0]
        pieces, position = [], 0
        for fold in folds:
            self._folds.append(fold._replace(at=fold.at - self._left_out[-1]))
            self._left_out.append(self._left_out[-1] + fold.size)
            pieces.append(whole[position : fold.at])
            position = fold.at + fold.size
        self._places = [fold.at for fold in self._folds]
        self.data = whole
        """What is left."""
        if folds:
            self.data = b"".join([*pieces, whole[position:]])

    def original(self, start: int, end: int) -> bytes:
        """What a part of `data` is in the whole text."""
        before, until = bisect_right(self._places, start), bisect_left(self._places, end)
        return self._whole[start + self._left_out[before] : end + self._left_out[max(before, until)]]

    def edited(self, edits: Sequence[Edit]) -> tuple[bytes, Counter[str]]:
        """The whole text with edits of `data`, wherever what they replace is repeated; and how many secrets that is.

        Args: edits: in their order, apart from each other.
        """
        text = _Edited(self.data, edits)
        pieces: list[bytes] = []
        position = 0
        for fold, until in zip(self._folds, [*self._places[1:], len(self.data)], strict=False):
            place = text.end_of_edit(fold.at)
            if place > min(fold.at + fold.period, until):  # one edit replaces all of it
                continue
            pieces += (text.part(position, place), text.again(place - fold.period, place, fold.times))
            position = place
        pieces.append(text.part(position, len(self.data)))
        return b"".join(pieces), text.kinds


class _Edited:
    """A text with edits, in parts that no edit is across."""

    def __init__(self, data: bytes, edits: Sequence[Edit]) -> None:
        self._data = data
        self._edits = edits
        self._starts = [edit.start for edit in edits]
        self.kinds = Counter(kind for edit in edits for kind in edit.kinds)
        """How many secrets are replaced."""

    def _across(self, at: int) -> Edit | None:
        before = bisect_left(self._starts, at) - 1
        if before >= 0 and self._edits[before].end > at:
            return self._edits[before]
        return None

    def end_of_edit(self, at: int) -> int:
        """A place, or where the edit ends that it is in."""
        across = self._across(at)
        if across is None:
            return at
        return across.end

    def part(self, start: int, end: int) -> bytes:
        """What a part is by then."""
        pieces: list[bytes] = []
        position = start
        for edit in self._inside(start, end):
            pieces += (self._data[position : edit.start], edit.text)
            position = edit.end
        pieces.append(self._data[position:end])
        return b"".join(pieces)

    def again(self, start: int, end: int, times: int) -> bytes:
        """The same for a part that is repeated so often; it is counted so often too."""
        across = self._across(start)
        if across is not None:  # it would begin in the middle of a secret
            return across.text
        for edit in self._inside(start, end):
            for kind in edit.kinds:
                self.kinds[kind] += times
        return self.part(start, end) * times

    def _inside(self, start: int, end: int) -> Sequence[Edit]:
        return self._edits[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

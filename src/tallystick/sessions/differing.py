"""How what two sessions did differs: prompt by prompt and call by call, and in the files that they left behind.

Owns what makes two moves the same: the tool and its arguments as they are told in the session's own folder, without what
says nothing of the effect; how two sequences are lined up; and what differs where moves go together. Must not know where
sessions are kept.
"""

from __future__ import annotations

import enum
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import TypeAlias

import msgspec
import orjson

from tallystick.model.step import Json

_SAYING_NOTHING = frozenset(
    (
        *("description", "explanation", "justification", "timeout", "timeout_ms", "timeoutMs"),
        *("id", "call_id", "tool_use_id", "toolCallId"),
    )
)
"""Arguments that change no effect: words for a person, patience, ids."""
_MOST_PARTS = 64


class Kind(enum.StrEnum):
    """What a move is."""

    PROMPT = "prompt"
    CALL = "call"


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that a human or the parent gave, or a call.

    `parts` are digests of what it says by name, `left` of what it left in files.
    """

    n: int
    kind: Kind
    name: str
    """The tool; empty for a prompt."""
    shown: str
    """What it says, in a few words of the agent."""
    parts: Mapping[str, str]
    success: bool | None = None
    left: Mapping[str, str] = {}

    @property
    def key(self) -> str:
        """The same for moves that say the same."""
        said = "\0".join(f"{name}\0{digest}" for name, digest in sorted(self.parts.items()))
        return f"{self.kind}\0{self.name}\0{said}"


class Aligned(msgspec.Struct, frozen=True):
    """Moves that go together, or one that has no counterpart. `differs` says in what; empty where they are the same."""

    left: Move | None
    right: Move | None
    differs: tuple[str, ...]


class Divergence(msgspec.Struct, frozen=True):
    """The first moves that are not the same: after how many that are, and in what. None: that session had ended."""

    after: int
    left: Move | None
    right: Move | None
    differs: tuple[str, ...]


class FileDifference(msgspec.Struct, frozen=True):
    """A file that both left behind with another content, or only one of them. None: it did not change the file."""

    path: str
    left: str | None
    right: str | None


def parts_of(args: Json, folder: str | None) -> dict[str, str]:
    """Digests of a call's arguments by name, as they are told in the session's own folder."""
    if isinstance(args, dict):
        members = args
    else:
        members = {"": args}
    told = {str(name): value for name, value in members.items() if name not in _SAYING_NOTHING}
    named = sorted(told)[:_MOST_PARTS]
    parts = {name: _digest(told[name], folder) for name in named}
    if len(told) > _MOST_PARTS:
        parts["…"] = _digest({name: told[name] for name in told if name not in parts}, folder)
    return parts


def text_parts(text: Json) -> dict[str, str]:
    """The same of a prompt."""
    return {"text": _digest(text, None)}


def _digest(value: Json, folder: str | None) -> str:
    if isinstance(value, str):
        value = value.strip()
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError, RecursionError):
        data = repr(type(value)).encode()
    if folder is not None and len(folder) > 1:
        inside = orjson.dumps(folder.rstrip("/"))[1:-1]
        data = data.replace(inside + b"/", b"").replace(inside, b".")
    return blake2b(data, digest_size=16).hexdigest()


def unseen(before: str, move: str) -> str:
    """What stands for a content that no one saw: the same where the same was done to the same."""
    return f"unseen:{blake2b(f'{before}{chr(0)}{move}'.encode(), digest_size=16).hexdigest()}"


def local_path(uri: str, folder: str | None) -> str:
    """A file's path as it is reported in the session's own folder."""
    path = uri.removeprefix("file://").removeprefix("file:")
    if folder is not None and len(folder) > 1 and path.startswith(folder.rstrip("/") + "/"):
        return path[len(folder.rstrip("/")) + 1 :]
    return path


def aligned(left: Sequence[Move], right: Sequence[Move]) -> tuple[Aligned, ...]:
    """All moves of two sessions in order, those that go together side by side."""
    pairs = align([move.key for move in left], [move.key for move in right])
    found: list[Aligned] = []
    edges = [(-1, -1), *pairs, (len(left), len(right))]
    for (i, j), (after_i, after_j) in pairwise(edges):
        if i >= 0:
            found.append(_together(left[i], right[j]))
        found += _between(left[i + 1 : after_i], right[j + 1 : after_j])
    return tuple(found)


def _between(left: Sequence[Move], right: Sequence[Move]) -> Iterator[Aligned]:
    """Moves that do not say the same: those of one tool go together, the others stand alone."""
    pairs = align([move.kind + move.name for move in left], [move.kind + move.name for move in right])
    edges = [*pairs, (len(left), len(right))]
    i = j = 0
    for next_i, next_j in edges:
        yield from (Aligned(move, None, ("only there",)) for move in left[i:next_i])
        yield from (Aligned(None, move, ("only there",)) for move in right[j:next_j])
        if next_i < len(left) and next_j < len(right):
            yield _together(left[next_i], right[next_j])
        i, j = next_i + 1, next_j + 1


def _together(left: Move, right: Move) -> Aligned:
    return Aligned(left, right, difference(left, right))


def difference(left: Move, right: Move) -> tuple[str, ...]:
    """In what two moves differ, in words; nothing where they are the same."""
    if left.kind is not right.kind:
        return ("a prompt and a call",)
    if left.name != right.name:
        return ("tool",)
    found = [
        _part(left.kind, name)
        for name in sorted({*left.parts, *right.parts})
        if left.parts.get(name) != right.parts.get(name)
    ]
    if left.success != right.success:
        found.append("outcome")
    changed = {*left.left, *right.left}
    found += [f"content of {path}" for path in sorted(changed) if left.left.get(path) != right.left.get(path)]
    return tuple(found)


def _part(kind: Kind, name: str) -> str:
    """What a part of a move is called."""
    if kind is not Kind.CALL:
        return "prompt"
    if name:
        return f"argument {name}"
    return "arguments"


def divergence(left: Sequence[Move], right: Sequence[Move]) -> Divergence | None:
    """Where two sessions part; None if they never do."""
    for number in range(max(len(left), len(right))):
        one = None
        if number < len(left):
            one = left[number]
        other = None
        if number < len(right):
            other = right[number]
        differs = ("one has ended",) if one is None or other is None else difference(one, other)
        if differs:
            return Divergence(number, one, other, differs)
    return None


def file_differences(left: Mapping[str, str], right: Mapping[str, str]) -> tuple[FileDifference, ...]:
    """The files that two sessions did not leave alike, by path. The maps say what each left in a file that it changed."""
    paths = sorted(path for path in {*left, *right} if left.get(path) != right.get(path))
    return tuple(FileDifference(path, left.get(path), right.get(path)) for path in paths)


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

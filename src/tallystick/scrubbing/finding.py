"""Finding secrets in one string, and putting markers in their place.

Owns the one pass over a text that finds where to look (an automaton for all literals at once: docs/secrets.md has why), and
which of several findings is kept; and looking into base64 inside of text (a Kubernetes secret, a data URL, an attachment),
which is put together again as it was: same width of lines, same padding. Must not know the forms of secrets themselves.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import NamedTuple, TypeAlias

from ahocorasick_rs import BytesAhoCorasick, Implementation

from tallystick.scrubbing import assignments, shapes
from tallystick.scrubbing.budget import Budget, Counts, TooMuchWorkError
from tallystick.scrubbing.markers import MARKERS, OPEN_BYTES, marker
from tallystick.scrubbing.places import PLACES, Find

_TELLTALES = (
    "ghp_", "github_pat_", "glpat-", "sk-ant-", "sk-proj-", "sk_live_", "AKIA", "AIza", "xoxb-", "xoxp-", "npm_", "pypi-",
    "-----BEGIN ", "password", "PASSWORD", "Password", "passwd", "secret", "SECRET", "Secret", "api_key", "API_KEY", "apiKey",
    "token=", "TOKEN", "_token", "authorization", "Authorization", "_KEY=",
)  # fmt: skip
_LEAST_FRAGMENT = 5
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n"
_RUN = re.compile(rb"[A-Za-z0-9+/]{4}[A-Za-z0-9+/=\r\n]*")
_LONGEST = 16_000_000


def fragments() -> list[str]:
    """Pieces of base64, one of which is in the base64 of every text with a telltale word."""
    found = set()
    for word in _TELLTALES:
        for shift in range(3):
            found.add(_fragment(word.encode(), shift))
    return sorted(fragment for fragment in found if len(fragment) >= _LEAST_FRAGMENT)


def _fragment(word: bytes, shift: int) -> str:
    """The characters that depend on the word alone, when it stands `shift` bytes after a multiple of three."""
    encoded = base64.b64encode(b"\0" * shift + word).decode().rstrip("=")
    first = -(-shift * 8 // 6)
    return encoded[first : (shift + len(word)) * 8 // 6]


def run_around(data: bytes, at: int, floor: int) -> tuple[int, int]:
    """From where to where the run of base64 around `at` goes; not before `floor`."""
    start, step = at, 256
    while start > floor:
        piece = data[max(floor, start - step) : start]
        kept = len(piece.rstrip(_ALPHABET))
        start -= len(piece) - kept
        if kept:
            break
        step *= 4
    found = _RUN.match(data, start)
    if found is not None:
        return start, found.end()
    return start, at


def rewritten(run: bytes, scrub: Callable[[bytes], bytes]) -> bytes | None:
    """The base64 of the scrubbed text in a run of base64; None if it is not text, or nothing in it is a secret."""
    if len(run) > _LONGEST:
        return None
    body = run.rstrip(b"\r\n")
    lines = body.split(b"\n")
    joined = b"".join(line.rstrip(b"\r") for line in lines)
    whole = joined.rstrip(b"=")
    try:
        text = base64.b64decode(whole + b"=" * (-len(whole) % 4), validate=True)
        text.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    clean = scrub(text)
    if clean == text:
        return None
    encoded = base64.b64encode(clean)
    if not joined.endswith(b"=") and len(joined) % 4:
        encoded = encoded.rstrip(b"=")
    return _as_wide(encoded, lines) + run[len(body) :]


def _as_wide(encoded: bytes, lines: list[bytes]) -> bytes:
    if len(lines) == 1:
        return encoded
    ending = b"\n"
    if lines[0].endswith(b"\r"):
        ending = b"\r\n"
    width = max(4, len(lines[0].rstrip(b"\r")))
    return ending.join(encoded[at : at + width] for at in range(0, len(encoded), width))


_AHEAD = 8
"""A value ends before the so-many-th next place worth a look: that bounds the work on any text."""
_PIECE = 1 << 20
_QUICK_PER_BYTE, _QUICK_AT_LEAST = 4, 1 << 20
"""How much of a text the quick look may read, many times over where literals are dense."""
_FARTHEST = 8192
_LONGEST_NAME = 1024
_NAME_WORK, _RUN_WORK, _VALUE_WORK = 1, 4, 8
"""How many times as long as a literal alone it takes to see what is beside a name, to decode base64, to judge a value."""

_Hit: TypeAlias = tuple[int, int, int]
"""Which literal, from where to where."""


class _Found(NamedTuple):
    start: int
    end: int
    rank: int
    """Which finding names the secret where several meet: the lowest."""
    kind: str


class _Literal:
    """What to try where one literal stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.shapes: list[shapes.Shape] = []
        self.places: list[Find] = []
        self.names = False
        self.embedded = False

    def reach(self, left: int) -> int:
        """How many of the `left` bytes after it may be read for it in a quick look."""
        if self.places or self.shapes:
            return min(left, _FARTHEST)
        return _LONGEST_NAME


def _literals() -> list[_Literal]:
    table: dict[str, _Literal] = {}

    def of(text: str) -> _Literal:
        return table.setdefault(text, _Literal(text))

    for shape in shapes.SHAPES:
        for prefix in shape.prefixes:
            of(prefix.decode()).shapes.append(shape)
    for text, find in PLACES:
        of(text).places.append(find)
    for text in assignments.LITERALS:
        of(text).names = True
    for text in fragments():
        of(text).embedded = True
    return list(table.values())


@cache
def _automaton() -> tuple[BytesAhoCorasick, list[_Literal]]:
    literals = _literals()
    patterns = [literal.text.encode() for literal in literals]
    return BytesAhoCorasick(patterns, implementation=Implementation.DFA), literals


def may_hold_secrets(data: bytes) -> bool:
    """Whether a secret may be in any string or under any key of a JSON text. False is certain. Quick.

    A text with so many places that a look at each takes long may hold some.
    """
    literals = _automaton()[1]
    budget = Budget(_QUICK_PER_BYTE * len(data) + _QUICK_AT_LEAST)
    try:
        for hits in _pieces(data):
            for index, start, end in hits:
                literal = literals[index]
                budget.spend(literal.reach(len(data) - start))
                if _is_likely(literal, data, start, end):
                    return True
    except TooMuchWorkError:
        return True
    return False


def _pieces(data: bytes) -> Iterator[list[_Hit]]:
    """What literals a text has, in the order of their ends, a megabyte at a time."""
    automaton, _ = _automaton()
    for floor in range(0, len(data), _PIECE):
        begin = max(0, floor - _longest_literal())
        piece = data[begin : floor + _PIECE]
        found = automaton.find_matches_as_indexes(piece, overlapping=True)
        yield [(index, start + begin, end + begin) for index, start, end in found if end + begin > floor]


def _hits(data: bytes, budget: Budget) -> list[_Hit]:
    """All literals that a text has.

    Raises:
        TooMuchWorkError: they are too many.
    """
    hits: list[_Hit] = []
    for piece in _pieces(data):
        budget.spend(len(piece))
        hits += piece
    return hits


@cache
def _longest_literal() -> int:
    return max(len(literal.text) for literal in _automaton()[1])


def _is_likely(literal: _Literal, data: bytes, start: int, end: int) -> bool:
    return (
        literal.embedded
        or (literal.names and assignments.may_be_assigned(data, start, end))
        or any(shapes.may_match(shape, data, start) for shape in literal.shapes)
        or any(True for find in literal.places for _ in find(data, start, len(data)))
    )


def scrub_bytes(data: bytes, counts: Counts, *, by_form_alone: bool = False) -> bytes:
    """A text in UTF-8, or something like it, with a marker for each secret; the very same object if none exists.

    Args: counts: gets the number of secrets by kind. by_form_alone: leave out what is known by its name or its place:
    for bytes that are not text.

    Raises:
        TooMuchWorkError: this takes more than the budget of `counts`.
    """
    hits = _hits(data, counts.budget)
    if not hits:
        return data
    literals = _automaton()[1]
    if by_form_alone:
        found = sorted(_by_form(data, hits, counts.budget))
        encoded = []
    else:
        found = sorted([*_by_form(data, hits, counts.budget), *_by_place(data, hits, counts.budget)])
        encoded = [start for index, start, _ in hits if literals[index].embedded]
    edits = [(one.start, one.end, marker(one.kind).encode()) for one in _count(_merged(found), counts)]
    if encoded:
        edits = sorted([*edits, *_embedded(data, encoded, edits, counts)])
    if edits:
        return _edited(data, edits)
    return data


def scrub_text(text: str, counts: Counts) -> str:
    """The same for a string, which may hold lone surrogates."""
    data = text.encode("utf-8", "surrogatepass")
    clean = scrub_bytes(data, counts)
    if clean is data:
        return text
    return clean.decode("utf-8", "surrogatepass")


def _by_form(data: bytes, hits: list[_Hit], budget: Budget) -> Iterator[_Found]:
    literals = _automaton()[1]
    for position, (index, start, _) in enumerate(hits):
        for shape in literals[index].shapes:
            stop = shapes.match_shape(shape, data, start, _limit(data, hits, position))
            if stop is not None:
                budget.spend(_VALUE_WORK)
                yield _Found(start, stop, 0, shape.kind)


def _by_place(data: bytes, hits: list[_Hit], budget: Budget) -> Iterator[_Found]:
    literals = _automaton()[1]
    named_until = 0
    marked = _Marked(data)
    for position, (index, start, end) in enumerate(hits):
        literal, limit = literals[index], _limit(data, hits, position)
        for find in literal.places:
            for place in find(data, start, limit):
                budget.spend(_VALUE_WORK)
                budget.spend_on(place.end - place.start)
                yield _Found(place.start, place.end, 1, place.kind)
        if literal.names and start >= named_until and start not in marked:
            budget.spend(_NAME_WORK)
            name = assignments.name_at(data, start, end)
            named_until = name.end
            claim = assignments.claim(data, name)
            if claim is None:
                continue
            budget.spend(_VALUE_WORK)
            named = assignments.assigned(data, claim, limit)
            if named is not None:
                budget.spend_on(named.end - named.start)
                yield _Found(named.start, named.end, 2, named.kind)


def _limit(data: bytes, hits: list[_Hit], position: int) -> int:
    """How far a value may go: a text that is nothing but names would be read to the end of each value for each of them."""
    if position + _AHEAD < len(hits):
        return hits[position + _AHEAD][1]
    return len(data)


class _Marked:
    """The places inside of markers: their words name no value."""

    def __init__(self, data: bytes) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        if OPEN_BYTES in data:
            for found in MARKERS.finditer(data):
                self._starts.append(found.start())
                self._ends.append(found.end())

    def __contains__(self, at: int) -> bool:
        before = bisect_right(self._starts, at) - 1
        return before >= 0 and at < self._ends[before]


def _merged(found: list[_Found]) -> Iterator[_Found]:
    """Findings in order, those that meet as one: it covers all of them and has the kind of the surest."""
    last: _Found | None = None
    for one in found:
        if last is not None and one.start < last.end:
            best = min(last, one, key=lambda either: (either.rank, either.start))
            last = _Found(last.start, max(last.end, one.end), best.rank, best.kind)
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last


def _count(found: Iterator[_Found], counts: Counts) -> Iterator[_Found]:
    for one in found:
        counts[one.kind] += 1
        yield one


def _embedded(
    data: bytes, starts: list[int], edits: list[tuple[int, int, bytes]], counts: Counts
) -> Iterator[tuple[int, int, bytes]]:
    """Runs of base64 written again, each looked at once, save those in which something was replaced already."""
    floor, ends = 0, [edit[1] for edit in edits]
    for at in starts:
        if at < floor:
            continue
        start, floor = run_around(data, at, floor)
        first_after = bisect_right(ends, start)
        if first_after == len(edits) or edits[first_after][0] >= floor:
            counts.budget.spend(_RUN_WORK)
            inner = counts.inner()
            run = rewritten(data[start:floor], partial(scrub_bytes, counts=inner))
            if run is not None:
                counts.update(inner)
                yield start, floor, run


def _edited(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    pieces, position = [], 0
    for start, end, text in edits:
        pieces += [data[position:start], text]
        position = end
    pieces.append(data[position:])
    return b"".join(pieces)

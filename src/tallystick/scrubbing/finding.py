"""Finding secrets in one string, and putting markers in their place.

Owns the one pass over a text that finds where to look (an automaton for all literals at once: docs/secrets.md has why), and
which of several findings stands. Must not know the forms themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from tallystick.scrubbing import assignments, embedded, shapes
from tallystick.scrubbing.markers import MARKERS, OPEN_BYTES, marker
from tallystick.scrubbing.places import PLACES, Find

Counts = Counter[str]
"""How many secrets were replaced, by kind."""


_AHEAD = 8
"""A value ends before the so-many-th next place worth a look: that bounds the work on any text."""


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
    for text in embedded.fragments():
        of(text).embedded = True
    return list(table.values())


@cache
def _automaton() -> tuple[BytesAhoCorasick, list[_Literal]]:
    literals = _literals()
    patterns = [literal.text.encode() for literal in literals]
    return BytesAhoCorasick(patterns, implementation=Implementation.DFA), literals


def may_hold_secrets(data: bytes) -> bool:
    """Whether a secret may be in any string or under any key of a JSON text. False is certain. Quick."""
    automaton, literals = _automaton()
    return any(
        _is_likely(literals[index], data, start, end)
        for index, start, end in automaton.find_matches_as_indexes(data, overlapping=True)
    )


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
    """
    automaton, literals = _automaton()
    hits = automaton.find_matches_as_indexes(data, overlapping=True)
    if not hits:
        return data
    found = sorted(_look(data, hits, literals, by_form_alone))
    if by_form_alone:
        encoded = []
    else:
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


def _look(
    data: bytes, hits: list[tuple[int, int, int]], literals: list[_Literal], by_form_alone: bool
) -> Iterator[_Found]:
    named_until = 0
    marked = _marked(data)
    for position, (index, start, end) in enumerate(hits):
        literal = literals[index]
        # A text that is nothing but names would be read to the end of each value for each of them.
        if position + _AHEAD < len(hits):
            limit = hits[position + _AHEAD][1]
        else:
            limit = len(data)
        for shape in literal.shapes:
            stop = shapes.match_shape(shape, data, start, limit)
            if stop is not None:
                yield _Found(start, stop, 0, shape.kind)
        if by_form_alone:
            continue
        for find in literal.places:
            for place in find(data, start, limit):
                yield _Found(place.start, place.end, 1, place.kind)
        if literal.names and start >= named_until and start not in marked:
            name = assignments.name_at(data, start, end)
            named_until = name.end
            named = assignments.assigned(data, name, limit)
            if named is not None:
                yield _Found(named.start, named.end, 2, named.kind)


def _marked(data: bytes) -> frozenset[int]:
    """The places inside of markers: their words name no value."""
    if OPEN_BYTES not in data:
        return frozenset()
    return frozenset(at for found in MARKERS.finditer(data) for at in range(*found.span()))


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
    floor = 0
    for at in starts:
        if at < floor:
            continue
        start, floor = embedded.run_around(data, at, floor)
        if not any(edit[0] < floor and start < edit[1] for edit in edits):
            inner: Counts = Counter()
            run = embedded.rewritten(data[start:floor], partial(scrub_bytes, counts=inner))
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

"""Finding secrets in one string, and putting markers in their place.

Owns the one pass over a text that finds where to look (an automaton for all literals at once: docs/secrets.md has why), the
second one over what it reads as, and which of several findings is kept. Must not know the forms of secrets themselves, nor
how text is encoded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import NamedTuple, TypeAlias

from ahocorasick_rs import BytesAhoCorasick, Implementation

from tallystick.scrubbing import assignments, commands, shapes, wrapping
from tallystick.scrubbing.budget import Budget, Counts, TooMuchWorkError
from tallystick.scrubbing.encodings import (
    fragments,
    hex_fragments,
    hex_rewritten,
    hex_run_around,
    rewritten,
    run_around,
)
from tallystick.scrubbing.folding import Edit, Folded, Hit, folded, pieces
from tallystick.scrubbing.formats import AREAS, FORMATS, WHOLE
from tallystick.scrubbing.markers import MARKERS, OPEN_BYTES, marker
from tallystick.scrubbing.places import PLACES, Find
from tallystick.scrubbing.readings import LITERALS as SPELLINGS
from tallystick.scrubbing.readings import Reading

_AHEAD = 8
"""A value ends before the so-many-th next place worth a look: that bounds the work on any text."""
_PIECE = 1 << 15
_QUICK_PER_BYTE, _QUICK_AT_LEAST = 4, 1 << 20
"""How much of a text the quick look may read, many times over where literals are dense."""
_FARTHEST = 8192
_LONGEST_NAME = 1024
_AGAIN = 3
_BYTES_A_LOOK = 8
_AROUND = 1200
_NAME_WORK, _RUN_WORK, _VALUE_WORK = 1, 4, 8
"""How many times as long as a literal alone it takes to see what is beside a name, to decode base64, to judge a value."""


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
        self.digits = False
        self.program = False
        self.call = False
        self.spelling = False
        self.is_sure = False
        """Whether the quick look says yes where it stands: what is beside it is looked at by who knows the whole text."""

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
    for text, find in FORMATS:
        of(text).places.append(find)
    for text in commands.pipe_literals():
        of(text).places.append(commands.piped)
    for member, texts in _members():
        for text in texts:
            setattr(of(text), member, True)
    return list(table.values())


def _members() -> tuple[tuple[str, Iterable[str]], ...]:
    """What is to be tried where a literal stands, and the literals."""
    programs, calls = commands.program_literals(), commands.call_literals()
    quoted = (text.replace('"', '\\"') for text, _ in FORMATS if '"' in text)
    sure = (*commands.pipe_literals(), *quoted, *(text.replace("\n", "\\n") for text, find in FORMATS if find in WHOLE))
    return (
        ("names", assignments.LITERALS),
        ("embedded", fragments()),
        ("digits", hex_fragments()),
        ("program", programs),
        ("call", calls),
        ("spelling", SPELLINGS),
        ("is_sure", (*fragments(), *hex_fragments(), *programs, *calls, *SPELLINGS, *sure)),
    )


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
        for hits, _ in pieces(data, _between):
            for index, start, end in hits:
                literal = literals[index]
                budget.spend(literal.reach(len(data) - start))
                if _is_likely(literal, data, start, end):
                    return True
    except TooMuchWorkError:
        return True
    return False


def _between(data: bytes, at: int, stop: int) -> list[Hit]:
    """The literals that end after `at`, and at `stop` at the latest."""
    automaton, _ = _automaton()
    begin = max(0, at - _longest_literal())
    found = automaton.find_matches_as_indexes(data[begin:stop], overlapping=True)
    return [(index, start + begin, end + begin) for index, start, end in found if end + begin > at]


def _hits(data: bytes, budget: Budget) -> list[Hit]:
    """All literals that a text has, also where it repeats itself.

    Raises:
        TooMuchWorkError: they are too many.
    """
    found: list[Hit] = []
    for at in range(0, len(data), _PIECE):
        hits = _between(data, at, min(len(data), at + _PIECE))
        budget.spend(len(hits))
        found += hits
    return found


@cache
def _longest_literal() -> int:
    return max(len(literal.text) for literal in _automaton()[1])


def _is_likely(literal: _Literal, data: bytes, start: int, end: int) -> bool:
    return (
        literal.is_sure
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
    text, hits = folded(data, _between, counts.budget.spend)
    if not hits and not counts.known:
        return _scrub_repeats(data, counts)
    if by_form_alone:
        found, encoded = sorted([*_by_form(text.data, hits, counts.budget), *_known(text.data, counts)]), {}
    else:
        found, encoded = _everywhere(text, hits, counts), _encoded(hits)
    edits = _edits(found)
    if encoded:
        edits = sorted([*edits, *_embedded(text, encoded, edits, counts)])
    if edits:
        return _edited(text, edits, counts)
    return data


def _everywhere(text: Folded, hits: list[Hit], counts: Counts) -> list[_Found]:
    """All secrets of a text, as it is written and as it reads, and where they stand again."""
    data = text.data
    found = [*_by_form(data, hits, counts.budget), *_by_place(data, hits, counts.budget), *_known(data, counts)]
    literals = _automaton()[1]
    for low, high in _windows([start for index, start, _ in hits if literals[index].spelling], len(data)):
        found += _as_read(data[low:high], low, counts)
    found = [one._replace(end=wrapping.end_of(data, one.end)) for one in found]
    for one in found:
        counts.repeats.add(text.original(one.start, one.end), one.kind)
    if counts.repeats:
        counts.budget.spend_on(len(data) // _BYTES_A_LOOK)
        again = counts.repeats.between(data, 0, len(data))
        found += [_Found(start, end, _AGAIN, kind) for start, end, kind in counts.repeats.spans(data, again)]
    return sorted(found)


def _known(data: bytes, counts: Counts) -> Iterator[_Found]:
    """What was found to be a secret before, in any session."""
    if counts.known:
        counts.budget.spend_on(len(data) // _BYTES_A_LOOK)
        for start, end, kind in counts.known.find(data, counts.budget.spend):
            yield _Found(start, end, _AGAIN, kind)


def _windows(places: list[int], size: int) -> Iterator[tuple[int, int]]:
    """The parts of a text around places that are read otherwise than they are written."""
    low = high = -1
    for place in places:
        if high < 0 or place - _AROUND > high:
            if high >= 0:
                yield low, high
            low = max(0, place - _AROUND)
        high = min(size, place + _AROUND)
    if high >= 0:
        yield low, high


def _as_read(data: bytes, offset: int, counts: Counts) -> Iterator[_Found]:
    """The secrets of a part of a text as it is read, where they are in the whole."""
    reading = Reading(data)
    counts.budget.spend(reading.spellings)
    if reading.spellings == 0:
        return
    hits = [hit for hit in _hits(reading.data, counts.budget) if reading.is_near(hit[1])]
    by_rule = (*_by_form(reading.data, hits, counts.budget), *_by_place(reading.data, hits, counts.budget))
    for one in (*by_rule, *_known(reading.data, counts)):
        counts.repeats.add(reading.data[one.start : one.end], one.kind)
        start, end = reading.span(one.start, one.end)
        yield one._replace(start=start + offset, end=end + offset)


def scrub_text(text: str, counts: Counts) -> str:
    """The same for a string, which may hold lone surrogates."""
    if counts.holds_nothing(text):
        return text
    data = text.encode("utf-8", "surrogatepass")
    clean = scrub_bytes(data, counts)
    if clean is data:
        counts.found_nothing_in(text)
        return text
    return clean.decode("utf-8", "surrogatepass")


def scrub_again(text: str, counts: Counts) -> str:
    """A string with a marker for each value that was found elsewhere."""
    data = text.encode("utf-8", "surrogatepass")
    clean = _scrub_repeats(data, counts)
    if clean is data:
        return text
    return clean.decode("utf-8", "surrogatepass")


def _scrub_repeats(data: bytes, counts: Counts) -> bytes:
    if not counts.repeats:
        return data
    counts.budget.spend_on(len(data) // _BYTES_A_LOOK)
    text, hits = folded(data, counts.repeats.between, counts.budget.spend)
    found = sorted(_Found(start, end, _AGAIN, kind) for start, end, kind in counts.repeats.spans(text.data, hits))
    if not found:
        return data
    return _edited(text, _edits(found), counts)


def _by_form(data: bytes, hits: list[Hit], budget: Budget) -> Iterator[_Found]:
    literals = _automaton()[1]
    for position, (index, start, _) in enumerate(hits):
        for shape in literals[index].shapes:
            stop = shapes.match_shape(shape, data, start, _limit(data, hits, position))
            if stop is not None:
                budget.spend(_VALUE_WORK)
                yield _Found(start, stop, 0, shape.kind)


def _by_place(data: bytes, hits: list[Hit], budget: Budget) -> Iterator[_Found]:
    yield from _by_name(data, hits, budget)
    literals = _automaton()[1]
    until: dict[int, int] = {}
    searched: dict[Find, int] = {}
    for position, (index, start, end) in enumerate(hits):
        literal = literals[index]
        if literal.program and start >= until.get(index, 0):
            until[index] = commands.command_end(data, end)
            found = commands.given(data, literal.text, start, until[index])
        elif literal.call:
            found = commands.passed(data, literal.text, start, end)
        else:
            budget.spend(len(literal.places))
            finds = [find for find in literal.places if start >= searched.get(find, 0)]
            for find in finds:
                if find in AREAS:
                    searched[find] = start + AREAS[find]
                    budget.spend_on(AREAS[find])
            limit = _limit(data, hits, position)
            found = (place for find in finds for place in find(data, start, limit))
        for place in found:
            budget.spend(_VALUE_WORK)
            budget.spend_on(place.end - place.start)
            yield _Found(place.start, place.end, 1, place.kind)


def _by_name(data: bytes, hits: list[Hit], budget: Budget) -> Iterator[_Found]:
    literals = _automaton()[1]
    named_until = 0
    marked = _Marked(data)
    for position, (index, start, end) in enumerate(hits):
        if not literals[index].names or start < named_until or start in marked:
            continue
        budget.spend(_NAME_WORK)
        name = assignments.name_at(data, start, end)
        named_until = name.end
        claim = assignments.claim(data, name)
        if claim is None:
            continue
        budget.spend(_VALUE_WORK)
        named = assignments.assigned(data, claim, _limit(data, hits, position))
        if named is not None:
            budget.spend_on(named.end - named.start)
            yield _Found(named.start, named.end, 2, named.kind)


def _limit(data: bytes, hits: list[Hit], position: int) -> int:
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


def _edits(found: list[_Found]) -> list[Edit]:
    return [Edit(one.start, one.end, marker(one.kind).encode(), (one.kind,)) for one in _merged(found)]


_Decode: TypeAlias = Callable[[bytes, Callable[[bytes], bytes]], bytes | None]
_Around: TypeAlias = Callable[[bytes, int, int], tuple[int, int]]
_ENCODINGS: tuple[tuple[_Around, _Decode], ...] = ((run_around, rewritten), (hex_run_around, hex_rewritten))


def _encoded(hits: list[Hit]) -> dict[int, list[int]]:
    """Where text in one of the encodings may be, by the encoding."""
    literals = _automaton()[1]
    found: dict[int, list[int]] = {}
    for index, start, _ in hits:
        if literals[index].embedded:
            found.setdefault(0, []).append(start)
        if literals[index].digits:
            found.setdefault(1, []).append(start)
    return found


def _embedded(text: Folded, encoded: dict[int, list[int]], edits: list[Edit], counts: Counts) -> Iterator[Edit]:
    """Runs of encoded text written again, each looked at once, save those in which something was replaced already."""
    ends = [edit.end for edit in edits]
    for encoding, starts in encoded.items():
        around, decode = _ENCODINGS[encoding]
        floor = 0
        for at in starts:
            if at < floor:
                continue
            start, floor = around(text.data, at, floor)
            first_after = bisect_right(ends, start)
            if first_after == len(edits) or edits[first_after].start >= floor:
                counts.budget.spend(_RUN_WORK)
                inner = counts.inner()
                run = decode(text.original(start, floor), partial(scrub_bytes, counts=inner))
                if run is not None:
                    yield Edit(start, floor, run, tuple(inner.elements()))


def _edited(text: Folded, edits: list[Edit], counts: Counts) -> bytes:
    clean, kinds = text.edited(edits)
    counts.update(kinds)
    return clean

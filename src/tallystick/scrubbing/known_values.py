"""Values that were found to be secrets before, in any session: known again by digests, without the values.

Owns which values are worth it, in which spellings they are known, what is kept of each, and how a text is searched for all of
them at once. Must not know where that is kept. Who has the key of the digests can try guesses: they stay on the machine.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import json
import string
import struct
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

from ahocorasick_rs import BytesAhoCorasick, Implementation

from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.judging import is_words, looks_random
from tallystick.scrubbing.shapes import begins_word

_KINDS = frozenset(
    ("password", "secret", "url-password", "authorization", "aws-secret-key", "azure-secret", "kubernetes-secret")
)
"""What has a form of its own is found by that; what only looks as if it were made by chance may be an id."""
_LEAST, _LONGEST = 8, 512
_FEWEST_CHARACTERS, _LEAST_CLASSES = 5, 3
_PLAIN = pattern_of(rb"[!-~\x80-\xff]+\Z")
_SORTS = (pattern_of(rb"[a-z]"), pattern_of(rb"[A-Z]"), pattern_of(rb"[0-9]"), pattern_of(rb"[^A-Za-z0-9]"))
_LETTER, _DIGIT, _SYMBOL = b"a", b"\1", b"\2"
_TABLE = (
    dict.fromkeys(string.ascii_letters.encode(), _LETTER)
    | dict.fromkeys(string.digits.encode(), _DIGIT)
    | dict.fromkeys(b"!#$%&*+=@^~|<>\\", _SYMBOL)
)
_OUTLINES = b"".join(_TABLE.get(byte, b" ") for byte in range(256))
"""What is not a secret of a text: where it has letters, digits, symbols and other signs."""
_OUTLINE = 12
"""So many places of a value are looked for by their outline; it says a few bits of the value, and no character."""
_PIECE, _MOST_PIECES = 4096, 32768
_IN_WORDS = bytes(chr(byte).isascii() and chr(byte).isalnum() for byte in range(256))
_DIGEST = 16
_FORM = struct.Struct(f">HH{_DIGEST}s{_OUTLINE + 1}p")
MOST_VALUES = 1000
_MOST_AT_ONCE = 16
"""So many values of one step are remembered: a flood of them does not drive out all others."""


def _nothing(_: int) -> None:
    """Without a limit."""


class _Form(NamedTuple):
    """One spelling of a value."""

    offset: int
    """Where in it the part is that is looked for by its outline."""
    size: int
    digest: bytes
    outline: bytes


_Place: TypeAlias = tuple[int, int, dict[bytes, str]]
"""Offset, size, and the kinds of the values with these, by digest."""


class KnownValues:
    """The values that are known, under one key."""

    def __init__(self, key: bytes) -> None:
        """None yet. `key`: at most 64 random bytes, of this machine alone."""
        self._key = key
        self._values: dict[bytes, str] = {}
        """What is kept of each value, by the digest of its plain form; the oldest first."""
        self._places: dict[bytes, dict[tuple[int, int], dict[bytes, str]]] = {}
        """Kinds, by outline, by offset and size, by digest."""
        self._automaton: tuple[BytesAhoCorasick, list[list[_Place]]] | None = None
        self._learned: list[str] = []

    def __len__(self) -> int:
        return len(self._values)

    def learn(self, values: Mapping[bytes, str]) -> None:
        """Remember values that were found, and their kinds, if they would not stand anywhere by accident."""
        worth = [(value, kind) for value, kind in values.items() if kind in _KINDS and may_be_kept(value)]
        for value, kind in worth[:_MOST_AT_ONCE]:
            if self._digest(value) not in self._values:
                line = _written(kind, self._forms(value))
                self.take(line)
                self._learned.append(line)

    def new_lines(self) -> list[str]:
        """What is to be kept of the values that were learned since the last time: a line each."""
        lines, self._learned = self._learned, []
        return lines

    def take(self, line: str) -> None:
        """Know a value by what was kept of it. What is damaged is left out."""
        kind, _, rest = line.partition(" ")
        forms = [form for form in map(_read, rest.split()) if form is not None]
        if not forms or kind not in _KINDS or forms[0].digest in self._values:
            return
        while len(self._values) >= MOST_VALUES:
            self._forget(next(iter(self._values)))
        self._values[forms[0].digest] = line
        for form in forms:
            sizes = self._places.setdefault(form.outline, {})
            sizes.setdefault((form.offset, form.size), {})[form.digest] = kind
        self._automaton = None

    def lines(self) -> list[str]:
        """What is kept of all of them."""
        return list(self._values.values())

    def may_be_in(self, data: bytes) -> bool:
        """Whether a value is in a text, which may be JSON."""
        return next(self.find(data), None) is not None

    def find(self, data: bytes, spend: Callable[[int], None] = _nothing) -> Iterator[tuple[int, int, str]]:
        """Where a text has one of the values, in whatever spelling: from where to where, and its kind.

        Args: spend: called with 1 for each place that has to be compared.
        """
        if not self._values:
            return
        if self._automaton is None:
            outlines, by_size = list(self._places), list(self._places.values())
            places = [[(*place, kinds) for place, kinds in sizes.items()] for sizes in by_size]
            self._automaton = (BytesAhoCorasick(outlines, implementation=Implementation.DFA), places)
        automaton, places = self._automaton
        outline = data.translate(_OUTLINES)
        for low, high in _parts(outline):
            begin = max(0, low - _OUTLINE + 1)
            for index, start, end in automaton.find_matches_as_indexes(outline[begin:high], overlapping=True):
                if begin + end > low:
                    yield from self._at(data, begin + start, places[index], spend)

    def _at(
        self, data: bytes, at: int, places: list[_Place], spend: Callable[[int], None]
    ) -> Iterator[tuple[int, int, str]]:
        for offset, size, kinds in places:
            start = at - offset
            end = start + size
            if start >= 0 and end <= len(data) and _is_whole(data, start, end):
                spend(1)
                kind = kinds.get(self._digest(data[start:end]))
                if kind is not None:
                    yield start, end, kind

    def _digest(self, value: bytes) -> bytes:
        return hashlib.blake2b(value, key=self._key, digest_size=_DIGEST).digest()

    def _forms(self, value: bytes) -> list[_Form]:
        found = []
        for spelling in _spellings(value):
            offset = _most_telling(spelling.translate(_OUTLINES))
            outline = spelling[offset : offset + _OUTLINE].translate(_OUTLINES)
            if _tells(outline):
                found.append(_Form(offset, len(spelling), self._digest(spelling), outline))
        return found

    def _forget(self, digest: bytes) -> None:
        for form in filter(None, map(_read, self._values.pop(digest).split()[1:])):
            sizes = self._places.get(form.outline, {})
            kinds = sizes.get((form.offset, form.size), {})
            kinds.pop(form.digest, None)
            if not kinds:
                sizes.pop((form.offset, form.size), None)
            if not sizes:
                self._places.pop(form.outline, None)


def may_be_kept(value: bytes) -> bool:
    """Whether a value is long and mixed enough that what is like it elsewhere is the same secret."""
    if not _LEAST <= len(value) <= _LONGEST or _PLAIN.match(value) is None or is_words(value):
        return False
    if len(set(value)) < _FEWEST_CHARACTERS or not _tells(value.translate(_OUTLINES)):
        return False
    return looks_random(value) or sum(sort.search(value) is not None for sort in _SORTS) >= _LEAST_CLASSES


def _spellings(value: bytes) -> dict[bytes, None]:
    """The value, and as it is written in an address, in JSON, in HTML, in hexadecimal digits and in base64."""
    text = value.decode("utf-8", "replace")
    with_line_end = value + b"\n"
    found = [value, quote(text, safe="").encode(), json.dumps(text, ensure_ascii=False)[1:-1].encode()]
    found += [html.escape(text).encode(), value.hex().encode(), value.hex().upper().encode()]
    for encoded in (base64.b64encode(value), base64.b64encode(with_line_end)):
        found += [encoded.rstrip(b"="), encoded.rstrip(b"=").replace(b"+", b"-").replace(b"/", b"_")]
    return dict.fromkeys(found)


def _most_telling(outline: bytes) -> int:
    """Where the part of an outline begins in which letters, digits and signs change most often."""
    places = range(max(1, len(outline) - _OUTLINE + 1))
    return max(places, key=lambda at: (_tells(outline[at : at + _OUTLINE]), _changes(outline[at : at + _OUTLINE]), -at))


def _tells(outline: bytes) -> bool:
    """Whether words and numbers have another outline."""
    return len(set(outline)) > 1 and (_DIGIT in outline or _SYMBOL in outline)


def _changes(outline: bytes) -> int:
    return sum(one != other for one, other in pairwise(outline))


def _parts(outline: bytes) -> Iterator[tuple[int, int]]:
    """The parts of an outline that have something else in them than letters."""
    low = high = 0
    while high < len(outline):
        stop = high + _PIECE
        if outline.find(_DIGIT, high, stop) >= 0 or outline.find(_SYMBOL, high, stop) >= 0:
            high = stop
            if high - low < _MOST_PIECES:
                continue
        if high > low:
            yield low, high
        low = high = max(high, stop)
    if high > low:
        yield low, high


def _is_whole(data: bytes, start: int, end: int) -> bool:
    """Whether what is found is not a piece of a longer word."""
    if end < len(data) and _IN_WORDS[data[end]] and _IN_WORDS[data[end - 1]]:
        return False
    return start == 0 or not (_IN_WORDS[data[start - 1]] and _IN_WORDS[data[start]]) or begins_word(data, start)


def _written(kind: str, forms: list[_Form]) -> str:
    packed = (_FORM.pack(form.offset, form.size, form.digest, form.outline) for form in forms)
    return " ".join([kind, *(base64.b64encode(form).decode() for form in packed)])


def _read(word: str) -> _Form | None:
    try:
        return _Form(*_FORM.unpack(base64.b64decode(word, validate=True)))
    except (binascii.Error, struct.error, ValueError):
        return None

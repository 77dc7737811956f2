"""Values that were found to be secrets, wherever else they stand: plain, in base64, in hexadecimal digits, in an address.

Owns which values are looked for again and in which forms. Holds them in memory alone, for as long as one search lasts. Must
not know how they were found.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from ahocorasick_rs import BytesAhoCorasick, Implementation

from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.judging import is_ordinary, is_words
from tallystick.scrubbing.names import KIND, Says

_LEAST, _LONGEST = 6, 512
_LEAST_ENCODED = 7
_MOST, _MOST_LONG = 64, 8
_UNSURE = KIND[Says.MAYBE]
"""What only looks as if it were made by chance may be an id, which others refer to."""
_MUCH, _BYTES_A_CALL = 1 << 18, 256
_LETTERS = pattern_of(rb"[A-Za-z][a-z]{7,}\Z")
_ESCAPED = pattern_of(rb'["\\\x00-\x1f\x7f-\xff]')
_WORD = pattern_of(rb"[A-Za-z0-9]\Z")
_ENCODED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-="
_AROUND = 4096


class Repeats:
    """Values found in one search; so many at most are looked for again."""

    def __init__(self) -> None:
        """None yet."""
        self._kinds: dict[bytes, str] = {}
        self._long: dict[bytes, str] = {}
        self._forms: dict[bytes, tuple[str, bool]] = {}
        self._longest = 0
        self._is_escaped = False
        """Whether JSON writes one of the values otherwise than it is."""
        self._compared = 0
        """How many bytes were looked at for one form or another since a value was added."""
        self._automaton: BytesAhoCorasick | None = None

    def __len__(self) -> int:
        return len(self._kinds)

    def values(self) -> dict[bytes, str]:
        """The values, and their kinds."""
        return dict(self._kinds)

    def shown(self) -> dict[bytes, str]:
        """The values, also those that are too long to be looked for again, and their kinds."""
        return {**self._kinds, **self._long}

    def add(self, value: bytes, kind: str) -> None:
        """Remember a value, if it is one that would not be found by accident."""
        if len(value) > _LONGEST and kind != _UNSURE and len(self._long) < _MOST_LONG:
            self._long[value] = kind
        if kind == _UNSURE or value in self._kinds or len(self._kinds) == _MOST:
            return
        if _LEAST <= len(value) <= _LONGEST and _is_its_own(value):
            self._kinds[value] = kind
            self._is_escaped = self._is_escaped or _ESCAPED.search(value) is not None
            self._forms.update(_forms(value, kind))
            self._longest = max(map(len, self._forms))
            self._compared, self._automaton = 0, None

    def between(self, data: bytes, at: int, stop: int) -> list[tuple[int, int, int]]:
        """Which form ends in a text after `at`, and at `stop` at the latest."""
        begin = max(0, at - self._longest)
        places = self._places(data[begin:stop])
        return [(index, start + begin, end + begin) for index, start, end in places if end + begin > at]

    def spans(self, data: bytes, places: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, str]]:
        """Of forms in a text those that are one of the values: from where to where each goes, and its kind."""
        forms = list(self._forms.values())
        for index, start, end in places:
            kind, is_run = forms[index]
            if is_run:
                yield *_run(data, start, end), kind
            elif not _is_part(data, start, end):
                yield start, end, kind

    def may_be_in(self, data: bytes) -> bool:
        """Whether one of the values may be in a string of a JSON text. False is certain."""
        return self._is_escaped or next(iter(self._places(data)), None) is not None

    def _places(self, data: bytes) -> Iterable[tuple[int, int, int]]:
        """Which form is where. An automaton is quick to search and slow to build: it is for much text."""
        self._compared += (len(data) + _BYTES_A_CALL) * len(self._forms)
        if self._automaton is None and self._compared > _MUCH:
            self._automaton = BytesAhoCorasick(list(self._forms), implementation=Implementation.DFA)
        if self._automaton is not None:
            return self._automaton.find_matches_as_indexes(data, overlapping=True)
        return _one_by_one(data, list(self._forms))


def _one_by_one(data: bytes, forms: list[bytes]) -> Iterator[tuple[int, int, int]]:
    for index, form in enumerate(forms):
        start = data.find(form)
        while start >= 0:
            yield index, start, start + len(form)
            start = data.find(form, start + 1)


def _is_its_own(value: bytes) -> bool:
    """Whether a value would not stand elsewhere by accident, as a number or a name of code would."""
    if value.isdigit() or is_ordinary(value):
        return False
    return not is_words(value) or _LETTERS.match(value) is not None


def _forms(value: bytes, kind: str) -> dict[bytes, tuple[str, bool]]:
    """Each form of a value, with its kind and whether the run of base64 around it is the secret."""
    text = value.decode("utf-8", "replace")
    forms = {value: (kind, False), quote(text, safe="").encode(): (kind, False)}
    forms["".join(f"%{byte:02X}" for byte in value).encode()] = (kind, False)
    if len(value) >= _LEAST_ENCODED:
        forms |= {value.hex().encode(): (kind, False), value.hex().upper().encode(): (kind, False)}
        for shift in range(3):
            encoded = base64.b64encode(b"\0" * shift + value).rstrip(b"=")
            fragment = encoded[-(-shift * 8 // 6) : (shift + len(value)) * 8 // 6]
            forms[fragment] = (kind, True)
            forms[fragment.replace(b"+", b"-").replace(b"/", b"_")] = (kind, True)
    return forms


def _is_part(data: bytes, start: int, end: int) -> bool:
    """Whether what is found is a piece of a longer word."""
    return _WORD.match(data[start - 1 : start]) is not None or _WORD.match(data[end : end + 1]) is not None


def _run(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The run of base64 of which a piece is at `start` to `end`."""
    before = data[max(0, start - _AROUND) : start]
    after = data[end : end + _AROUND]
    return start - len(before) + len(before.rstrip(_ENCODED)), end + len(after) - len(after.lstrip(_ENCODED))

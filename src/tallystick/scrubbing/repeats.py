"""Values that were found to be secrets, wherever else they stand: plain, in base64, in hexadecimal digits, in an address.

Owns which values are looked for again and in which forms. Holds them in memory alone, for as long as one search lasts. Must
not know how they were found.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from urllib.parse import quote

from ahocorasick_rs import BytesAhoCorasick, Implementation

from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.judging import is_ordinary, is_words
from tallystick.scrubbing.names import KIND, Says

_LEAST, _LONGEST = 6, 512
_LEAST_ENCODED = 7
_MOST = 64
_UNSURE = KIND[Says.MAYBE]
"""What only looks as if it were made by chance may be an id, which others refer to."""
_SHORT = 1 << 20
_LETTERS = pattern_of(rb"[A-Za-z][a-z]{7,}\Z")
_WORD = pattern_of(rb"[A-Za-z0-9]\Z")
_ENCODED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-="
_AROUND = 4096


class Repeats:
    """Values found in one search; so many at most are looked for again."""

    def __init__(self) -> None:
        """None yet."""
        self._kinds: dict[bytes, str] = {}
        self._forms: dict[bytes, tuple[str, bool]] = {}
        self._automaton: BytesAhoCorasick | None = None

    def __len__(self) -> int:
        return len(self._kinds)

    def add(self, value: bytes, kind: str) -> None:
        """Remember a value, if it is one that would not be found by accident."""
        if kind != _UNSURE and len(self._kinds) < _MOST and _LEAST <= len(value) <= _LONGEST and _is_its_own(value):
            self._forms.update(_forms(value, self._kinds.setdefault(value, kind)))
            self._automaton = None

    def again(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Where a text has one of the values, in whatever form: from where to where, and its kind."""
        forms = list(self._forms.values())
        for index, start, end in self._places(data):
            kind, is_run = forms[index]
            if is_run:
                yield *_run(data, start, end), kind
            elif not _is_part(data, start, end):
                yield start, end, kind

    def _places(self, data: bytes) -> Iterator[tuple[int, int, int]]:
        """Which form is where. An automaton is quick to search and slow to build: it is for texts that are long."""
        if len(data) * len(self._forms) < _SHORT:
            yield from _one_by_one(data, list(self._forms))
            return
        if self._automaton is None:
            self._automaton = BytesAhoCorasick(list(self._forms), implementation=Implementation.ContiguousNFA)
        yield from self._automaton.find_matches_as_indexes(data, overlapping=True)


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

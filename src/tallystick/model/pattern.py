"""Regular expressions that are compiled when they are first used.

Owns that: compiling those of the whole program takes a quarter of a start, and one call needs one in twenty. Must not know
what any is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, AnyStr, Generic, cast

from ahocorasick_rs import AhoCorasick

_USED = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "flags", "groups", "groupindex")


def pattern_of(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A regular expression; what is wrong with it shows when it is first used."""
    return cast("re.Pattern[AnyStr]", _Late(text, flags))


class _Late(Generic[AnyStr]):
    """The text of one, until it is used; then it has the methods of the compiled one, at the same cost."""

    def __init__(self, text: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = text
        self._flags = flags

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """What it does not have yet."""
            if name not in _USED:
                raise AttributeError(name)
            compiled = re.compile(self.pattern, self._flags)
            self.__dict__.update({used: getattr(compiled, used) for used in _USED})
            return self.__dict__[name]


_AROUND = 100


class Near:
    """A regular expression that is searched only around certain words, of which each match has one.

    In a long text without them that costs a hundredth. Each match begins and ends less than 100 characters, and not more than
    a line, beside such a word.
    """

    def __init__(self, words: str, text: str, flags: int = 0) -> None:
        """`words` are apart by blanks, and in small letters; those of a text count in any case."""
        self._words = AhoCorasick(words.split())
        self._pattern = pattern_of(text, flags)

    def matches(self, text: str, start: int = 0) -> Iterator[re.Match[str]]:
        """The matches from a place on, none within another."""
        for begin, end in self._windows(text):
            if end > start:
                yield from self._pattern.finditer(text, max(begin, start), end)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match."""
        return next(self.matches(text), None)

    def _windows(self, text: str) -> Iterator[tuple[int, int]]:
        small = text.lower()
        if len(small) != len(text):  # one letter became two: places in the one are none in the other
            yield 0, len(text)
            return
        begin = end = 0
        for _, at, to in self._words.find_matches_as_indexes(small):
            if to + _AROUND <= end:
                continue
            before = text.rfind("\n", 0, max(at - _AROUND, 0)) + 1
            if before > end:
                yield begin, end
                begin = before
            end = text.find("\n", to + _AROUND) + 1 or len(text)
        yield begin, end

"""Regular expressions that are compiled when they are first used.

Owns that: compiling those of the whole program takes a quarter of a start, and one call needs one in twenty. Must not know
what any is for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, AnyStr, Generic, cast

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

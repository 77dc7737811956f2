"""Which reader reads which language.

Owns the names of languages. Must not know how any is read.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.intent.actions import Found, Read, TooMuchError
from tallystick.intent.code import lines
from tallystick.intent.code.applescript import read_applescript
from tallystick.intent.code.characters import spelled
from tallystick.intent.code.filters import read_awk, read_filter, read_sed
from tallystick.intent.code.javascript import read_javascript
from tallystick.intent.code.lines import read_batch
from tallystick.intent.code.lua import read_lua
from tallystick.intent.code.perl import read_perl
from tallystick.intent.code.php import read_php
from tallystick.intent.code.python import read_python
from tallystick.intent.code.ruby import read_ruby
from tallystick.intent.code.sql import read_sql
from tallystick.intent.code.verbs import read_glimpses, read_verbs

_READERS: dict[str, Callable[[str, Found], None]] = {
    "awk": read_awk,
    "batch": read_batch,
    "javascript": read_javascript,
    "jq": read_filter,
    "lua": read_lua,
    "perl": read_perl,
    "php": read_php,
    "python": read_python,
    "ruby": read_ruby,
    "sed": read_sed,
    "sql": read_sql,
    "typescript": read_javascript,
    "yq": read_filter,
    **lines.READERS,
    "applescript": read_applescript,
    **dict.fromkeys(("elisp", "julia", "other", "r"), read_verbs),
}


_LONG = 24 << 10
"""Characters of a text that every reader reads to the end."""


def languages() -> frozenset[str]:
    """The languages that are read."""
    return frozenset(_READERS)


def read_code(language: str, text: str, *, home: str | None = None) -> Read:
    """What a text does when it runs.

    Args:
        language: as in `actions.Code`. Of a language that is not read, everything is unknown.
        text: the code. It may have holes (`model.script.HOLE`).
        home: the home folder, for programs that ask for it; None leaves `~`.
    """
    found = Found(home)
    reader = _READERS.get(language)
    if reader is None:
        return Read(is_unknown=bool(text.strip()))
    is_unknown = False
    try:
        for each in spelled(language, text):
            reader(each, found)
            if len(each) > _LONG and found.is_unknown:
                read_glimpses(each, found, start=_LONG)
            is_unknown = is_unknown or found.is_unknown
    except (TooMuchError, RecursionError):
        is_unknown = True
    found.is_unknown = is_unknown
    return found.read()


def glimpse_code(text: str, *, home: str | None = None) -> Read:
    """What a text does in so many words, for one that is too long to be read."""
    found = Found(home)
    try:
        read_glimpses(text, found)
    except (TooMuchError, RecursionError):
        found.is_unknown = True
    return found.read()

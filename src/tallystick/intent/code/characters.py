"""Characters that a language takes for others: for the end of a line, a blank, a dash, a quote.

Owns which those are, and the texts as which a text is read. Must not know any grammar. Sources: ECMA-262, 12.3 (ends of
lines); the manuals of PHP, Lua and PostgreSQL, for which a carriage return ends a comment; PowerShell's language
specification, 2.2 (blanks, dashes, quotes).
"""

from __future__ import annotations

import re

from tallystick.model.pattern import pattern_of

_RETURNS = pattern_of("\r(?!\n)")
_ENDS = dict.fromkeys(("javascript", "typescript"), pattern_of("\r(?!\n)|[\u2028\u2029]"))
"""What ends a line besides a line feed. A carriage return does not in all of the others: it is read as if it did as well."""
_TAKEN_FOR = {
    "powershell": str.maketrans(
        {
            **dict.fromkeys("\v\f\x85\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))), " "),
            **dict.fromkeys("\u2028\u2029", " "),
            **dict.fromkeys("\u2013\u2014\u2015", "-"),
            **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
            **dict.fromkeys("\u201c\u201d\u201e", '"'),
        }
    )
}


def spelled(language: str, text: str) -> tuple[str, ...]:
    """A text without the mark that files may begin with; and if its language takes characters of it for others, with those.

    Where a comment or a text in quotes would end there, and does not, more is read than runs.
    """
    text = text.removeprefix("\ufeff")
    if text.isascii() and "\r" not in text and "\f" not in text and "\v" not in text:
        return (text,)
    ends: re.Pattern[str] = _ENDS.get(language, _RETURNS)
    return tuple(dict.fromkeys((text, ends.sub("\n", text).translate(_TAKEN_FOR.get(language, {})))))

"""Programs as tokens, for languages that are read by their calls alone.

Owns Token and Dialect: comments, strings and what is in them, names, signs. Must not know any function. What a dialect
does not say of its language is not understood: anyone who reads tokens claims only calls that it sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from tallystick.model.pattern import pattern_of

MOST_TOKENS = 12_000
"""Tokens of a text that are read: about 15 ms."""
MOST_CHARACTERS = 131_072


class Token(msgspec.Struct, frozen=True):
    """A piece of a program."""

    kind: str
    """`name`, `string`, `template` (a string with variables in it), `command` (one that is run), `number`, `line`, `sign`."""
    text: str
    """What stands there; of strings the text inside of the quotes, as it is written."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """How a language is written."""

    pattern: re.Pattern[str]
    """Its tokens: named groups as in Token.kind, `space`, and of strings `_` and a number after the kind."""
    joins: frozenset[str]
    """Signs that put two texts together."""
    variable: re.Pattern[str]
    """A variable in a template: its name is group 1, or 2."""
    unescape: Callable[[str], str]
    has_bare_calls: bool = False
    """`unlink "x"` is a call."""
    declares: frozenset[str] = frozenset()
    """Words before a name that is bound."""
    loads: frozenset[str] = frozenset()
    """Functions that give a module: `require("fs").rm` is `fs.rm`."""


def tokens(text: str, dialect: Dialect) -> tuple[list[Token], bool]:
    """The tokens of a text, and whether they are all."""
    is_whole = len(text) <= MOST_CHARACTERS
    found: list[Token] = []
    for token in _tokens(text[:MOST_CHARACTERS], dialect.pattern):
        if len(found) >= MOST_TOKENS:
            return found, False
        found.append(token)
    return found, is_whole


def _tokens(text: str, pattern: re.Pattern[str]) -> Iterator[Token]:
    for match in pattern.finditer(text):
        group = match.lastgroup or "sign"
        if group == "space":
            continue
        kind = group.partition("_")[0]
        if kind in ("string", "template", "command"):
            yield Token(kind, _inside(match[0]))
        else:
            yield Token(kind, match[0])


_OPENING = pattern_of(r"(?:q[qxwr]?|%[QqxwWiI]?)\s{0,20}(?=[^\w\s])|[a-z]?(?=[\"'`])|(?=[\[(])")
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def _inside(spelled: str) -> str:
    """A string without its quotes: `"x"`, `'x'`, `q{x}`, `%w(x)`, `[[x]]`. One that is not closed ends with the text."""
    opening = _OPENING.match(spelled)
    rest = spelled
    if opening is not None:
        rest = spelled[opening.end() :]
    quote = rest[:1]
    if rest.startswith("[["):
        return rest[2:].removesuffix("]]")
    return rest[1:].removesuffix(_PAIRS.get(quote, quote))


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\n": ""}
_ESCAPED = pattern_of(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|(.))", re.DOTALL)


def unescaped(text: str) -> str:
    """A text with the escapes of C-like languages resolved."""
    if "\\" in text:
        return _ESCAPED.sub(_character, text)
    return text


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is not None:
        number = int(code, 16)
        if number < 0x110000 and not 0xD800 <= number < 0xE000:
            return chr(number)
        return "\ufffd"
    return _ESCAPES.get(found[4], found[4])

"""Tagged strings (docs/format.md 3.2), read back for people.

Owns what they stand for on a screen. JSON answers keep them as they are: there no one must guess what was tagged.
"""

from __future__ import annotations

import re

from tallystick.model.step import Json

_TAGGED = re.compile(r"\x10tally:(?:(nan|inf|-inf)|(num|utf16|json|cut|unsearched|str):(.*))\Z", re.DOTALL)
_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def readable(value: Json) -> Json:
    """A value with its tagged strings replaced by what they stand for. What is not a well-formed tag stays."""
    if isinstance(value, str):
        if value.startswith("\x10"):
            return _readable_text(value)
        return value
    if isinstance(value, dict):
        return {readable(key): readable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [readable(item) for item in value]
    return value


def _readable_text(text: str) -> str:
    match = _TAGGED.match(text)
    if match is None:
        return text
    word, kind, rest = match.groups()
    if word is not None:
        return _WORDS[word]
    if kind == "cut":
        return f"(a value of {rest} bytes, too large to keep)"
    if kind == "unsearched":
        size, _, digest = rest.partition(":")
        return f"(a value of {size} bytes, not recorded: searching it for secrets takes too long; SHA-256 {digest})"
    if kind == "utf16":
        try:
            return bytes.fromhex(rest).decode("utf-16-be", "surrogatepass")
        except ValueError:
            return text
    return str(rest)

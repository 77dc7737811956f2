"""A value as an agent said it, before anything of it is made fit for sealing.

Owns the type, and the texts that take the place of what a JSON value cannot hold. Policy, inspection, scrubbing and lineage
read values of this type alone. Must not know how the format spells any of it: that is seal/tagged.py, and comes last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from tallystick.model.pattern import pattern_of

Raw: TypeAlias = bool | int | float | str | list[Any] | Mapping[str, Any] | None
"""None, bool, int, float, str, list, or dict with string keys. A string may hold anything, lone surrogates too."""


class Instead(str):
    """A text that takes the place of what a JSON value cannot hold."""

    __slots__ = ()


class NumberText(Instead):
    """A number as its source wrote it, which no value holds exactly: `1e400`, `NaN`, an integer of many digits."""

    __slots__ = ()


class NestedText(Instead):
    """The JSON text of what is nested too deep for a value."""

    __slots__ = ()


class Placeholder(Instead):
    """What is recorded instead of a value that is not there, spelled as the format has it."""

    __slots__ = ()


_HALF = pattern_of("[\ud800-\udfff]")


def legible(value: Raw) -> Raw:
    """The value as a program gets it: halves of surrogate pairs, which no encoding holds, are U+FFFD by then.

    Texts that take the place of something are plain texts. No member is lost: of equal keys one becomes longer.
    """
    if isinstance(value, str):
        return _legible_text(value)
    if isinstance(value, Mapping):
        made: dict[str, Any] = {}
        for key, item in value.items():
            name = _legible_text(key)
            while name in made:
                name += "\ufffd"
            made[name] = legible(item)
        return made
    if isinstance(value, list):
        return [legible(item) for item in value]
    return value


def bytes_of(value: object) -> bytes:
    """Something that is the same for the same value alone, also for one that no encoding holds."""
    try:
        return msgspec.msgpack.encode(value)
    except (TypeError, UnicodeEncodeError):  # a value that JSON has not
        return repr(value).encode("utf-8", "surrogatepass")


def _legible_text(text: str) -> str:
    if text.isascii():
        return str(text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _HALF.sub("\ufffd", text)
    return str(text)

"""What JSON cannot hold, as tagged strings (docs/format.md 3.2).

Owns the writer's replacements. Only writers use it: a hasher or verifier never replaces anything.
"""

from __future__ import annotations

import json
import math

from tallystick.model.step import Json
from tallystick.seal.limits import SAFE_INTEGER

MARK = "\x10tally:"
"""How every tagged string begins."""

_VALUE_DEPTH = 60
"""Deepest nesting a value may have by itself; the line around it adds at most 2, `content.meta` one more."""


def tag_number(literal: str) -> str:
    """A number that the format refuses, unchanged in the source."""
    return f"{MARK}num:{literal}"


def tag_cut(size: int) -> str:
    """A value over the blob limit, of which only the size in bytes is kept."""
    return f"{MARK}cut:{size}"


def tag_unsearched(size: int, digest: str) -> str:
    """A value in which secrets could not be looked for; of it only the size in bytes and the SHA-256 in hex are kept."""
    return f"{MARK}unsearched:{size}:{digest}"


def tag_text(text: str) -> str:
    """A string, replaced only if it holds a lone surrogate or could be taken for a tagged string."""
    if text.startswith(MARK):
        return f"{MARK}str:{text}"
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return f"{MARK}utf16:{text.encode('utf-16-be', 'surrogatepass').hex()}"
    return text


def tag(value: Json, *, _depth: int = 0) -> Json:
    """`value` with everything replaced that the format cannot hold. Equal to `value` for ordinary JSON.

    Floats that are whole and beyond ±(2^53−1) get their shortest literal: a reader that knows the source's own literal
    tags it itself (tag_number).
    """
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return tag_text(value)
    if isinstance(value, int):
        if abs(value) <= SAFE_INTEGER:
            return value
        return tag_number(str(value))
    if isinstance(value, float):
        return _tag_float(value)
    if _depth >= _VALUE_DEPTH and isinstance(value, dict | list | tuple):
        return f"{MARK}json:{json.dumps(value, ensure_ascii=True, default=str)}"
    if isinstance(value, dict):
        return {tag_text(str(key)): tag(item, _depth=_depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [tag(item, _depth=_depth + 1) for item in value]
    raise TypeError(f"a {type(value).__name__} is no JSON value")


def _tag_float(value: float) -> Json:
    if math.isnan(value):
        return f"{MARK}nan"
    if math.isinf(value):
        if value > 0:
            return f"{MARK}inf"
        return f"{MARK}-inf"
    if value.is_integer() and SAFE_INTEGER < abs(value) < 1e21:
        return tag_number(str(int(value)))
    return value

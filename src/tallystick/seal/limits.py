"""The limits of docs/format.md 15, checked before anything is parsed or allocated."""

from __future__ import annotations

import re

from tallystick.model.step import Json

LINE_BYTES = 1_048_576
"""Longest line, without its LF."""
DEPTH = 64
"""Deepest nesting of a line; its own object is 1."""
META_DEPTH = 4
NAMES = 32
PARENTS = 64
META_BYTES = 16 * 1024
BLOB_BYTES = 1 << 30
PARSED_BLOB_BYTES = 1 << 20
"""Larger JSON blobs are hashed and not parsed: what a verifier's memory can hold, no limit of the format (section 19)."""
NOTE_BYTES = 1 << 20
SIGNATURES = 64
MAX_N = 1 << 53
INLINE_BYTES = 64 * 1024
"""A value with more canonical bytes than this is kept as a blob (section 8)."""
SMALL_BYTES = 8 * 1024
"""Values up to this size are sealed in one go (section 17): no limit of the format."""
SAFE_INTEGER = (1 << 53) - 1

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")


def exceeds_depth(text: bytes, limit: int) -> bool:
    """True if brackets in JSON `text` (any bytes will do) nest deeper than `limit`. Never recurses."""
    if text.count(b"{") + text.count(b"[") <= limit:
        return False
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", text)):
        if bracket in b"[{":
            depth += 1
            if depth > limit:
                return True
        else:
            depth -= 1
    return False


def is_deeper(value: Json, limit: int) -> bool:
    """True if objects and lists of a parsed `value` nest deeper than `limit`; `value` itself is 1. Never recurses."""
    level: list[Json] = [value]
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True

"""Adding one member to a JSON text without touching the rest of it.

Owns the positions of values in JSON bytes. Everything that was there stays as it was, to the byte: the order of members,
number literals, escapes, white space, duplicate keys. Must not know what is added.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}\[{\"]++")
_NEXT = re.compile(rb'[^"{}\[\]]*+')


class NoPlace(ValueError):
    """The text is not a JSON object, or has no object where the member should go."""


def add_meta(line: bytes, path: Sequence[str], key: str, value: bytes) -> bytes:
    """`line` with `_meta.KEY` set to `value` in the object at `path`; its `_meta` is made if none exists.

    Args:
        line: one JSON object, with or without its line end.
        path: keys from the root to the object that has, or gets, the `_meta`.
        value: JSON text without a line end.

    Raises: NoPlace: there is no object at `path`, its `_meta` is not an object, or the key is in it: nothing is
    overwritten.
    """
    start = _skip_space(line, 0)
    for name in path:
        start = _member(line, start, name) or _no_place(f"no member {name}")
    meta = _member(line, start, "_meta")
    quoted = b'"' + key.encode() + b'":' + value
    if meta is None:
        return _inserted(line, start, b'"_meta":{' + quoted + b"}")
    if _member(line, meta, key) is not None:
        raise NoPlace(f"{key} is there")
    return _inserted(line, meta, quoted)


def _no_place(why: str) -> int:
    raise NoPlace(why)


def _inserted(line: bytes, start: int, member: bytes) -> bytes:
    """`line` with a member at the end of the object that begins at `start`."""
    end = _skip_value(line, start) - 1
    is_empty = _skip_space(line, start + 1) == end
    return line[:end] + (b"" if is_empty else b",") + member + line[end:]


def _member(line: bytes, start: int, name: str) -> int | None:
    """Where the value of a member begins, in the object that begins at `start`. Of duplicate keys the last one counts."""
    if line[start : start + 1] != b"{":
        raise NoPlace("no object")
    found = None
    at = _skip_space(line, start + 1)
    while line[at : at + 1] == b'"':
        end = _skip_string(line, at)
        value = _skip_colon(line, end)
        if _is_key(line[at:end], name):
            found = value
        at = _skip_space(line, _skip_value(line, value))
        if line[at : at + 1] != b",":
            break
        at = _skip_space(line, at + 1)
    if line[at : at + 1] != b"}":
        raise NoPlace("no JSON")
    return found


def _is_key(quoted: bytes, name: str) -> bool:
    if b"\\" not in quoted:
        return quoted[1:-1] == name.encode()
    text = re.sub(
        rb"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)).encode("utf-8", "replace"), quoted[1:-1]
    )
    return text.replace(rb"\/", b"/") == name.encode()


def _skip_space(line: bytes, at: int) -> int:
    match = _SPACE.match(line, at)
    assert match is not None, "white space may be none"
    return match.end()


def _skip_string(line: bytes, at: int) -> int:
    match = _STRING.match(line, at)
    if match is None:
        raise NoPlace("no JSON")
    return match.end()


def _skip_colon(line: bytes, at: int) -> int:
    at = _skip_space(line, at)
    if line[at : at + 1] != b":":
        raise NoPlace("no JSON")
    return _skip_space(line, at + 1)


def _skip_value(line: bytes, at: int) -> int:
    """Where the value that begins at `at` ends."""
    first = line[at : at + 1]
    if first == b'"':
        return _skip_string(line, at)
    if first in (b"{", b"["):
        return _skip_brackets(line, at)
    match = _SCALAR.match(line, at)
    if match is None:
        raise NoPlace("no JSON")
    return match.end()


def _skip_brackets(line: bytes, at: int) -> int:
    depth = 0
    while True:
        match = _NEXT.match(line, at)
        assert match is not None, "what stands between may be nothing"
        at = match.end()
        found = line[at : at + 1]
        if not found:
            raise NoPlace("no JSON")
        if found == b'"':
            at = _skip_string(line, at)
            continue
        if found in (b"{", b"["):
            depth += 1
        else:
            depth += -1
        at += 1
        if not depth:
            return at

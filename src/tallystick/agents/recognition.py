"""Whose a file is: what its first bytes hold, whatever the spacing of its JSON and the order of its members.

Owns reading the head of a file as objects, and the unit in which adapters say how sure they are: one for each member that
was looked for and seen. Must not know any agent's members.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tallystick.agents.kit.reading import BadJson, loads
from tallystick.model.step import Json

IN_ITS_PLACE = 8
"""What the name or folder that only one agent gives its files counts for: more than most formats have members."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],]', re.DOTALL)
_MEMBER = re.compile(rb'\s*,?\s*("(?:[^"\\]|\\.)*")\s*:')
_CLOSING = {b"{": b"}", b"[": b"]"}


@lru_cache(maxsize=2)
def objects(head: bytes) -> tuple[dict[str, Json], ...]:
    """The JSON objects that a file begins with: one a line, or one for a document or a line that the head cuts off.

    Lines that are not JSON are left out. Not to be changed: all adapters are given the same objects.
    """
    lines = [line for line in head.split(b"\n") if line.strip(b"\0 \r\t")]
    found = [_parsed(line.strip(b"\0")) for line in lines]
    if not found or found[0] is None:
        found = [_parsed(_closed(head.lstrip())), *found]
    return tuple(value for value in found if isinstance(value, dict))


def first_object(head: bytes) -> dict[str, Json]:
    """The object of the first line, or the document; an empty one if the file begins otherwise."""
    return next(iter(objects(head)), {})


def count_members(value: Json, *needed: str, also: tuple[str, ...] = ()) -> int:
    """How many members of a format an object has: none if one that is needed is absent. `a.b` is a member of `a`."""
    if not all(_has(value, name) for name in needed):
        return 0
    return len(needed) + sum(_has(value, name) for name in also)


def in_place(condition: bool) -> int:
    """What a file counts for that is, or is not, where only one agent puts its files."""
    if condition:
        return IN_ITS_PLACE
    return 0


def _has(value: Json, name: str) -> bool:
    for part in name.split("."):
        if not isinstance(value, dict) or part not in value:
            return False
        value = value[part]
    return True


def _parsed(text: bytes) -> Json:
    try:
        return loads(text).value
    except BadJson:
        return None


def _closed(text: bytes) -> bytes:
    """The first JSON value of a text that may be cut off, with what is open closed. A member whose value is cut is null."""
    open_: list[bytes] = []
    end = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in _CLOSING:
            open_.append(mark)
            end = token.end()
        elif mark == b"," and open_:
            end = token.start()
        elif mark in (b"}", b"]"):
            if not open_ or _CLOSING[open_.pop()] != mark:
                break
            end = token.end()
        if end and not open_:
            break
    member = None
    if open_ and open_[-1] == b"{":
        member = _MEMBER.match(text, end)
    cut = b""
    if member:
        cut = b"%s%s:null" % (b"" if text[:end].endswith(b"{") else b",", member[1])
    return text[:end] + cut + b"".join(_CLOSING[each] for each in reversed(open_))

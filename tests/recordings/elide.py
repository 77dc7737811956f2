"""Puts `<elided: N chars>` in the places of a record that hold its vendor's prose.

Owns how places are matched and what stands in for them. Must not know which places there are (vendors.py).
"""

import re
from collections.abc import Sequence
from typing import Any

from tests.recordings.vendors import VENDORS

SHORT_CHARS = 40
"""A string up to this long is a name or a label and stays, even where a vendor's prose is elided."""


def elide_vendor(record: Any) -> Any:
    """A decoded record with the prose of its vendor elided; its structure is the same."""
    for vendor in VENDORS:
        if all(re.search(pattern, _member(record, name)) for name, pattern in vendor.where.items()):
            record = _elide(record, [tuple(path.split(".")) for path in vendor.paths])
    return record


def _member(record: Any, name: str) -> str:
    """The string at a dotted name, or an empty one."""
    for part in name.split("."):
        if isinstance(record, dict):
            record = record.get(part)
        elif isinstance(record, list) and part.isdigit() and int(part) < len(record):
            record = record[int(part)]
        else:
            return ""
    return record if isinstance(record, str) else ""


def _elide(value: Any, paths: Sequence[tuple[str, ...]]) -> Any:
    if () in paths:
        paths = [*paths, ("**",)]  # the place itself: all that is below it
        if isinstance(value, str):
            return elided(value)
    match value:
        case list():
            return [_elide(item, _below(paths, str(index))) for index, item in enumerate(value)]
        case dict():
            return {key: _elide(item, _below(paths, key)) for key, item in value.items()}
        case _:
            return value


def _below(paths: Sequence[tuple[str, ...]], key: str) -> list[tuple[str, ...]]:
    """What is left of each path one level down."""
    left: list[tuple[str, ...]] = []
    for head, *rest in (path for path in paths if path):
        if head == "**":
            left.append((head, *rest))
            if not rest or rest[0] in {key, "*"}:
                left.append(tuple(rest[1:]))
        elif head in {key, "*"}:
            left.append(tuple(rest))
    return left


def elided(text: str) -> str:
    """What stands in a recording for a text that is not ours to keep."""
    if len(text) <= SHORT_CHARS or text.startswith("<elided: "):
        return text
    return f"<elided: {len(text)} chars>"

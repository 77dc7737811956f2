"""Session alpha, altered in one place: what most vectors of tampering are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tools.vectors.maker import alpha, changed, edited, session_id
from tools.vectors.vector import Vector, bad_file

A = session_id("alpha")


def lone_file(
    case: int | None, name: str, title: str, section: str, text: bytes, n: int, rule: str, sid: str | None = A
) -> Vector:
    """A lone file whose entry `n` breaks `rule`."""
    return Vector(
        name=f"{case:02}-{name}" if case else name,
        title=title,
        case=case,
        section=section,
        files={"journal.jsonl": text},
        expect=bad_file(sid, n, rule),
    )


def with_edit(case: int, name: str, title: str, section: str, n: int, old: bytes, new: bytes, rule: str) -> Vector:
    """Session alpha with `old` replaced by `new` in entry `n`, which then breaks `rule`."""
    return lone_file(case, name, title, section, edited(alpha().text(), n, old, new), n, rule)


def with_change(
    case: int | None, name: str, title: str, section: str, n: int, change: Callable[[dict[str, Any]], None], rule: str
) -> Vector:
    """Session alpha with the line of entry `n` changed and canonical again, which then breaks `rule`."""
    return lone_file(case, name, title, section, changed(alpha().text(), n, change), n, rule)

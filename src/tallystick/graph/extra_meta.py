"""The members of a step's `meta` that have no column of their own, as one short JSON text.

Owns which members those are and how long the text may be. The columns are rows.py's; `session_events` in views.sql shows
each member under its name. Must not know what a member means.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from tallystick.model.step import Json

LONGEST = 1_024
"""Bytes of the text. The journal has all of it."""

LEFT_OUT = "left_out"
"""The member that says how many others were left out to keep to that."""

_IN_COLUMNS = frozenset(
    (
        *("type", "ts", "recorded", "source", "source_id", "corr", "parent", "request", "tool", "success"),
        *("duration_ms", "model", "tokens", "agent_role", "revises", "corroborates"),
    )
)


def other_members(names: Mapping[str, Json]) -> str | None:
    """The members that no column holds, as a JSON object; None if none exist. Shortest first where not all fit.

    Args:
        names: `meta`, and what went to `content.meta` because it does not fit there (docs/format.md 6.2).
    """
    others = {key: value for key, value in names.items() if key not in _IN_COLUMNS}
    if not others:
        return None
    try:
        text = orjson.dumps(others)
    except (TypeError, ValueError):
        return _cut(others)
    if len(text) <= LONGEST:
        return text.decode()
    return _cut(others)


def _cut(others: Mapping[str, Json]) -> str:
    """As many members as fit, and how many do not."""
    pieces = sorted(filter(None, (_piece(key, value) for key, value in others.items())), key=len)
    kept: list[str] = []
    left = LONGEST - len(f'{{"{LEFT_OUT}":{len(others)}}}')
    for piece in pieces:
        left -= len(piece.encode()) + 1
        if left < 0:
            break
        kept.append(piece)
    return "{" + ",".join([*kept, f'"{LEFT_OUT}":{len(others) - len(kept)}']) + "}"


def _piece(key: str, value: Json) -> str | None:
    """One member unchanged in an object, None if JSON has no words for it."""
    try:
        return orjson.dumps({key: value}).decode()[1:-1]
    except (TypeError, ValueError):  # a number beyond 64 bits, half a surrogate pair
        return None

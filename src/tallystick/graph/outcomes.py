"""How a call ended: by its result, or by who refused it.

Owns finding the steps that say so, near the call. Must not know what the call did.
"""

from __future__ import annotations

from tallystick.graph.graph import Graph

_NEAR = 2_000
"""A result stands within so many steps after its call; a later one with the same id belongs to another call."""

_RESULT = (
    "SELECT type, success FROM steps WHERE id > ? AND id <= ? AND corr = ? AND type IN ('tool_result', 'tool_call')"
    " AND revises IS NULL AND corroborates IS NULL ORDER BY id LIMIT 1"
)
_DENIED = "SELECT 1 FROM intents WHERE step_id = ? AND outcome = 'denied' LIMIT 1"


def outcome_of(graph: Graph, call: int, corr: str) -> str | None:
    """`done`, `failed` or `denied`; `ended` where the result does not say; None where no result is on record."""
    if graph.row(_DENIED, (call,)) is not None:
        return "denied"
    row = graph.row(_RESULT, (call, call + _NEAR, corr))
    if row is None or row[0] != "tool_result":
        return None
    if row[1] is None:
        return "ended"
    return "done" if row[1] else "failed"

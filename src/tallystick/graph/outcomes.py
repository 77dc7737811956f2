"""How a call ended: by its result, or by who refused it.

Owns finding the steps that say so, near the call. Must not know what the call did.
"""

from __future__ import annotations

from tallystick.graph.graph import Graph

_NEAR = 2_000
"""A result stands within so many steps after its call; a later one with the same id belongs to another call."""

_RESULT = (
    "SELECT s.type, s.success FROM agent_events e CROSS JOIN steps s ON s.id = e.event_id"
    " WHERE e.tool_use_id = ? AND e.type <> 'file_intent' AND e.tool_use_id IS NOT NULL"
    " AND e.event_id > ? AND e.event_id <= ?"
    " AND s.type IN ('tool_result', 'tool_call') AND s.revises IS NULL AND s.corroborates IS NULL ORDER BY s.id LIMIT 1"
)
_DENIED = "SELECT 1 FROM intents WHERE step_id = ? AND outcome = 'denied' LIMIT 1"


def outcome_of(graph: Graph, call: int, corr: str) -> str | None:
    """`done`, `failed` or `denied`; `ended` where the result does not say; None where no result is on record."""
    if graph.row(_DENIED, (call,)) is not None:
        return "denied"
    row = graph.row(_RESULT, (corr, call, call + _NEAR))
    if row is None or row[0] != "tool_result":
        return None
    if row[1] is None:
        return "ended"
    return "done" if row[1] else "failed"

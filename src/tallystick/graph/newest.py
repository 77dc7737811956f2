"""The newest step of an agent that came by some way.

Owns that question to the index. Must not know why it is asked.
"""

from __future__ import annotations

from tallystick.graph.graph import Graph


def newest_time(graph: Graph, agent: str, source: str) -> str | None:
    """When the newest step of an agent from a source (docs/format.md 6.4) was recorded, or None."""
    row = graph.row(
        "SELECT recorded FROM steps WHERE agent_id = ? AND source = ? ORDER BY at_us DESC LIMIT 1", (agent, source)
    )
    if row is None:
        return None
    return str(row[0])

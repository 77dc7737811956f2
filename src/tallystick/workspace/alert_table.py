"""Keeping the table of alerts in step with the journals.

Owns reading the steps that the table is made of. How rows are made is store.alerts'.
"""

from __future__ import annotations

from tallystick.graph.alerts import Seen, project_alerts
from tallystick.graph.graph import Graph
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.model.recorded import Recorded


def take_alerts(home: Home, graph: Graph, *, seen: Seen = Seen.ALL) -> int:
    """Bring the table of alerts up to date with the steps that the index has; how many were appended. Raises GraphError."""

    def read(session: str, offset: int) -> Recorded | None:
        path = home.journal(session)
        if path is None:
            return None
        return read_at(home, path, offset, load_blobs=True)

    return project_alerts(graph, read, seen=seen)

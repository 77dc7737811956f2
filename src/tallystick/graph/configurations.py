"""Where the index says that sessions tell what they run under.

Owns that question. What such a step says is in its journal.
"""

from __future__ import annotations

from tallystick.graph.graph import Graph

_MOST = 2_000
_TELLING = (
    "SELECT s.n, s.type, s.offset FROM sessions x JOIN steps s ON s.id >= x.first_id AND s.id < x.first_id + x.size"
    " WHERE x.session_id = ? AND s.type IN ('checkpoint', 'config_change') AND s.n <= ? ORDER BY s.n LIMIT ?"
)


def telling_steps(graph: Graph, session: str, *, until: int | None = None) -> list[tuple[int, str, int]]:
    """The checkpoints and changes of a session up to entry `until`: number, type, and where the line begins.

    Raises:
        GraphError: the index cannot be read.
    """
    last = until
    if last is None:
        last = 1 << 62
    return [(n, kind, offset) for n, kind, offset in graph.rows(_TELLING, (session, last, _MOST))]

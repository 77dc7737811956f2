"""The steps of one session that say whether it goes on: its starts and ends.

Owns reading them from their rows. What they make of the session is `sessions.states`'s.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.graph import Graph
from tallystick.sessions.states import Moment, word_of_end

_MOMENTS = (
    "SELECT s.n, s.type, s.meta, s.success = 0 FROM sessions x"
    " JOIN steps s ON s.id >= x.first_id AND s.id < x.first_id + x.size"
    " WHERE x.session_id = ? AND s.type IN ('session_start', 'session_end') AND s.corroborates IS NULL"
    " ORDER BY s.id LIMIT 10000"
)


class _Said(msgspec.Struct):
    status: object = None
    resumed: object = None


def moments_of(graph: Graph, session: str) -> list[Moment]:
    """The starts and ends of a session, in order. Raises GraphError."""
    found = []
    for n, kind, meta, has_failed in graph.rows(_MOMENTS, (session,)):
        if meta:
            said = msgspec.json.decode(meta, type=_Said)
        else:
            said = _Said()
        word = word_of_end(said.status, False if has_failed else None)
        found.append(Moment(n, is_end=kind == "session_end", word=word, is_resumed=said.resumed is True))
    return found

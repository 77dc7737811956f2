"""What is asked of the index about conversations that go on in another session: what continues what, and compactions.

Owns those questions. Must not know what a compaction means.
"""

from __future__ import annotations

from tallystick.graph.graph import Graph

_MOST_USAGE = 50


def continuations(graph: Graph, session: str) -> tuple[str, ...]:
    """The sessions that continue one, the newest last. Raises GraphError."""
    rows = graph.rows(
        "SELECT s.session_id FROM session_edges e JOIN sessions s USING (session_id)"
        " WHERE e.n = 0 AND e.kind = 'continuation' AND (e.parent_session = ?1 OR (e.parent_session IS NULL"
        " AND e.claimed_session = (SELECT source_session FROM sessions WHERE session_id = ?1)"
        " AND s.agent_id = (SELECT agent_id FROM sessions WHERE session_id = ?1)))"
        " ORDER BY s.first_event_at, s.session_id",
        (session,),
    )
    return tuple(row[0] for row in rows)


def last_continuation(graph: Graph, session: str) -> str:
    """What a conversation goes on as; of several continuations of one session the newest. Raises GraphError."""
    seen = {session}
    while following := [each for each in continuations(graph, session) if each not in seen]:
        session = following[-1]
        seen.add(session)
    return session


def compaction_places(graph: Graph, session: str) -> tuple[int, ...]:
    """Where the lines of a session's compactions begin, in order; second witnesses left out. Raises GraphError."""
    rows = graph.rows(
        "SELECT s.offset FROM checkpoints c CROSS JOIN steps s ON s.id = c.checkpoint_id"
        " WHERE c.session_id = ? AND c.trigger = 'compaction' AND s.type = 'compaction' AND s.corroborates IS NULL"
        " AND s.revises IS NULL ORDER BY s.n",
        (session,),
    )
    return tuple(offset for (offset,) in rows)


def usage_places(graph: Graph, session: str) -> tuple[int, ...]:
    """Where the lines of a session's newest `usage` steps begin. Raises GraphError."""
    rows = graph.rows(
        "SELECT s.offset FROM sessions x CROSS JOIN steps s ON s.id >= x.first_id AND s.id < x.first_id + x.size"
        " WHERE x.session_id = ? AND +s.type = 'usage' ORDER BY s.id DESC LIMIT ?",
        (session, _MOST_USAGE),
    )
    return tuple(offset for (offset,) in rows)


def place_of(graph: Graph, session: str, digest: str) -> int | None:
    """Where the line of an entry begins, by its session and its whole hash; None if it is not there. Raises GraphError."""
    row = graph.row(
        "SELECT offset FROM steps INDEXED BY steps_hash WHERE hash = ? AND session_id = ?", (digest, session)
    )
    return None if row is None else row[0]

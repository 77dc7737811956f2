"""Whether two indexes say the same.

Owns one digest for all rows of a session. The search index is left out: it keeps no text that could be compared.
"""

from __future__ import annotations

from hashlib import blake2b

import orjson

from tallystick.store.graph import Graph

_TABLES = (("sessions", "session_id"), ("requests", "session_id, n"), ("steps", "session_id, n"))
_EDGES = ("session_edges", "session_id, n, position")


def session_digests(graph: Graph) -> dict[str, bytes]:
    """By session, a digest of everything that the index says about it. Raises GraphError."""
    digests: dict[str, bytes] = {}
    for table, order in (*_TABLES, _EDGES):
        columns = [row[1] for row in graph.rows(f"PRAGMA table_info({table})")]
        session_at = columns.index("session_id")
        for row in graph.rows(f"SELECT * FROM {table} ORDER BY {order}"):
            session = row[session_at]
            digests[session] = blake2b(digests.get(session, b"") + orjson.dumps([table, *row]), digest_size=16).digest()
    return digests

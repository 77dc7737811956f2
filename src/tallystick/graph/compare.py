"""Whether two indexes say the same.

Owns one digest for all rows of a session, and one for each table of the graph, whose rows are of several. The search index is
left out: it keeps no text that could be compared.
"""

from __future__ import annotations

from hashlib import blake2b

import orjson

from tallystick.graph.graph import Graph

_BY_SESSION = (
    ("sessions", "session_id"),
    ("usage", "session_id, model"),
    ("checkpoints", "session_id, n"),
    ("requests", "session_id, n"),
    ("steps", "session_id, n"),
    ("session_edges", "session_id, n, position"),
)
_SHARED = {
    "agent_events": "event_id",
    "system_events": "event_id",
    "intents": "step_id, k",
    "things": "thing",
    "accesses": "thing, at_us, step_id, k",
    "scripts": "step_id, path",
    "flows": "target_step, target_k, source_step, source_k",
    "unsettled": "thing",
    "artifacts": "artifact_id",
    "relations": "relation_id",
    "links": "artifact_id, src_request, dst_request",
    "artifact_observations": "observation_id",
    "artifact_risk_tags": "tag_id",
    "artifact_facts": "kind, uri",
    "alerts": "alert_id",
    "alert_chain_head": "id",
    "alert_steps": "hash",
    "alert_reviews": "hash",
}


def session_digests(graph: Graph) -> dict[str, bytes]:
    """By session, a digest of everything that the index says about it alone. Raises GraphError."""
    digests: dict[str, bytes] = {}
    for table, order in _BY_SESSION:
        columns = [row[1] for row in graph.rows(f"PRAGMA table_info({table})")]
        session_at = columns.index("session_id")
        for row in graph.rows(f"SELECT * FROM {table} ORDER BY {order}"):
            session = row[session_at]
            digests[session] = blake2b(digests.get(session, b"") + orjson.dumps([table, *row]), digest_size=16).digest()
    return digests


def table_digests(graph: Graph) -> dict[str, bytes]:
    """By table of the graph, a digest of all its rows. Raises GraphError."""
    digests: dict[str, bytes] = {}
    for table, order in _SHARED.items():
        digest = blake2b(digest_size=16)
        for row in graph.rows(f"SELECT * FROM {table} ORDER BY {order}"):
            digest.update(orjson.dumps(row))
        digests[table] = digest.digest()
    return digests

"""What had been read before something was written, and what was written after something had been read.

Owns those rows of `flows` with the ends of each: how a thing is called, and where the words of both are in the journal. Must
not know how much of the one is in the other.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.graph import Graph

MOST_READ = 200

_FIELDS = (
    "f.confidence, f.via, t.kind, t.uri, x.artifact_id, x.step_id, x.k, w.step_id, w.k, w.artifact_id, s.session_id,"
    " r.offset, r.hash, c.offset, c.hash, c.session_id, c.n, c.agent_id, c.at_us / 1000"
)
_ENDS = (
    " CROSS JOIN steps s ON s.id = x.step_id LEFT JOIN steps r ON r.id = s.id - s.n + x.result"
    " CROSS JOIN steps c ON c.id = w.step_id"
)
_INTO = (
    f"SELECT {_FIELDS} FROM flows f CROSS JOIN accesses x ON x.step_id = f.source_step AND x.k = f.source_k"
    " CROSS JOIN accesses w ON w.step_id = f.target_step AND w.k = f.target_k"
    f" CROSS JOIN things t ON t.thing = x.thing{_ENDS}"
    " WHERE f.target_step = ? AND f.target_k = ? ORDER BY x.at_us DESC, x.step_id DESC, x.k DESC LIMIT ?"
)
_OUT_OF = (
    f"SELECT {_FIELDS} FROM (SELECT step_id, k, artifact_id, result FROM accesses WHERE thing = ?"
    " AND artifact_id IS NOT NULL AND operation IN ('read', 'copy_source', 'fetch', 'rename')"
    " ORDER BY at_us DESC LIMIT ?) x"
    " CROSS JOIN flows f ON f.source_step = x.step_id AND f.source_k = x.k"
    " CROSS JOIN accesses w ON w.step_id = f.target_step AND w.k = f.target_k AND w.artifact_id IS NOT NULL"
    f" CROSS JOIN things t ON t.thing = w.thing{_ENDS} LIMIT ?"
)


class Inflow(msgspec.Struct, frozen=True, kw_only=True):
    """One flow. `kind` and `uri` name its far end: what was read, or what was written.

    The words that were read are in the journal of `session` at `shown_at`, None where no one kept them; those that were
    written are in that of `writer` at `written_at`.
    """

    confidence: float
    via: str
    kind: str
    uri: str
    read_version: int | None
    read_step: int
    read_k: int
    written_step: int
    written_k: int
    written_version: int | None
    session: str
    shown_at: int | None
    shown_hash: str | None
    written_at: int
    written_hash: str
    writer: str
    writer_n: int
    agent: str
    at_ms: int

    @property
    def is_seen(self) -> bool:
        """Whether the words of a command say so. Else a model had been shown the one before it wrote the other."""
        return not self.via.startswith("model")


def into(graph: Graph, step: int, k: int, *, most: int = MOST_READ) -> tuple[Inflow, ...]:
    """What had been read before access `k` of a step wrote, newest first. Raises GraphError."""
    return _inflows(graph, _INTO, (step, k, most))


def out_of(graph: Graph, thing: int, *, most: int = MOST_READ) -> tuple[Inflow, ...]:
    """What was written after a thing had been read. Raises GraphError."""
    return _inflows(graph, _OUT_OF, (thing, most, most))


def _inflows(graph: Graph, sql: str, values: tuple[int, ...]) -> tuple[Inflow, ...]:
    names = Inflow.__struct_fields__
    return tuple(Inflow(**dict(zip(names, row, strict=True))) for row in graph.rows(sql, values))

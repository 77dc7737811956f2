"""What was run to make something: a program file and what the same command wrote.

Owns reading that from the intents of a call: the command that ran a file and wrote another one is one and the same. No
data need have flowed, so this is not a row of `relations`, only an edge of a walk. Must not know other causes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tallystick.graph.graph import Graph, Row
from tallystick.graph.relating import batches
from tallystick.lineage.walk import Edge, NodeId, NodeKind

_SAME_COMMAND = (
    " CROSS JOIN intents q ON q.step_id = w.step_id AND q.k = w.k"
    " CROSS JOIN accesses x ON x.step_id = w.step_id AND x.operation = 'execute' AND x.artifact_id IS NOT NULL"
    " CROSS JOIN intents p ON p.step_id = x.step_id AND p.k = x.k AND p.command = q.command"
)
_RUN_FOR = (
    "SELECT x.artifact_id, a.artifact_id, min(w.confidence, x.confidence), w.at_us, w.step_id"
    " FROM json_each(?) i CROSS JOIN artifacts a ON a.artifact_id = i.value"
    " CROSS JOIN accesses w ON w.step_id = a.made_by AND w.artifact_id = a.artifact_id AND w.operation <> 'execute'"
    f"{_SAME_COMMAND} LIMIT 2000"
)
_WRITTEN_BY = (
    "SELECT x.artifact_id, a.artifact_id, min(w.confidence, x.confidence), w.at_us, w.step_id"
    " FROM json_each(?) i CROSS JOIN accesses w ON w.step_id = i.value AND w.operation <> 'execute'"
    " AND w.artifact_id IS NOT NULL"
    " CROSS JOIN artifacts a ON a.artifact_id = w.artifact_id AND a.made_by = w.step_id"
    f"{_SAME_COMMAND} LIMIT 2000"
)


def run_for(graph: Graph, versions: Iterable[int]) -> Iterator[Edge]:
    """The files that were run to make some versions. Raises GraphError."""
    for batch in batches(versions):
        yield from map(_edge, graph.rows(_RUN_FOR, (batch,)))


def written_by(graph: Graph, steps: Iterable[int]) -> Iterator[Edge]:
    """What the commands of some calls wrote that ran a file, by the version of that file. Raises GraphError."""
    for batch in batches(steps):
        yield from map(_edge, graph.rows(_WRITTEN_BY, (batch,)))


def _edge(row: Row) -> Edge:
    program, made, confidence, at_us, step = row
    return Edge(
        source=NodeId(NodeKind.ARTIFACT, program),
        target=NodeId(NodeKind.ARTIFACT, made),
        relation="ran",
        confidence=confidence,
        evidence={"via": "command", "step_id": step},
        at_ms=at_us // 1000,
    )

"""What the graph knows of a session, as it is handed to formats that show it.

Owns the values. Must not know the index that they come from, nor any format.
"""

from __future__ import annotations

import msgspec


class Node(msgspec.Struct, frozen=True):
    """One end of an edge: a step or a request by its session and number, an artifact by its id.

    `kind` is request, agent_event, system_event or artifact; `session` is empty and `n` 0 for an artifact.
    """

    kind: str
    id: int
    session: str = ""
    n: int = 0


class ArtifactVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a file, URL, resource or commit. `made_by` is the step that made it, None where that was not seen."""

    id: int
    kind: str
    uri: str
    digest: str
    version: int
    created_at_ms: int | None
    deleted_at_ms: int | None
    made_by: Node | None


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """A confirmed relation. `derived_from` runs from the source to what is derived. `evidence` is JSON."""

    source: Node
    target: Node
    relation: str
    confidence: float
    evidence: str | None
    at_ms: int


class Lineage(msgspec.Struct, frozen=True):
    """The relations that one end of is in a session, and the artifacts that they name."""

    artifacts: tuple[ArtifactVersion, ...] = ()
    edges: tuple[Edge, ...] = ()

"""What is known of the nodes of the graph, for anyone who shows them.

Owns the values that say it, and reading them for many nodes at once. Long texts are cut: the whole of them is in the
journals. Must not know how nodes hang together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec

from tallystick.graph.graph import Graph, Row
from tallystick.graph.relating import batches
from tallystick.lineage.walk import NodeId, NodeKind

_TEXT = 2_000
"""Characters of a prompt or of a call's input that are read."""


class ArtifactNode(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a thing. Times are milliseconds since 1970; `made_by` is the step's id, None where no one was seen.

    `changed_outside`: it was made by an effect that was watched and belongs to no call. What an agent itself tells, and what
    happened while `tally run` ran a command, is not outside.
    """

    id: int
    kind: str
    uri: str
    digest: str
    version: int
    versions: int
    """The number of the newest version."""
    created_at_ms: int | None
    updated_at_ms: int | None
    deleted_at_ms: int | None
    made_by: int | None
    thing: int
    changed_outside: bool = False


class StepNode(msgspec.Struct, frozen=True, kw_only=True):
    """A step, or an effect that was observed; `asked` is what the call was given, `effect` what was seen: JSON, cut."""

    id: int
    session: str
    n: int
    hash: str
    type: str
    agent: str
    at_us: int
    ts: str | None
    tool: str | None
    success: bool | None
    corr: str | None
    request: int | None
    offset: int
    asked: str | None
    effect: str | None


class RequestNode(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt and what was done for it; `prompt` None: no human asked, or the words of prompt `n` are not there any more.

    `title` is what a session in which no human asked is about.
    """

    id: int
    session: str
    n: int
    hash: str
    agent: str
    prompt: str | None
    title: str | None
    created_at_ms: int
    kind: str | None = None
    """A RequestKind; None: no one asked."""
    is_erased: bool = False
    """Someone asked, and the words were erased."""


class SessionNode(msgspec.Struct, frozen=True, kw_only=True):
    """A session."""

    id: int
    session: str
    agent: str
    source_session: str | None
    kind: str
    title: str | None
    status: str
    began_at_ms: int | None


Node: TypeAlias = ArtifactNode | StepNode | RequestNode | SessionNode

_ARTIFACTS = (
    "SELECT a.artifact_id, a.kind, a.uri, a.digest, a.version,"
    " (SELECT max(b.version) FROM artifacts b WHERE b.thing = a.thing), a.created_at, a.updated_at, a.deleted_at,"
    " a.made_by, a.thing, EXISTS (SELECT 1 FROM steps s WHERE s.id = a.made_by AND s.type = 'file_effect'"
    " AND s.source = 'watch' AND s.agent_id <> 'run') AND NOT EXISTS"
    " (SELECT 1 FROM relations r WHERE r.dst_kind = 'system_event' AND r.dst_id = a.made_by"
    " AND r.src_kind = 'agent_event')"
    " FROM json_each(?) i CROSS JOIN artifacts a ON a.artifact_id = i.value"
)
_STEPS = (
    "SELECT s.id, s.session_id, s.n, s.hash, s.type, s.agent_id, s.at_us, s.ts, s.tool, s.success, s.corr, s.request,"
    f" s.offset, substr(e.tool_input, 1, {_TEXT}), substr(y.args, 1, {_TEXT})"
    " FROM json_each(?) i CROSS JOIN steps s ON s.id = i.value"
    " LEFT JOIN agent_events e ON e.event_id = s.id LEFT JOIN system_events y ON y.event_id = s.id"
)
_REQUESTS = (
    "SELECT r.request_id, r.session_id, r.n, r.hash, x.agent_id,"
    f" substr(r.original_user_prompt, 1, {_TEXT}),"
    # A title that is taken from a prompt says nothing of another one, nor of what came before it.
    f" CASE WHEN r.n = 0 AND x.title_rank < 2 THEN substr(x.title, 1, {_TEXT}) END, r.created_at, r.kind, r.is_erased"
    " FROM json_each(?) i CROSS JOIN requests r ON r.request_id = i.value"
    " JOIN sessions x ON x.session_id = r.session_id"
)
_SESSIONS = (
    f"SELECT x.first_id, x.session_id, x.agent_id, x.source_session, x.kind, substr(x.title, 1, {_TEXT}), x.status,"
    " x.first_event_at FROM json_each(?) i CROSS JOIN sessions x ON x.first_id = i.value"
)


def describe(graph: Graph, nodes: Iterable[NodeId]) -> dict[NodeId, Node]:
    """What is known of some nodes; one that is not there is left out. Raises GraphError."""
    by_kind: dict[NodeKind, list[int]] = {}
    for node in nodes:
        by_kind.setdefault(node.kind, []).append(node.id)
    return {
        NodeId(kind, row[0]): _MAKERS[kind](row)
        for kind, ids in by_kind.items()
        for batch in batches(ids)
        for row in graph.rows(_QUERIES[kind], (batch,))
    }


def _artifact(row: Row) -> Node:
    *plain, outside = row
    return ArtifactNode(**dict(zip(ArtifactNode.__struct_fields__, plain, strict=False)), changed_outside=bool(outside))


def _step(row: Row) -> Node:
    values = dict(zip(StepNode.__struct_fields__, row, strict=True))
    values["success"] = None if values["success"] is None else bool(values["success"])
    return StepNode(**values)


def _request(row: Row) -> Node:
    *plain, erased = row
    return RequestNode(**dict(zip(RequestNode.__struct_fields__, plain, strict=False)), is_erased=bool(erased))


def _session(row: Row) -> Node:
    return SessionNode(**dict(zip(SessionNode.__struct_fields__, row, strict=True)))


_QUERIES = {
    NodeKind.ARTIFACT: _ARTIFACTS,
    NodeKind.STEP: _STEPS,
    NodeKind.REQUEST: _REQUESTS,
    NodeKind.SESSION: _SESSIONS,
}
_MAKERS: dict[NodeKind, Callable[[Row], Node]] = {
    NodeKind.ARTIFACT: _artifact,
    NodeKind.STEP: _step,
    NodeKind.REQUEST: _request,
    NodeKind.SESSION: _session,
}

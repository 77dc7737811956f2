"""How sessions follow from one another, as edges between the step that began a session and the session.

Owns resolving what a session says of its parent: sealed into its first entry, or claimed by the agent. A claim is
marked as one wherever it is reported. Must not know the tree that the sessions make (`sessions.tree`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

import msgspec

from tallystick.graph.graph import Graph, Row
from tallystick.graph.relating import batches
from tallystick.lineage.walk import Edge, NodeId, NodeKind
from tallystick.model.step import Json

CLAIMED = 0.8
"""How sure a parent is that only the agent names."""

_MOST_CHILDREN = 2_000

_SESSIONS = (
    "SELECT x.first_id, x.session_id, x.agent_id, x.kind, x.first_event_at, x.source_session"
    " FROM json_each(?) i CROSS JOIN sessions x ON x.first_id = i.value"
)
_BY_SESSION = (
    "SELECT first_id, session_id, agent_id, kind, first_event_at, source_session FROM sessions WHERE session_id = ?"
)
_PARENTS = (
    "SELECT position, kind, parent_session, parent_step, claimed_session, claimed_step FROM session_edges"
    " WHERE session_id = ? AND n = ? ORDER BY position"
)
_OTHER_PARENTS = (
    "SELECT s.id, e.kind, e.parent_session, e.parent_step FROM json_each(?) i CROSS JOIN steps s ON s.id = i.value"
    " CROSS JOIN session_edges e ON e.session_id = s.session_id AND e.n = s.n"
    " WHERE s.n > 0 AND e.parent_session IS NOT NULL"
)
_FIRST_PROMPT = (
    "SELECT request_id, created_at FROM requests WHERE session_id = ? AND original_user_prompt IS NOT NULL"
    " ORDER BY n LIMIT 1"
)
_BY_HASH = "SELECT id, n, request FROM steps WHERE hash = ? AND session_id = ?"
_BY_SOURCE = (
    "SELECT id, n, request FROM steps INDEXED BY steps_source WHERE source_id = ? AND session_id = ? ORDER BY n LIMIT 1"
)
_CLAIMED_SESSION = (
    "SELECT session_id, first_id FROM sessions WHERE source_session = ? AND agent_id = ? AND session_id <> ?"
    " ORDER BY last_event_at DESC, session_id LIMIT 1"
)
_CHILDREN = (
    "SELECT e.session_id, e.n, e.kind, e.parent_session, e.parent_step, e.claimed_session, e.claimed_step,"
    " x.first_id, x.first_event_at, x.agent_id FROM session_edges e JOIN sessions x ON x.session_id = e.session_id"
)


def step_node(id_: int, n: int, request: int | None) -> NodeId:
    """The node of a step: a prompt is its request."""
    return NodeId(NodeKind.REQUEST if request == n else NodeKind.STEP, id_)


def session_node(graph: Graph, session: str) -> NodeId | None:
    """The node of a session, by its whole id."""
    row = graph.row("SELECT first_id FROM sessions WHERE session_id = ?", (session,))
    if row is None:
        return None
    return NodeId(NodeKind.SESSION, row[0])


def session_size(graph: Graph, first_id: int) -> int:
    """How many steps a session has, by the id of its first."""
    row = graph.row("SELECT size FROM sessions WHERE first_id = ?", (first_id,))
    if row is None:
        return 0
    return int(row[0])


# Upwards --------------------------------------------------------------------------------------------------------------


def parents_of(graph: Graph, ids: Iterable[int]) -> tuple[set[int], list[Edge]]:
    """Which of some sessions are there, and what began each: a step elsewhere, else its own first prompt."""
    there: set[int] = set()
    edges: list[Edge] = []
    for batch in batches(ids):
        for row in graph.rows(_SESSIONS, (batch,)):
            there.add(row[0])
            edges += _beginnings(graph, row)
    return there, edges


def _beginnings(graph: Graph, session: Row) -> Iterator[Edge]:
    first_id, sid, agent, kind, began_ms, _ = session
    node = NodeId(NodeKind.SESSION, first_id)
    parents = graph.rows(_PARENTS, (sid, 0))
    for _, _, *named in parents:
        parent = _NamedParent(*named)
        yield _spawned(_parent(graph, sid, agent, parent), node, kind, began_ms, parent)
    if not parents:
        prompt = graph.row(_FIRST_PROMPT, (sid,))
        if prompt is not None:
            source = NodeId(NodeKind.REQUEST, prompt[0])
            yield Edge(source=source, target=node, relation="began", at_ms=prompt[1])


class _NamedParent(msgspec.Struct, frozen=True):
    """The parent that a session names: sealed into its first entry, or claimed, by the agent's own ids."""

    session: str | None
    step: str | None
    claimed_session: str | None
    claimed_step: str | None


def _parent(graph: Graph, sid: str, agent: str, named: _NamedParent) -> NodeId:
    """The step that a session belongs to, else the session; a node that is not there, where it is not recorded."""
    if named.session is not None:
        found = None
        if named.step:
            found = graph.row(_BY_HASH, (named.step, named.session))
        if found is not None:
            return step_node(*found)
        return session_node(graph, named.session) or _absent(named.session, named.step or "")
    known = graph.row(_CLAIMED_SESSION, (named.claimed_session, agent, sid))
    if known is None:
        return _absent(named.claimed_session or "", named.claimed_step or "")
    found = None
    if named.claimed_step:
        found = graph.row(_BY_SOURCE, (named.claimed_step, known[0]))
    if found is not None:
        return step_node(*found)
    return NodeId(NodeKind.SESSION, known[1])


def _absent(session: str, step: str) -> NodeId:
    """A node for a step of a session that is not recorded. No row has its id."""
    digest = blake2b(f"{session}#{step}".encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return NodeId(NodeKind.SESSION, -1 - int.from_bytes(digest, "big"))


def _spawned(source: NodeId, node: NodeId, kind: str, at_ms: int | None, named: _NamedParent) -> Edge:
    is_sealed = named.session is not None
    confidence, session, step = CLAIMED, named.claimed_session, named.claimed_step
    if is_sealed:
        confidence, session, step = 1.0, named.session, named.step
    evidence: dict[str, Json] = {"sealed": is_sealed, "parent_session": session, "parent_step": step}
    return Edge(source=source, target=node, relation=kind, confidence=confidence, evidence=evidence, at_ms=at_ms or 0)


def rests_on(graph: Graph, ids: Iterable[int]) -> Iterator[Edge]:
    """The steps of other sessions that some steps follow from, as a merge does."""
    for batch in batches(ids):
        for id_, kind, parent, step in graph.rows(_OTHER_PARENTS, (batch,)):
            found = graph.row(_BY_HASH, (step, parent))
            if found is not None:
                yield Edge(source=step_node(*found), target=NodeId(NodeKind.STEP, id_), relation=kind, is_end=True)


# Downwards ------------------------------------------------------------------------------------------------------------


def children_of(graph: Graph, ids: Iterable[int]) -> tuple[dict[int, Row], list[Edge]]:
    """The sessions that are there, with their rows, and the sessions that belong to each."""
    there: dict[int, Row] = {}
    edges: list[Edge] = []
    for batch in batches(ids):
        for row in graph.rows(_SESSIONS, (batch,)):
            there[row[0]] = row
            node = NodeId(NodeKind.SESSION, row[0])
            edges += [_hanging(node, child) for child in _children(graph, row)]
    return there, edges


def _children(graph: Graph, session: Row) -> list[Row]:
    _, sid, agent, _, _, own_id = session
    sealed = f"{_CHILDREN} WHERE e.parent_session = ? AND e.session_id <> ? LIMIT {_MOST_CHILDREN}"
    rows = graph.rows(sealed, (sid, sid))
    if own_id is not None:
        claimed = f"{_CHILDREN} WHERE e.claimed_session = ? AND x.agent_id = ? AND e.session_id <> ?"
        rows += graph.rows(f"{claimed} LIMIT {_MOST_CHILDREN}", (own_id, agent, sid))
    return rows


def _hanging(source: NodeId, row: Row) -> Edge:
    _, n, kind, *named, first_id, began_ms, _ = row
    if n == 0:
        node = NodeId(NodeKind.SESSION, first_id)
        return _spawned(source, node, kind, began_ms, _NamedParent(*named))
    return Edge(source=source, target=NodeId(NodeKind.STEP, first_id + n), relation=kind, is_end=True)


def begun_by(graph: Graph, steps: Sequence[tuple[NodeId, str, str, str | None]]) -> Iterator[Edge]:
    """The sessions that some steps began.

    Args:
        steps: of each its node, session, hash, and the agent's own id of it.
    """
    children: dict[str, list[Row]] = {}
    for node, sid, digest, source_id in steps:
        if sid not in children:
            session = graph.row(_BY_SESSION, (sid,))
            children[sid] = _children(graph, session) if session is not None else []
        for row in children[sid]:
            if row[4] == digest or (row[3] is None and source_id is not None and row[6] == source_id):
                yield _hanging(node, row)

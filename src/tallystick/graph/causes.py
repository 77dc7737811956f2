"""What an agent was asked for when it did something: the chain of requests above a step, the nearest first.

Owns the way upwards: from a step to its request, from one that goes on with another to that, from a sub-agent to the call
that began it, from a session that continues another to the request there. Must not know who asks, nor how it is shown.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from tallystick.graph.graph import Graph, Row
from tallystick.graph.spawning import parents_of
from tallystick.lineage.walk import NodeId, NodeKind
from tallystick.model.request import RequestKind

MOST_ABOVE = 64
"""As many requests and sessions are followed upwards: deeper is a circle, or made to keep us busy."""

_REQUEST = (
    "SELECT r.request_id, r.session_id, r.n, r.hash, r.kind, r.original_user_prompt, r.is_erased, r.created_at"
    " FROM requests r WHERE r.request_id = ?"
)
_OF_STEP = "SELECT x.first_id, s.request FROM steps s JOIN sessions x ON x.session_id = s.session_id WHERE s.id = ?"
_BEFORE = (
    "SELECT r.n FROM requests r JOIN sessions x ON x.session_id = r.session_id"
    " WHERE x.first_id = ? AND r.n > 0 AND r.n < ? ORDER BY r.n DESC LIMIT 1"
)
_AT = (
    "SELECT r.n FROM requests r JOIN sessions x ON x.session_id = r.session_id"
    " WHERE x.first_id = ? AND r.n > 0 AND r.created_at <= ? ORDER BY r.n DESC LIMIT 1"
)
_BEGAN = "SELECT first_event_at FROM sessions WHERE first_id = ?"


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """A request that led to a step. `prompt` None: it was erased, or has no words, as a picture."""

    id: int
    session: str
    n: int
    hash: str
    kind: RequestKind
    prompt: str | None
    is_erased: bool
    created_at_ms: int


class _Place(NamedTuple):
    """A session by the id of its first step, and the request in it, if one was opened."""

    first_id: int
    request: int | None


def causes_of(graph: Graph, step: int) -> tuple[Cause, ...]:
    """The requests that led to a step, by its id, the nearest first.

    The last one is what was asked for: a prompt, a command, an answer, an approved plan. Before it come those that went on
    with it: a hook that told the agent to go on, the tasks of sub-agents. Empty where no record has a request.

    Raises:
        GraphError: the index cannot be read.
    """
    found: list[Cause] = []
    place = _place_of(graph, step)
    for _ in range(MOST_ABOVE):
        if place is None:
            break
        cause = _cause(graph, place)
        if cause is not None:
            found.append(cause)
        if cause is not None and cause.kind.is_new and cause.kind is not RequestKind.TASK:
            break
        place = _above(graph, place)
    return tuple(found)


def _place_of(graph: Graph, step: int) -> _Place | None:
    row = graph.row(_OF_STEP, (step,))
    return None if row is None else _Place(*row)


def _cause(graph: Graph, place: _Place) -> Cause | None:
    """The request of a place; None for one that no one put into words there."""
    row = graph.row(_REQUEST, (place.first_id + (place.request or 0),))
    return None if row is None else _of_row(row)


def _of_row(row: Row) -> Cause | None:
    id_, session, n, digest, kind, prompt, erased, created_at = row
    if kind is None or kind == RequestKind.CONTINUATION or (n == 0 and prompt is None):
        return None
    return Cause(
        id=id_,
        session=session,
        n=n,
        hash=digest,
        kind=RequestKind(kind),
        prompt=prompt,
        is_erased=bool(erased),
        created_at_ms=created_at,
    )


def _above(graph: Graph, place: _Place) -> _Place | None:
    """Where a request comes from: the one before it in its session, else the one of the step that began the session."""
    before = graph.row(_BEFORE, (place.first_id, place.request)) if place.request else None
    if before is not None:
        return _Place(place.first_id, before[0])
    _, edges = parents_of(graph, [place.first_id])
    for edge in edges:
        above = _place_of_node(graph, edge.source, place.first_id) if edge.relation != "began" else None
        if above is not None and above.first_id != place.first_id:
            return above
    return None


def _place_of_node(graph: Graph, node: NodeId, child: int) -> _Place | None:
    """The place of the step or request that began a session; of a session as a whole the request that it was at then."""
    if node.kind is not NodeKind.SESSION:
        return _place_of(graph, node.id)
    began = graph.row(_BEGAN, (child,))
    if began is None or graph.row(_BEGAN, (node.id,)) is None:
        return None
    at = graph.row(_AT, (node.id, began[0]))
    return _Place(node.id, None if at is None else at[0])

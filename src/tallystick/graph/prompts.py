"""The prompt behind a step: what a human asked for when the step was taken, up through sub-agents and continuations.

Owns the way from a step to that prompt, and that the prompt is not later than the step: by the order of the steps in its own
session, and by time in others. Must not know what the prompt brought about, nor how it is shown.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.graph import Graph
from tallystick.graph.nodes import RequestNode, StepNode, describe
from tallystick.graph.spawning import parents_of
from tallystick.lineage.walk import Edge, NodeId, NodeKind
from tallystick.model.request import RequestKind

LATE_MS = 2_000
"""Two sources tell the time of one moment so differently."""

NO_PROMPT = "no prompt is recorded before it"
NOT_RECORDED = "what began its session is not recorded"

_MOST_HOPS = 30
_SAID = 6_000

_BEFORE = "SELECT substr(final_response, -{0}) FROM requests WHERE session_id = ? AND n < ? ORDER BY n DESC LIMIT 1"
_NEWEST = "SELECT request_id FROM requests WHERE session_id = ? AND n > 0 AND created_at <= ? ORDER BY n DESC LIMIT 1"


_BEFORE_IT = "SELECT request_id FROM requests WHERE session_id = ? AND n < ? ORDER BY n DESC LIMIT 1"
_SOME_BEFORE = (
    "SELECT request_id FROM requests WHERE session_id = ? AND n < ? AND n > 0 AND original_user_prompt IS NOT NULL"
    " ORDER BY n DESC LIMIT 12"
)
_OF_ANOTHER = (RequestKind.TASK, RequestKind.CONTINUATION)
"""Kinds of which the words of a human are in the session above."""

_FIRST = "SELECT request_id FROM requests WHERE session_id = ? AND n > 0 ORDER BY n LIMIT 1"
_NEXT = "SELECT request_id FROM requests WHERE session_id = ? AND n > ? ORDER BY n LIMIT 1"


class At(msgspec.Struct, frozen=True):
    """A step, as far as the way up from it needs it: its id, its number, the prompt it belongs to, and when it was."""

    id: int
    n: int
    request: int | None
    at_ms: int


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Who asked. `prompt` is a human's, None where none is known: `why_not` then says why.

    `task` is what another agent asked for on the way. `is_claimed`: a session on the way names its parent
    itself, and that is not sealed.
    """

    prompt: RequestNode | None = None
    task: RequestNode | None = None
    why_not: str | None = None
    is_claimed: bool = False
    end: int | None = None
    """Where no prompt is known: the first step of the session at which the way up ends."""


def asked_for(graph: Graph, step: At) -> Origin:
    """Whose prompt a step was taken for. Raises GraphError."""
    at, task, is_claimed = step, None, False
    for _ in range(_MOST_HOPS):
        first = at.id - at.n
        request = _in_session(graph, at, step)
        if request is not None and request.n > 0 and request.kind not in _OF_ANOTHER:
            return Origin(prompt=request, task=task, is_claimed=is_claimed)
        if request is not None and task is None and request.kind == RequestKind.TASK:
            task = request
        edge = _beginning(graph, first)
        if edge is None:
            break
        is_claimed = is_claimed or edge.evidence.get("sealed") is False
        above = _step_at(graph, edge)
        if above is None:
            return Origin(task=task, why_not=NOT_RECORDED, is_claimed=is_claimed, end=first)
        at = above
    return Origin(task=task, why_not=NO_PROMPT, is_claimed=is_claimed, end=at.id - at.n)


def _in_session(graph: Graph, at: At, step: At) -> RequestNode | None:
    """The request of a session that a step on the way up belongs to; of one that goes on with another, that one.

    Args:
        step: the step at which the way began: nothing later counts.
    """
    first, n = at.id - at.n, at.request
    if n is None or n > at.n:
        n = 0
    request = _request(graph, first + n)
    if request is not None and at is not step and request.created_at_ms > step.at_ms + LATE_MS:
        request = _newest_by(graph, request.session, step.at_ms)
    for _ in range(_MOST_HOPS):
        if request is None or request.n == 0 or request.kind is None or RequestKind(request.kind).is_new:
            break
        before = graph.row(_BEFORE_IT, (request.session, request.n))
        request = None if before is None else _request(graph, before[0])
    return request


def said_before(graph: Graph, prompt: RequestNode) -> str | None:
    """The end of what the agent said last before a prompt: what "yes" agrees to. None where it said nothing."""
    session, n = prompt.session, prompt.n
    for _ in range(_MOST_HOPS):
        row = graph.row(_BEFORE.format(_SAID), (session, n))
        if row is not None and row[0]:
            return str(row[0])
        if row is not None:
            return None
        first = graph.row("SELECT first_id FROM sessions WHERE session_id = ?", (session,))
        edge = None if first is None else _beginning(graph, first[0])
        if edge is None:
            return None
        above = describe(graph, [edge.source]).get(edge.source)
        if isinstance(above, StepNode | RequestNode):
            session, n = above.session, above.n + 1
        else:
            return None
    return None


def prompts_before(graph: Graph, prompt: RequestNode) -> tuple[RequestNode, ...]:
    """The newest prompts of the same session before another one, the last one first."""
    rows = graph.rows(_SOME_BEFORE, (prompt.session, prompt.n))
    found = describe(graph, [NodeId(NodeKind.REQUEST, row[0]) for row in rows])
    kept = [node for node in found.values() if isinstance(node, RequestNode)]
    return tuple(sorted(kept, key=lambda node: -node.n))


def first_prompt(graph: Graph, session: str) -> RequestNode | None:
    """The first prompt of a human in a session, given by its whole id."""
    row = graph.row(_FIRST, (session,))
    return None if row is None else _request(graph, row[0])


def end_of_request(graph: Graph, prompt: RequestNode) -> int | None:
    """The id of the prompt that came after another one in its session; None if that was the last."""
    row = graph.row(_NEXT, (prompt.session, prompt.n))
    return None if row is None else int(row[0])


def _request(graph: Graph, id_: int) -> RequestNode | None:
    node = NodeId(NodeKind.REQUEST, id_)
    found = describe(graph, [node]).get(node)
    if isinstance(found, RequestNode):
        return found
    return None


def _beginning(graph: Graph, first_id: int) -> Edge | None:
    """What began a session, elsewhere: its own first prompt began nothing that came before it."""
    _, edges = parents_of(graph, [first_id])
    return next((edge for edge in edges if edge.relation != "began"), None)


def _step_at(graph: Graph, edge: Edge) -> At | None:
    """The step that an edge leads to; of a session its newest prompt by then."""
    match edge.source.kind:
        case NodeKind.STEP | NodeKind.REQUEST:
            row = graph.row("SELECT n, request, at_us FROM steps WHERE id = ?", (edge.source.id,))
            return None if row is None else At(edge.source.id, row[0], row[1], row[2] // 1000)
        case NodeKind.SESSION:
            return _newest(graph, edge.source.id, edge.at_ms)
        case _:
            return None


def _newest(graph: Graph, first_id: int, by_ms: int) -> At | None:
    session = graph.row("SELECT session_id, first_event_at FROM sessions WHERE first_id = ?", (first_id,))
    if session is None:
        return None
    prompt = _newest_by(graph, session[0], by_ms)
    if prompt is None:
        return At(first_id, 0, None, session[1] or 0)
    return At(prompt.id, prompt.n, prompt.n, by_ms)


def _newest_by(graph: Graph, session: str, by_ms: int) -> RequestNode | None:
    """The newest prompt of a session at a time."""
    row = graph.row(_NEWEST, (session, by_ms + LATE_MS))
    return None if row is None else _request(graph, row[0])

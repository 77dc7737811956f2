"""The results of something, as a story: who used it, for which prompts, and what is known to have been made from it.

Owns what belongs into such a story. What was only written after a model had been shown the thing is counted, and is a
result only where both share lines. The words are people's and agents' own: anyone who shows them makes them safe first.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tallystick.ask.graph_walk import Answer
from tallystick.ask.node_resolver import Start
from tallystick.ask.prompts import Prompted, prompted
from tallystick.ask.sources import Sources, told_flows
from tallystick.ask.story import named_things
from tallystick.graph.changes import changed_by, thing_id
from tallystick.graph.graph import Graph
from tallystick.graph.inflows import Inflow, out_of
from tallystick.graph.nodes import ArtifactNode, RequestNode, SessionNode, StepNode
from tallystick.graph.prompts import At, end_of_request
from tallystick.graph.resources import Named, shown_name
from tallystick.graph.spawning import session_size
from tallystick.graph.uses import Use, Uses, uses_of
from tallystick.journal.home import Home
from tallystick.lineage.walk import NodeId, NodeKind

_MOST_THINGS = 200
_MOST_FOLLOWED = 20


class Effects(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to "what was made of it". `made` are the things that a step, prompt or session changed, `made_count` in all.

    `uses` are those of the thing itself, or, of what was made, those by later calls of others; `prompt` is that of the newest
    use. `results` are what it went into; `further` counts the things that were made from those. `began` are sessions.
    """

    kind: str
    name: str
    version: int | None = None
    made: tuple[Named, ...] = ()
    made_count: int = 0
    uses: Uses = Uses()
    prompt: Prompted | None = None
    results: Sources = Sources()
    further: int = 0
    began: tuple[str, ...] = ()
    confidence: float | None = None
    limit: str | None = None


def effects_of(home: Home, graph: Graph, start: Start, answer: Answer) -> Effects:
    """The story of the results of a thing, step, prompt or session.

    Args:
        answer: what a walk to its effects found.
    """
    if start.thing is not None:
        number = thing_id(graph, start.thing)
        told = Effects(kind=start.thing.kind, name=shown_name(start.thing), version=_newest(answer))
        return _with_results(home, graph, told, [] if number is None else [number], answer)
    about = answer.known()[start.nodes[0]].about
    first, last = _range(graph, about)
    things = changed_by(graph, first, last, most=_MOST_THINGS)
    told = Effects(
        kind=start.nodes[0].kind.value.replace("request", "prompt"),
        name=_name(about, start.text),
        made=named_things(graph, things),
        made_count=len(things),
    )
    return _with_results(home, graph, told, things, answer, outside=(first, last))


def _newest(answer: Answer) -> int | None:
    versions = [
        node.about.version for node in answer.nodes if node.distance == 0 and isinstance(node.about, ArtifactNode)
    ]
    return max(versions, default=None)


def _name(about: object, text: str) -> str:
    match about:
        case StepNode() | RequestNode():
            return f"{about.session}:{about.n}"
        case SessionNode():
            return about.session
        case _:
            return text


def _range(graph: Graph, about: object) -> tuple[int, int]:
    """The ids of the first and last step of a node that was asked about."""
    match about:
        case StepNode():
            return about.id, about.id
        case RequestNode():
            first = about.id - about.n
            return about.id, (end_of_request(graph, about) or first + session_size(graph, first) + 1) - 1
        case SessionNode():
            return about.id, about.id + session_size(graph, about.id)
        case _:
            return 0, -1


def _with_results(
    home: Home,
    graph: Graph,
    told: Effects,
    things: Sequence[int],
    answer: Answer,
    outside: tuple[int, int] | None = None,
) -> Effects:
    """The same with who used some things, and what they went into: of what a step made, only what others did later."""
    uses: list[Use] = []
    flows: list[Inflow] = []
    is_cut = False
    for thing in things[:_MOST_FOLLOWED]:
        found = uses_of(graph, thing)
        is_cut = is_cut or found.is_cut
        uses += [use for use in found.newest if _is_after(use.step, use.at_ms, outside, answer)]
        flows += [flow for flow in out_of(graph, thing) if _is_after(flow.written_step, flow.at_ms, outside, answer)]
    uses.sort(key=lambda use: (-use.at_ms, -use.step))
    results = told_flows(home, flows)
    prompt = None
    if uses:
        prompt = prompted(graph, At(uses[0].step, uses[0].n, uses[0].request, uses[0].at_ms))
    direct = {(source.kind, source.uri) for source in results.known}
    return msgspec.structs.replace(
        told,
        uses=Uses(
            calls=len(uses),
            requests=len({(use.session, use.request) for use in uses}),
            sessions=len({use.session for use in uses}),
            newest=tuple(uses[:_MOST_FOLLOWED]),
            is_cut=is_cut,
        ),
        prompt=prompt,
        results=results,
        further=len(_reached(answer) - direct - {(thing.kind, thing.uri) for thing in told.made}),
        began=_began(answer),
        confidence=min((source.confidence for source in results.known), default=None),
        limit=_limit(results, is_cut=is_cut),
    )


def _began(answer: Answer) -> tuple[str, ...]:
    """The sessions that the start began, or that belong to it."""
    known = answer.known()
    ends = {
        edge.target
        for edge in answer.edges
        if edge.source in answer.start.nodes and edge.target.kind is NodeKind.SESSION
    }
    return tuple(about.session for node in sorted(ends) if isinstance(about := known[node].about, SessionNode))


def _is_after(step: int, at_ms: int, outside: tuple[int, int] | None, answer: Answer) -> bool:
    if outside is None:
        return True
    began = answer.nodes[0].at_ms or 0
    return not outside[0] <= step <= outside[1] and at_ms >= began


def _reached(answer: Answer) -> set[tuple[str, str]]:
    """The things that are reached without a guess, but for the start."""
    known = answer.known()
    reached: set[NodeId] = set(answer.start.nodes)
    waiting = list(reached)
    beyond: dict[NodeId, list[NodeId]] = {}
    for edge in answer.edges:
        if not edge.is_guess:
            beyond.setdefault(edge.source, []).append(edge.target)
    while waiting:
        for node in beyond.get(waiting.pop(), ()):
            if node not in reached:
                reached.add(node)
                waiting.append(node)
    own = {
        (about.kind, about.uri) for node in answer.start.nodes if isinstance(about := known[node].about, ArtifactNode)
    }
    things = (known[node].about for node in reached if node.kind is NodeKind.ARTIFACT)
    return {(about.kind, about.uri) for about in things if isinstance(about, ArtifactNode)} - own


def _limit(results: Sources, *, is_cut: bool) -> str | None:
    if is_cut:
        return "it was used more often than is counted here"
    if results.only_shown > results.compared:
        return "not all that was written after it was shown could be compared with it"
    return None

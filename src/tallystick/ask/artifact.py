"""One thing over all its versions, and lists of things.

Owns joining the versions, facts, tags and relations of a thing into one answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tallystick.ask.graph_walk import Direction, Known, answer
from tallystick.ask.node_resolver import Start, absolute, find_start
from tallystick.errors import NotFoundError
from tallystick.graph.resources import (
    KINDS,
    ListedThing,
    Named,
    Observation,
    RiskTag,
    VersionRow,
    facts_of,
    list_things,
    observations_of,
    tags_of,
    version_count,
    versions_of,
)
from tallystick.journal.home import Home
from tallystick.lineage.walk import Edge, Limits, NodeId
from tallystick.model.step import Json
from tallystick.workspace.index import Index

MOST_VERSIONS = 50

_EDGES_A_VERSION = 50


class ThingHistory(msgspec.Struct, frozen=True, kw_only=True):
    """All that is kept of a thing. `versions` are the newest of `version_count`.

    `relations` are the edges of these versions and `nodes` their ends; `more_relations` says of which versions there are
    more, by id, and how many in all.
    """

    thing: Named
    versions: tuple[VersionRow, ...]
    version_count: int
    facts: dict[str, Json] | None
    relations: tuple[Edge, ...]
    nodes: tuple[Known, ...]
    more_relations: dict[int, int]
    tags: tuple[RiskTag, ...]
    observations: tuple[Observation, ...]


def thing_history(
    home: Home, index: Index, text: str, *, folder: str, most_versions: int = MOST_VERSIONS
) -> ThingHistory:
    """The thing that `text` names: a path, a URL, a resource, a commit.

    Raises what `find_start` raises, and NotFoundError where the text names a step or a session.
    """
    start = find_start(index, text, folder=folder)
    if start.thing is None:
        raise NotFoundError(f"{text!r} is a step or a session, not a file", hint=f"use `tally why {text}`")
    versions = versions_of(index.graph, start.thing, limit=most_versions)
    ids = [version.id for version in versions]
    shown = Start(text=text, nodes=start.nodes[:most_versions], thing=start.thing)
    limits = Limits(depth=1, nodes=most_versions * _EDGES_A_VERSION, edges_a_node=_EDGES_A_VERSION)
    around = answer(home, index, shown, Direction.BOTH, limits)
    return ThingHistory(
        thing=start.thing,
        versions=versions,
        version_count=version_count(index.graph, start.thing),
        facts=facts_of(index.graph, start.thing),
        relations=_of_versions(around.edges, set(shown.nodes)),
        nodes=around.nodes,
        more_relations={cut.node.id: cut.total for cut in around.cuts if cut.total and cut.node in shown.nodes},
        tags=tags_of(index.graph, ids),
        observations=observations_of(index.graph, ids),
    )


def _of_versions(edges: Sequence[Edge], versions: set[NodeId]) -> tuple[Edge, ...]:
    """The edges that touch the versions, the newest first."""
    own = [edge for edge in edges if edge.source in versions or edge.target in versions]
    return tuple(sorted(own, key=lambda edge: (-edge.at_ms, edge.relation, edge.source, edge.target)))


def list_known(
    index: Index, *, kinds: Sequence[str], prefix: str | None, folder: str, limit: int
) -> tuple[ListedThing, ...]:
    """Things in the order of their URIs.

    Args:
        prefix: what the path or URL begins with; a path counts from `folder` if it is not absolute.
    """
    found: list[ListedThing] = []
    for kind in kinds or KINDS:
        for uri in _beginnings(kind, prefix, folder):
            found += list_things(index.graph, kinds=(kind,), prefix=uri, limit=limit - len(found))
    return tuple(found)


def _beginnings(kind: str, prefix: str | None, folder: str) -> tuple[str, ...]:
    if prefix is None or kind != "file" or "://" in prefix:
        return (prefix or "",)
    whole = absolute(prefix, folder)
    return (f"file://{whole}{'/' if prefix.endswith('/') and whole != '/' else ''}", f"file:{prefix}")

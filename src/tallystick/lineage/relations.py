"""The edges of one thing: to the calls and requests that touched it, and to the things that its content came from or went to.

Owns which relation each use gives, and that several that say the same are one. Must not know how a version was found.
Kinds and directions: specs/gensee.md 4. `derived_from` runs from the source to what is derived, against PROV's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from tallystick.lineage.access import AGENT, SYSTEM, Access, Deed
from tallystick.lineage.identity import relation_id
from tallystick.lineage.versions import History, Use, Version

_MOST_MAKERS = 20
_CAUSED = 0.75
"""That an observed effect is a call's: the same path at the same time."""


class Relation(msgspec.Struct, array_like=True):
    """One row of `relations`, columns in the order of the table. `created_at` is in milliseconds since 1970."""

    relation_id: int
    src_kind: str
    src_id: int
    dst_kind: str
    dst_id: int
    relation_type: str
    confidence: float
    evidence: str | None
    created_at: int


class Link(msgspec.Struct, array_like=True):
    """One row of `links`: a request used a version that another one made."""

    artifact_id: int
    src_request: int
    dst_request: int
    at_us: int
    confidence: float


class End(msgspec.Struct, frozen=True):
    """One end of a flow, unchanged in the other thing."""

    artifact_id: int
    confidence: float
    at_us: int


class Evidence(msgspec.Struct, frozen=True):
    """What an edge rests on: how sure it is, what says so (JSON), and when it happened."""

    confidence: float
    text: str
    at_us: int


def relation(src: tuple[str, int], kind: str, dst: tuple[str, int], evidence: Evidence) -> Relation:
    """An edge from `src` to `dst`, each a kind of node and its id."""
    id_ = relation_id(*src, *dst, kind)
    return Relation(id_, *src, *dst, kind, round(evidence.confidence, 3), evidence.text, evidence.at_us // 1000)


def of_uses(history: History) -> Iterator[Relation]:
    """The edges between the versions of a thing and what touched them; one that is said twice comes twice."""
    for use in history.uses:
        yield from _of_use(use)


def _of_use(use: Use) -> Iterator[Relation]:
    access = use.access
    if use.cause is not None:
        yield _observed_edge(use)
    elif access.cause is not None:
        yield _put_down(access, access.cause)
    yield from _consumed_edges(use)
    match access.deed:
        case Deed.WRITE:
            yield from _did(use, "produced")
        case Deed.CHANGE:
            yield from _did(use, "modified")
        case Deed.TOUCH:
            yield from _did(use, "produced" if use.version.made_by is access else "modified")
        case Deed.REMOVE | Deed.TAKE:
            yield from _did(use, "deleted")
        case Deed.REACH:
            actor, version = (access.actor, access.step_id), ("artifact", use.version.id)
            yield relation(actor, "reached", version, _evidence(access))


def _evidence(access: Access) -> Evidence:
    return Evidence(access.confidence, access.evidence, access.at_us)


def _consumed_edges(use: Use) -> Iterator[Relation]:
    """The edges from what a use read, if it read something."""
    version = consumed(use)
    if version is None:
        return iter(())
    return _consumed(use, version)


def _put_down(access: Access, cause: int) -> Relation:
    """An observed effect that a call is held to have caused, by content or time."""
    confidence = access.cause_confidence or 0.0
    evidence = Evidence(confidence, access.evidence, access.at_us)
    return relation((AGENT, cause), "caused", (SYSTEM, access.step_id), evidence)


def _observed_edge(use: Use) -> Relation:
    access, cause = use.access, use.cause
    assert cause is not None, "asked only of what has one"
    matched_by = "path"
    if access.digest is not None and access.digest == cause.digest:
        matched_by = "content"
    text = msgspec.json.encode(
        {"matched_by": matched_by, "time_delta_ms": (access.at_us - cause.at_us) // 1000, "operation": cause.operation}
    ).decode()
    return relation((AGENT, cause.step_id), "caused", (SYSTEM, access.step_id), Evidence(_CAUSED, text, access.at_us))


def _consumed(use: Use, version: Version) -> Iterator[Relation]:
    access = use.access
    source = ("artifact", version.id)
    evidence = _evidence(access)
    yield relation(source, "consumed_by", (access.actor, access.step_id), evidence)
    if version.made_by is None or version.made_by.request_id != access.request_id:
        yield relation(source, "consumed_by", ("request", access.request_id), evidence)


def _did(use: Use, kind: str) -> Iterator[Relation]:
    access = use.access
    version = ("artifact", use.version.id)
    evidence = _evidence(access)
    yield relation((access.actor, access.step_id), kind, version, evidence)
    if access.actor == AGENT:
        yield relation(("request", access.request_id), kind, version, evidence)


def of_flow(source: End, target: End, confidence: float, evidence: str) -> Relation:
    """The edge from what was read to what was written from it."""
    least = min(confidence, source.confidence, target.confidence)
    ends = ("artifact", source.artifact_id), ("artifact", target.artifact_id)
    return relation(ends[0], "derived_from", ends[1], Evidence(least, evidence, target.at_us))


def merged(relations: Iterable[Relation]) -> dict[int, Relation]:
    """Relations by id. Of several that are one edge: the earliest evidence, the highest confidence."""
    found: dict[int, Relation] = {}
    for new in relations:
        old = found.get(new.relation_id)
        if old is None:
            found[new.relation_id] = new
            continue
        first = min(old, new, key=lambda one: (one.created_at, one.evidence or ""))
        found[new.relation_id] = msgspec.structs.replace(first, confidence=max(old.confidence, new.confidence))
    return found


def links(history: History) -> dict[tuple[int, int, int], Link]:
    """Which requests used what which others made, by version, source and user; the first time of each.

    Who changes a version goes on from its last maker, who has links of his own; who reads it uses what they all made.
    """
    found: dict[tuple[int, int, int], Link] = {}
    for use in history.uses:
        version = consumed(use)
        if version is None or use.access.actor != AGENT:
            continue
        most = _MOST_MAKERS
        if use.access.deed is Deed.CHANGE:
            most = 1
        for request, confidence in makers(version)[:most]:
            key = (version.id, request, use.access.request_id)
            if request != use.access.request_id and key not in found:
                found[key] = Link(*key, use.access.at_us, round(min(confidence, use.access.confidence), 3))
    return found


def consumed(use: Use) -> Version | None:
    """The version that a use read; None if it read none."""
    match use.access.deed:
        case Deed.READ | Deed.TAKE:
            return use.version
        case Deed.CHANGE:
            return use.read
        case _:
            return None


def makers(version: Version) -> list[tuple[int, float]]:
    """The requests that a version's content comes from, newest first: back to where it was written whole, at most 20."""
    found: dict[int, float] = {}
    at: Version | None = version
    while at is not None and len(found) < _MOST_MAKERS:
        maker = at.made_by
        if maker is not None and (maker.actor == AGENT or maker.cause is not None):
            found.setdefault(maker.request_id, maker.confidence)
        at = at.base
    return list(found.items())

"""Answers about the graph on the terminal and as JSON: a tree with one line for each node, and the evidence of every edge.

Owns the words for relations and the layout of a line. Everything that it prints is safe to print.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tallystick.cli.steps import short
from tallystick.display.text import first_line, one_line, width_of
from tallystick.graph.nodes import ArtifactNode, SessionNode, StepNode
from tallystick.lineage.drawing_tree import Row, rows
from tallystick.lineage.walk import Cut, CutReason, Edge, NodeId, NodeKind

if TYPE_CHECKING:
    from tallystick.ask.graph_walk import Answer, Known


_NARROW = 110
_LEAST = 24
_DIGEST = 19  # "sha256:" and 12 digits

_UP = {
    "produced": "made by",
    "modified": "changed by",
    "deleted": "deleted by",
    "reached": "reached by",
    "caused": "caused by",
    "derived_from": "from",
    "went_into": "from",
    "ran": "made by running",
    "changed_into": "changed from",
    "consumed_by": "read",
    "asked_for": "asked for by",
    "held": "in",
    "began": "began with",
    "enclosed": "part of",
    "decided": "decided by",
    "called": "result of",
    "child": "started by",
    "continuation": "continues",
    "fork": "forked from",
}
_USES = {
    "execute": ("ran", "run by"),
    "copy_source": ("copied", "copied by"),
    "rename": ("moved", "moved by"),
    "fetch": ("fetched", "fetched by"),
}
"""How a thing was used, where it was not just read: by the call above it, and seen from the thing."""

_DOWN = {
    "produced": "made",
    "modified": "changed",
    "deleted": "deleted",
    "reached": "reached",
    "caused": "caused",
    "derived_from": "went into",
    "ran": "was run to make",
    "changed_into": "changed into",
    "consumed_by": "read by",
    "held": "asked",
    "child": "started",
    "continuation": "continued by",
    "fork": "forked into",
}


def answer_text(found: Answer, width: int, *, upwards: bool) -> Iterator[str]:
    """The tree of an answer as text."""
    known = found.known()
    for row in rows(found.start.nodes, found.edges, found.cuts, upwards=upwards):
        if row.cut is not None:
            yield click.style(f"{row.lines}{cut_text(row.cut)}", fg="yellow")
        else:
            yield _line(row, known[row.node], width, upwards=upwards)


def cut_text(cut_: Cut) -> str:
    """Where and why the walk stopped."""
    match cut_.why:
        case CutReason.DEPTH:
            return f"… cut here: {cut_.total - cut_.shown:,} more beyond this depth; --depth N goes further"
        case CutReason.NODES:
            return f"… cut here: {cut_.shown:,} of {cut_.total:,} shown, the limit is reached; --limit N shows more"
        case CutReason.FAN_OUT:
            return f"… cut here: {cut_.shown:,} of {cut_.total:,} shown"
        case CutReason.UNSURE:
            return f"… cut here: {cut_.total:,} with lower confidence; --min-confidence 0 shows them"
        case CutReason.MISSING:
            return "… cut here: not recorded"


def _line(row: Row, node: Known, width: int, *, upwards: bool) -> str:
    words = relation_words(row.edges, node, upwards=upwards)
    if words:
        before = f"{row.lines}{words} "
    else:
        before = row.lines
    after = tail(row.edges, node, narrow=width < _NARROW)
    if row.is_repeat:
        after += " (see above)"
    room = max(width - width_of(before) - width_of(after) - 2, _LEAST)
    what = name_of(node, room)
    is_outside = isinstance(node.about, ArtifactNode) and node.about.changed_outside
    what = click.style(what, bold=node.node.kind is NodeKind.REQUEST or None, fg="red" if is_outside else None)
    if before:
        before = click.style(before, dim=True)
    else:
        before = ""
    return f"{before}{what}  {click.style(after, dim=True)}".rstrip()


def relation_words(edges: Iterable[Edge], node: Known, *, upwards: bool) -> str:
    """How a node relates to the one above it: `made by`, `changed by and read`."""
    said = [_word(edge, node, upwards=upwards) for edge in edges]
    return one_line(" and ".join(dict.fromkeys(said)))


def _word(edge: Edge, node: Known, *, upwards: bool) -> str:
    if edge.relation == "consumed_by":
        if node.node.kind is NodeKind.REQUEST:
            return "used for"
        used = _USES.get(str(edge.evidence.get("operation")), ("read", "read by"))
        if edge.target == node.node:
            return used[1]
        return used[0]
    if edge.relation == "derived_from" and node.node.kind is NodeKind.REQUEST:
        if upwards:
            return "continues"
        return "continued by"
    return (_UP if upwards else _DOWN).get(edge.relation, edge.relation)


def name_of(node: Known, room: int) -> str:
    """The name of a node, within `room` columns."""
    about = node.about
    if isinstance(about, ArtifactNode):
        mark = version_mark(about)
        return f"{_shortened(one_line(node.title), max(room - width_of(mark) - 2, _LEAST))}  {mark}".rstrip()
    if isinstance(about, SessionNode):
        kind = f"{one_line(about.kind)} session"
        return f"{kind} “{first_line(node.title, max(room - width_of(kind) - 3, _LEAST))}”"
    if node.node.kind is NodeKind.REQUEST:
        return f"“{first_line(node.title, max(room - 2, _LEAST))}”"
    if about is None:
        return "a step that is not recorded"
    return first_line(node.title, room)


def version_mark(about: ArtifactNode) -> str:
    """Which version: `version 2 of 3, sha256:0123…, deleted`; nothing for a page with only one."""
    if about.kind != "file" and about.version == 0 and about.versions == 0:
        return ""  # no agent here creates pages
    words = [f"version {about.version}" + (f" of {about.versions}" if about.versions > about.version else "")]
    if about.digest:
        words.append(one_line(about.digest[:_DIGEST]))
    if about.deleted_at_ms is not None:
        words.append("deleted")
    if about.changed_outside:
        words.append("changed outside the agent")
    elif about.made_by is None:
        if about.version == 0:
            words.append("as first seen")
        else:
            words.append("made by an unknown process")
    return ", ".join(words)


def _shortened(text: str, width: int) -> str:
    """A path within `width` columns; of a long path the end, which says most."""
    if width_of(text) <= width:
        return text
    kept = text
    while width_of(kept) >= width:
        kept = kept[max(len(kept) // 40, 1) :]
    return f"…{kept}"


def tail(edges: Iterable[Edge], node: Known, *, narrow: bool) -> str:
    """Place, time, agent, confidence and evidence: `6884db8c:17 2026-11-21 22:30:18 claude-code 0.5 via model`."""
    words = [step_ref(node.step) if node.step else "", moment(node.at_ms, narrow=narrow), one_line(node.agent or "")]
    return "  ".join(word for word in (*words, surety(edges)) if word)


def step_ref(step: str) -> str:
    """A step in the form that commands accept: `6884db8c:17`."""
    session, _, n = step.rpartition(":")
    return f"{one_line(short(session))}:{n}"


def moment(at_ms: int | None, *, narrow: bool = False) -> str:
    """A time in UTC; empty if unknown."""
    if not at_ms or not 0 < at_ms < 253_402_300_800_000:
        return ""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):{'%m-%d %H:%M' if narrow else '%Y-%m-%d %H:%M:%S'}}"


def surety(edges: Iterable[Edge]) -> str:
    """The confidence of the least certain edge, and the evidence of the edges; empty where all are certain."""
    kept = list(edges)
    confidence = min((edge.confidence for edge in kept), default=1.0)
    if confidence < 1:
        words = [f"{confidence:.2g}"]
    else:
        words = []
    for edge in kept:
        via = edge.evidence.get("via") or edge.evidence.get("matched_by")
        if isinstance(via, str):
            words.append(f"via {one_line(via[:40])}")
        if edge.evidence.get("sealed") is False:
            words.append("claimed by the agent, not sealed")
    return " ".join(dict.fromkeys(words))


# As JSON --------------------------------------------------------------------------------------------------------------


def node_id(node: NodeId) -> str:
    """A node's id in JSON: a string, because not all programs read such large numbers."""
    return f"{node.kind.value}:{node.id}"


def answer_data(found: Answer) -> dict[str, object]:
    """The whole answer with its evidence."""
    start = found.start
    return {
        "asked": start.text,
        "thing": None if start.thing is None else {"kind": start.thing.kind, "uri": start.thing.uri},
        "direction": found.direction.value,
        "limits": found.limits,
        "start": [node_id(node) for node in start.nodes],
        "nodes": [node_data(node) for node in found.nodes],
        "edges": [edge_data(edge) for edge in found.edges],
        "cuts": [
            {"node": node_id(one.node), "why": one.why.value, "shown": one.shown, "total": one.total}
            for one in found.cuts
        ],
    }


def node_data(node: Known) -> dict[str, object]:
    """One node."""
    return {
        "id": node_id(node.node),
        "kind": node.node.kind.value,
        "distance": node.distance,
        "title": node.title,
        "step": node.step,
        "agent": node.agent,
        "at_ms": node.at_ms,
        "about": _about(node),
    }


def _about(node: Known) -> dict[str, object] | None:
    import msgspec

    if node.about is None:
        return None
    members: dict[str, object] = msgspec.to_builtins(node.about)
    for name in ("id", "thing", "made_by"):
        if isinstance(members.get(name), int):
            members[name] = str(members[name])
    if isinstance(node.about, StepNode):
        members.pop("offset")
    return members


def edge_data(edge: Edge) -> dict[str, object]:
    """One edge with its evidence."""
    return {
        "source": node_id(edge.source),
        "target": node_id(edge.target),
        "relation": edge.relation,
        "confidence": edge.confidence,
        "at_ms": edge.at_ms or None,
        "evidence": edge.evidence,
    }

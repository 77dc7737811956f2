"""The graph around something, to be drawn: joined from several starts, and as a picture.

Owns the joining, which boxes and arrows a picture has, and the words in the boxes. Where they stand and how they are drawn
is lineage's.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from datetime import UTC, datetime

from tallystick.ask.graph_walk import Answer, Direction, Known, answer
from tallystick.ask.node_resolver import Start, effective, find_start
from tallystick.errors import UsageError
from tallystick.graph.nodes import ArtifactNode, RequestNode, SessionNode, StepNode
from tallystick.journal.home import Home
from tallystick.lineage.drawing_picture import Arrow, Box, Look, Picture
from tallystick.lineage.walk import Edge, Limits, NodeId
from tallystick.workspace.index import Index

_NAME = 42
_SHORT = 8

_WORDS = {
    "asked_for": "asked for",
    "consumed_by": "read by",
    "derived_from": "went into",
    "went_into": "went into",
    "changed_into": "changed into",
    "ran": "was run to make",
    "held": "",
    "began": "began",
    "child": "started",
}


def picture_of(found: Answer) -> Picture:
    """The picture of an answer. A session is not drawn where it says no more than the prompts that belong to it."""
    start, cut = set(found.start.nodes), {one.node for one in found.cuts}
    edges = [edge for edge in found.edges if edge.relation != "began"]
    needed = {end for edge in edges if edge.relation != "held" for end in (edge.source, edge.target)}
    nodes = [known for known in found.nodes if known.node in needed | start or known.node in cut]
    place = {known.node: number for number, known in enumerate(nodes)}
    arrows = [edge for edge in edges if edge.source in place and edge.target in place]
    boxes = tuple(_box(known, is_start=known.node in start, is_cut=known.node in cut) for known in nodes)
    return Picture(boxes, tuple(_arrow(edge, place) for edge in arrows))


def _arrow(edge: Edge, place: dict[NodeId, int]) -> Arrow:
    words = _WORDS.get(edge.relation, edge.relation)
    sure = ""
    if edge.confidence < 1 and words:
        sure = f" {edge.confidence:.2g}"
    return Arrow(
        source=place[edge.source], target=place[edge.target], label=f"{words}{sure}", confidence=edge.confidence
    )


def _box(known: Known, *, is_start: bool, is_cut: bool) -> Box:
    look, *lines = _box_lines(known)
    kept = tuple(line for line in lines if line)
    about = " · ".join(line for line in (known.title, *kept[1:]) if line)
    return Box(look=Look(look), lines=kept, about=about, is_start=is_start, is_cut=is_cut)


def _box_lines(known: Known) -> tuple[str, ...]:
    """The look of a node, then its name and what else is in its box."""
    place = _place(known)
    match known.about:
        case ArtifactNode() as about:
            version = ""
            if about.kind == "file" or about.versions:
                version = f"version {about.version}"
            if about.deleted_at_ms is not None:
                version += ", deleted"
            outside = ""
            if about.changed_outside:
                outside = "changed outside the agent"
            return Look.ARTIFACT, _end_of(known.title), version, outside, place
        case StepNode():
            return Look.STEP, known.title, place
        case RequestNode():
            return Look.REQUEST, f"“{known.title}”", place
        case SessionNode() as about:
            return Look.SESSION, f"{about.kind} session {about.session[:_SHORT]}", known.title
        case None:
            return Look.MISSING, "not recorded"


def _place(known: Known) -> str:
    step, _, n = (known.step or "").rpartition(":")
    at_ms = known.at_ms or 0
    when = ""
    if 0 < at_ms < 253_402_300_800_000:
        when = f"{datetime.fromtimestamp(at_ms / 1000, UTC):%m-%d %H:%M}"
    return "  ".join(word for word in (f"{step[:_SHORT]}:{n}" if step else "", when) if word)


def _end_of(path: str) -> str:
    """The end of a path that fits into a box: as many of its last parts as there is room for."""
    if len(path) <= _NAME:
        return path
    kept = posixpath.basename(path)
    for part in reversed(path.split("/")[:-1]):
        if len(part) + len(kept) + 3 > _NAME:
            break
        kept = f"{part}/{kept}"
    return f"…/{kept}"


DEFAULT = Limits()


def find_starts(index: Index, texts: Sequence[str], *, folder: str) -> list[Start]:
    """The starts that `texts` name.

    Raises what `find_start` raises, and UsageError where nothing is named.
    """
    if not texts:
        raise UsageError("no node given", hint="give a path, a URL, a step or a session")
    return [find_start(index, text, folder=folder) for text in texts]


def graph_around(
    home: Home, index: Index, starts: Sequence[Start], direction: Direction, limits: Limits = DEFAULT
) -> Answer:
    """What is around some starts. Raises GraphError."""
    if direction is not Direction.UP:
        starts = [effective(index, start) for start in starts]
    if len(starts) == 1:
        return answer(home, index, starts[0], direction, limits)
    nodes = dict.fromkeys(node for start in starts for node in start.nodes)
    more = sum(start.more_versions for start in starts)
    text = " ".join(start.text for start in starts)
    return answer(home, index, Start(text=text, nodes=tuple(nodes), more_versions=more), direction, limits)

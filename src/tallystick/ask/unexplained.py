"""Of which files that agents wrote no one can say who asked for them.

Owns that report: every file that a call made or changed, less those whose causes end at a prompt.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.nodes import Node, RequestNode, SessionNode, describe
from tallystick.graph.resources import Named, WrittenFile, shown_name, written_files
from tallystick.graph.upstream import Upstream
from tallystick.lineage.walk import CutReason, Limits, NodeId, NodeKind, Walked, walk
from tallystick.workspace.index import Index

_DEPTH = 200
_MOST_NODES = 2_000
_MOST_EDGES = 50


class Unexplained(msgspec.Struct, frozen=True, kw_only=True):
    """A file, the step that wrote it last, and why its causes end at no prompt."""

    path: str
    step: str
    why_not: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """How many files agents wrote, how many lead to a prompt, and the others."""

    written: int
    explained: int
    unexplained: tuple[Unexplained, ...]


def report(index: Index) -> Report:
    """Follow every file that an agent wrote to the prompt that asked for it. Raises GraphError."""
    told: dict[tuple[str, int | None], str | None] = {}
    files = written_files(index.graph)
    lost: list[Unexplained] = []
    for file in files:
        key = (file.session, file.request)
        if key not in told:
            told[key] = _why_not(index, file)
        why_not = told[key]
        if why_not is not None:
            name = shown_name(Named("file", file.uri))
            lost.append(Unexplained(path=name, step=f"{file.session}:{file.n}", why_not=why_not))
    return Report(written=len(files), explained=len(files) - len(lost), unexplained=tuple(lost))


def _why_not(index: Index, file: WrittenFile) -> str | None:
    """Why the step that wrote a file leads to no prompt; None if it leads to one."""
    start = [NodeId(NodeKind.STEP, file.step)]
    walked = walk(start, Upstream(index.graph, ()), Limits(depth=_DEPTH, nodes=_MOST_NODES, edges_a_node=_MOST_EDGES))
    rows = describe(index.graph, walked.nodes)
    if any(isinstance(row, RequestNode) and row.prompt is not None for row in rows.values()):
        return None
    if any(cut.why is CutReason.MISSING for cut in walked.cuts):
        return f"what began session {_last(walked, rows)} is not recorded"
    return f"session {_last(walked, rows)} has no prompt of a human"


def _last(walked: Walked, rows: dict[NodeId, Node]) -> str:
    """The session that is farthest from the start."""
    sessions = [row.session for node in walked.nodes if isinstance(row := rows.get(node), SessionNode)]
    if sessions:
        return sessions[-1][:8]
    return "?"

"""Of which files that agents wrote no one can say who asked for them.

Owns that report: every file that a call made or changed, less those whose causes end at a prompt.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.nodes import SessionNode, describe
from tallystick.graph.prompts import NOT_RECORDED, At, asked_for
from tallystick.graph.resources import Named, WrittenFile, shown_name, written_files
from tallystick.lineage.walk import NodeId, NodeKind
from tallystick.workspace.index import Index

_DIGITS = 8


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
    found = asked_for(index.graph, At(file.step, file.n, file.request, file.at_ms))
    if found.prompt is not None:
        return None
    node = NodeId(NodeKind.SESSION, found.end or 0)
    about = describe(index.graph, [node]).get(node)
    session = about.session[:_DIGITS] if isinstance(about, SessionNode) else "?"
    if found.why_not == NOT_RECORDED:
        return f"what began session {session} is not recorded"
    return f"session {session} has no prompt of a human before it"

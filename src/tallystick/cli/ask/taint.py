"""`tally taint`: the sources of content, and how far each is trusted, as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run
from tallystick.cli.steps import short
from tallystick.display.text import one_line, width_of

if TYPE_CHECKING:
    from tallystick.ask.taint import TaintTree
    from tallystick.lineage.taint_tree import TaintNode

_LEAST = 24
_COLORS = {"untrusted": "red", "vetted": "yellow", "trusted": "green"}
_VIA = {"command": "from ", "quote": "quotes ", "model": "after ", "change": "changed from "}


@click.command(
    cls=Command,
    example="tally taint a3f9:17\ntally taint a3f9\ntally taint docs/plan.md\ntally taint https://example.org --json",
)
@click.argument("start", shell_complete=completing.steps_or_paths)
@pass_run
def taint(run: Run, start: str) -> None:
    """Trace content back to its untrusted and secret sources.

    START is a step (SESSION:N, a hash), a path, a URL, or a session: then the calls that follow or run untrusted
    content, or pass on a secret. Each line has the source, how far it is trusted, its block (b and the number of the
    entry), and the step. Trusted sources are left out.
    """
    from tallystick.ask.taint import taint_tree
    from tallystick.workspace.indexing import open_index

    with open_index(run.home) as index:
        run.take(index.remarks)
        found = taint_tree(run.home, index, start, folder=str(Path.cwd()))
    run.answer("taint", found, _tree_text(found, run.width))


def _tree_text(found: TaintTree, width: int) -> Iterator[str]:
    for root in found.roots:
        yield from _node_lines(root, "", "", width)
    if not found.roots:
        yield "no call of it follows or runs untrusted content, or passes on a secret"
    elif not any(root.children for root in found.roots) and found.trust == "trusted" and not found.is_sensitive:
        yield "no untrusted or secret source is recorded"


def _node_lines(node: TaintNode, before: str, below: str, width: int) -> Iterator[str]:
    yield _line(node, before, width)
    last = len(node.children) - 1 + bool(node.left_out)
    for position, child in enumerate(node.children):
        branch, stem = "├─ ", "│  "
        if position == last:
            branch, stem = "└─ ", "   "
        yield from _node_lines(child, below + branch, below + stem, width)
    if node.left_out:
        yield click.style(f"{below}└─ … cut here: {counted(node.left_out, 'source')} more", fg="yellow")


def _line(node: TaintNode, before: str, width: int) -> str:
    place = ""
    if node.session is not None:
        place = f"  {short(node.session)}:{node.n}"
    after, level, words, color = place, str(node.trust), before, _COLORS[node.trust]
    if node.block is not None:
        after = f"  {node.block}{place}"
    if node.confidence < 1:
        after += f"  {node.confidence:.2g}"
    if node.is_repeat:
        after += "  (see above)"
    if node.is_sensitive:
        level, color = f"{level}, sensitive", "red"
    if node.differs:
        after += f"  {_difference(node)}"
    if node.via is not None:
        words += _VIA[node.via]
    room = max(width - width_of(words) - len(level) - len(after) - 2, _LEAST)
    what = one_line(node.source)
    if not (width_of(what) <= room):
        what = f"…{what[-room + 1 :]}"
    if words:
        words = click.style(words, dim=True)
    return f"{words}{what}  {click.style(level, fg=color)}{click.style(after, dim=True)}".rstrip()


def _difference(node: TaintNode) -> str:
    """What the agent's own log says, and what was found, where that is not the same."""
    found = f"found {node.found}"
    if node.found == "trusted":
        found = "nothing found here"
    return f"agent says {node.declared}, {found}"

"""`tally session tree`: the tree of sessions."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run, table
from tallystick.cli.progress import opened_index
from tallystick.cli.steps import short
from tallystick.display.amounts import cost_text, count_or_blank, short_count
from tallystick.display.text import cut, first_line, one_line, width_of

if TYPE_CHECKING:
    from tallystick.review.sessions import Branch, Total, Tree

_HEAD = ("SESSION", "STATUS", "AGENT", "TOKENS", "COST", "STEPS", "CALLS", "FAILED", "MARKS", "GOAL OR TITLE")
_NUMBERS = frozenset(("TOKENS", "COST", "STEPS", "CALLS", "FAILED", "MARKS"))
_FIRST_TO_GO = ("CALLS", "MARKS", "TOKENS", "FAILED")
"""Columns that are left out where the terminal is too narrow."""
_LEAST_TITLE = 16
_MOST_DRAWN = 1_000


@click.command("tree", cls=Command, example="tally session tree a3f9\ntally session tree a3f9 --depth 2")
@click.argument("name", metavar="[SESSION]", required=False, shell_complete=completing.sessions)
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="At most this many levels below SESSION, and above it towards its root.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"At most this many sessions.  [default: {_MOST_DRAWN:,}; with --json all]",
)
@pass_run
def tree(run: Run, name: str | None, depth: int, limit: int | None) -> None:
    """Draw the tree of sessions: sub-agents, continuations, forks.

    With SESSION: the path up to its root, and its child sessions; without SESSION the trees of all. MARKS counts
    checkpoints. A cost is that of the tokens at the prices of their models; unknown where a model has no known price.
    """
    from tallystick.review.sessions import session_tree

    with _unswept():
        with opened_index(run) as index:
            if limit is not None or run.json:
                most = limit
            else:
                most = _MOST_DRAWN
            found = session_tree(run.home, index, name, depth=depth, limit=most)
            run.take(index.remarks)
        run.answer("tree", lambda: tree_data(found), tree_text(found, run.width), version=2)


@contextmanager
def _unswept() -> Iterator[None]:
    """Without garbage collection: for 10,000 sessions it takes a third of the time, and sessions form no reference cycles."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


def tree_data(found: Tree) -> dict[str, object]:
    """The tree with --json."""
    return {
        "sessions": [_branch_data(branch) for branch in found.branches],
        "left_out": found.left_out,
        "total": _total_data(found.total),
    }


def _branch_data(branch: Branch) -> dict[str, object]:
    row, about, session = branch.row, branch.about, branch.session
    return {
        "session": row.session,
        "depth": row.depth,
        "standing": row.standing.value,
        "kind": row.kind,
        "agent": session.agent,
        "status": session.status,
        "status_by_parent": session.status_by_parent,
        "left_open": branch.left_open,
        "goal": session.goal,
        "run": session.run,
        "workspace": session.workspace,
        "started": session.started,
        "closed": session.closed,
        "steps": session.steps,
        "tool_calls": session.tool_calls,
        "failures": session.failures,
        "checkpoints": about.checkpoints,
        "tokens": session.tokens,
        "cost_microusd": about.cost.microusd,
        "unpriced_models": about.cost.unknown,
        "title": session.title,
        "parent": session.parent,
        "claimed": row.claimed,
        "missing_parent": row.missing_parent,
        "in_circle": row.in_circle,
        "skipped": row.skipped,
        "hidden": row.hidden,
    }


def _total_data(total: Total) -> dict[str, object]:
    return {
        "sessions": total.sessions,
        "by_status": total.by_status,
        "steps": total.steps,
        "tool_calls": total.tool_calls,
        "failures": total.failures,
        "checkpoints": total.checkpoints,
        "tokens": total.tokens,
        "cost_microusd": total.cost.microusd,
        "unpriced_models": total.cost.unknown,
    }


def tree_text(found: Tree, width: int) -> Iterator[str]:
    """The tree as text: one line for each session, then the total of the session asked for and its child sessions."""
    branches = found.branches
    if not branches:
        yield "no sessions"
        return
    rows = [_cells(branch) for branch in branches]
    columns, used = _columns(rows, width)
    room = max(width - used, _LEAST_TITLE)
    cells = [(*(row[column] for column in columns[:-1]), cut(row[columns[-1]], room)) for row in rows]
    right = frozenset(number for number, column in enumerate(columns) if column in _NUMBERS)
    lines = table(cells, head=columns, right=right)
    yield next(lines)
    for branch, line in zip(branches, lines, strict=True):
        if branch.row.skipped:
            yield click.style(f"   ⋮  {branch.row.skipped:,} more between are not drawn", dim=True)
        if branch.row.standing.value == "asked" and branch.row.depth:
            yield click.style(line, bold=True)
        else:
            yield line
    if found.left_out:
        yield click.style(f"   ⋮  {found.left_out:,} more are not drawn; --limit N draws N", dim=True)
    roots = [branch.row.session for branch in branches if branch.row.standing.value == "asked"]
    asked = found.asked or (roots[0] if len(roots) == 1 and not found.left_out else None)
    whose = "all sessions"
    if asked is not None:
        whose = f"{short(asked)} and its child sessions"
    yield f"{click.style(f'{whose}:', dim=True)} {total_text(found.total)}"


def _cells(branch: Branch) -> Mapping[str, str]:
    row, session, about = branch.row, branch.session, branch.about
    kind = ""
    if row.kind != "root":
        kind = f" {cut(one_line(row.kind), 12)}"
    return {
        "SESSION": f"{row.lines}{short(row.session)}{kind}",
        "STATUS": cut(one_line(session.status), 10),
        "AGENT": cut(one_line(session.agent), 16),
        "TOKENS": short_count(session.tokens.total) if session.tokens.total else "",
        "COST": cost_text(about.cost.microusd, about.cost.unknown),
        "STEPS": f"{session.steps:,}",
        "CALLS": count_or_blank(session.tool_calls),
        "FAILED": count_or_blank(session.failures),
        "MARKS": count_or_blank(about.checkpoints),
        "GOAL OR TITLE": f"{_odd(branch)}{first_line(session.goal or session.title or '', 200)}",
    }


def _columns(rows: list[Mapping[str, str]], width: int) -> tuple[tuple[str, ...], int]:
    """The columns that are not empty, fewer where they do not fit; and the width of all but the last."""
    widths = {column: max(width_of(row[column]) for row in rows) for column in _HEAD[:-1]}
    shown = {column: max(len(column), wide) + 2 for column, wide in widths.items() if wide}
    for column in _FIRST_TO_GO:
        if sum(shown.values()) + _LEAST_TITLE <= width:
            break
        shown.pop(column, None)
    return (*shown, _HEAD[-1]), sum(shown.values())


def _odd(branch: Branch) -> str:
    """What is unusual about a session's place in the tree, and what is not drawn of it."""
    row, odd = branch.row, []
    if row.in_circle:
        odd.append("its parents form a cycle")
    elif row.missing_parent is not None:
        odd.append(f"its parent {one_line(row.missing_parent)[:40]} is not recorded")
    if row.claimed and not row.missing_parent:
        odd.append("claimed")
    if branch.left_open:
        odd.append("left open")
    if row.hidden:
        odd.append(f"{row.hidden:,} more not drawn")
    if odd:
        return f"[{'; '.join(odd)}] "
    return ""


def total_text(total: Total) -> str:
    """The total of a session and its child sessions, in one sentence."""
    statuses = ", ".join(f"{number:,} {status}" for status, number in total.by_status.items())
    said = [
        f"{counted(total.sessions, 'session')} ({statuses})",
        counted(total.steps, "step"),
        counted(total.tool_calls, "call"),
    ]
    if total.failures:
        said.append(f"{total.failures:,} failed")
    if total.checkpoints:
        said.append(counted(total.checkpoints, "checkpoint"))
    if total.tokens.total:
        said.append(f"{total.tokens.total:,} tokens")
    cost = cost_text(total.cost.microusd, total.cost.unknown)
    if cost:
        said.append(f"cost {cost}{_unknown_text(total.cost.unknown)}")
    return ", ".join(said)


def _unknown_text(models: tuple[str, ...]) -> str:
    """Which models have no known price."""
    if not models:
        return ""
    names = ", ".join(one_line(model)[:60] or "an unnamed model" for model in models[:3])
    return f" (no price for: {names}{', …' if len(models) > 3 else ''})"

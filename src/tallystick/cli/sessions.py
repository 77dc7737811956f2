"""`tally session`: lists of sessions, one in detail, and their tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tallystick.cli.filters import limit_option, time_option
from tallystick.cli.frame import Command, Group
from tallystick.cli.run import Run, counted, labelled, pass_run, path_text, table
from tallystick.cli.steps import short
from tallystick.display.outcome import tokens_text
from tallystick.display.text import cut, first_line, one_line, width_of

if TYPE_CHECKING:
    from tallystick.operations.sessions import Branch, SessionDetail
    from tallystick.sessions.tree import TreeRow
    from tallystick.store.queries import RequestRow, SessionRow


STATUSES = ("active", "merged", "discarded", "completed", "failed")
_REQUESTS_SHOWN = 50

session = Group(
    "session",
    lazy={
        "list": ("tallystick.cli.sessions:list_", "List sessions, the one with the newest step first."),
        "show": ("tallystick.cli.sessions:show", "One session: what it is, its prompts, what hangs on it."),
        "tree": ("tallystick.cli.sessions:tree", "How sessions hang together: sub-agents, continuations, forks."),
    },
    help="List sessions, show one, draw their tree.",
)


# The list ------------------------------------------------------------------------------------------------------------


@click.command("list", cls=Command, example="tally session list --agent claude-code --since 2d")
@limit_option("sessions")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(STATUSES),
    help="Sessions with this status. May be repeated.",
)
@click.option("--agent", "agents", multiple=True, metavar="A", help="Sessions of this agent. May be repeated.")
@time_option("--since", "Sessions with a step from this time on: 2026-11-21, 3h, today (UTC).")
@pass_run
def list_(run: Run, limit: int | None, statuses: tuple[str, ...], agents: tuple[str, ...], since: str | None) -> None:
    """List sessions, the one with the newest step first."""
    from tallystick.operations.project import open_index
    from tallystick.operations.sessions import list_sessions
    from tallystick.store.queries import SessionFilter

    most = run.limit(limit)
    with open_index(run.home) as index:
        run.take(index.remarks)
        found = list_sessions(index, SessionFilter(statuses=statuses, agents=agents, since=since, limit=most + 1))
    rows, has_more = found[:most], len(found) > most
    run.answer("sessions", {"sessions": rows, "has_more": has_more}, list_text(rows, run.width))
    if has_more:
        run.note(f"there are more than these {len(rows)}: --limit N shows N")


_HEAD = ("SESSION", "AGENT", "KIND", "STATUS", "LAST STEP (UTC)", "STEPS", "FAILED", "TITLE")


def list_text(rows: tuple[SessionRow, ...], width: int) -> Iterator[str]:
    """The list for a person."""
    if not rows:
        yield "no sessions"
        return
    cells = [_cells(row) for row in rows]
    used = sum(max(map(width_of, column)) + 2 for column in list(zip(_HEAD, *cells, strict=True))[:-1])
    fitted = [(*row[:-1], cut(row[-1], max(width - used, 20))) for row in cells]
    yield from table(fitted, head=_HEAD, right=frozenset((5, 6)))


def _cells(row: SessionRow) -> tuple[str, ...]:
    return (
        short(row.session),
        cut(one_line(row.agent), 16),
        cut(one_line(row.kind), 12),
        cut(one_line(row.status), 12),
        _time(row.last),
        f"{row.steps:,}",
        f"{row.failures:,}" if row.failures else "",
        first_line(row.title or "", 200),
    )


def _time(text: str | None) -> str:
    return one_line(text[:16].replace("T", " ")) if text else ""


# One session ---------------------------------------------------------------------------------------------------------


@click.command("show", cls=Command, example="tally session show a3f9")
@click.argument("name", metavar="SESSION")
@pass_run
def show(run: Run, name: str) -> None:
    """One session: what it is, its prompts, what hangs on it. SESSION is our id, the agent's own, or a beginning of one."""
    from tallystick.operations.project import open_index
    from tallystick.operations.sessions import session_detail

    with open_index(run.home) as index:
        run.take(index.remarks)
        found = session_detail(run.home, index, name)
    run.answer("session", found, _detail_text(found, run.width))


def _detail_text(found: SessionDetail, width: int) -> Iterator[str]:
    row = found.session
    yield click.style(f"{short(row.session)}  {first_line(row.title or '(no prompt)', max(width - 10, 20))}", bold=True)
    yield from labelled(_facts(found), indent="  ")
    if found.requests:
        yield click.style("  prompts", bold=True)
        yield from (
            f"  {line}"
            for line in table(_request_cells(found.requests, width), head=_REQUEST_HEAD, right=frozenset((2, 3, 4)))
        )
    if len(found.requests) > _REQUESTS_SHOWN:
        yield f"  … and {len(found.requests) - _REQUESTS_SHOWN} more; --json has them all"
    if found.children:
        yield click.style("  sessions that hang on it", bold=True)
        yield from (f"    {short(link.session)}  {one_line(link.kind)}" for link in found.children)


def _facts(found: SessionDetail) -> Iterator[tuple[str, str]]:
    row = found.session
    yield "session", one_line(row.session)
    yield "agent", one_line(row.agent)
    yield "its own id", one_line(row.source_session or "")
    yield "kind", one_line(row.kind) + _parent_text(row)
    yield "status", one_line(row.status)
    yield "from", one_line((row.started or "").replace("T", " ").replace("Z", " UTC"))
    yield "to", one_line((row.last or "").replace("T", " ").replace("Z", " UTC"))
    yield "model", one_line(row.model or "")
    yield "cwd", first_line(row.cwd or "", 200)
    yield "steps", f"{row.steps:,} in {counted(row.size, 'entry', 'entries')}, {_calls(row)}"
    yield "tokens", tokens_text({name: getattr(row.tokens, name) for name in row.tokens.__struct_fields__})
    yield "sealed", _sealed(found)
    yield "journal", path_text(found.path) if found.path is not None else "gone"


def _parent_text(row: SessionRow) -> str:
    if row.parent is not None:
        return f" of {short(row.parent)}{' (claimed by the agent, not sealed)' if row.claimed else ''}"
    if row.claimed_session is not None:
        return f" of {one_line(row.claimed_session)}, which is not recorded"
    return ""


def _calls(row: SessionRow) -> str:
    failed = f", {row.failures:,} failed" if row.failures else ""
    return f"{counted(row.requests, 'prompt')}, {counted(row.tool_calls, 'tool call')}{failed}"


def _sealed(found: SessionDetail) -> str:
    behind = found.session.size - found.sealed_size
    if behind <= 0:
        return "all of it is under a head"
    return f"{found.sealed_size:,} entries are under a head, {behind:,} not yet"


_REQUEST_HEAD = ("STEP", "TIME (UTC)", "STEPS", "CALLS", "FAILED", "PROMPT")


def _request_cells(requests: tuple[RequestRow, ...], width: int) -> Iterator[tuple[str, ...]]:
    from datetime import UTC, datetime

    for request in requests[:_REQUESTS_SHOWN]:
        when = datetime.fromtimestamp(request.created_at_ms / 1000, UTC)
        yield (
            f"{short(request.session)}:{request.n}",
            f"{when:%Y-%m-%d %H:%M:%S}",
            f"{request.steps:,}",
            f"{request.tool_calls:,}",
            f"{request.failures:,}" if request.failures else "",
            first_line(request.prompt or "", max(width - 66, 20)),
        )


# The tree ------------------------------------------------------------------------------------------------------------


@click.command("tree", cls=Command, example="tally session tree a3f9 --depth 2")
@click.argument("name", metavar="[SESSION]", required=False)
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="So many levels below SESSION.  [default: all]")
@pass_run
def tree(run: Run, name: str | None, depth: int | None) -> None:
    """How sessions hang together: sub-agents, continuations, forks.

    SESSION's own tree: the path up to its root, and what hangs on it; without SESSION the trees of all.
    """
    from tallystick.operations.project import open_index
    from tallystick.operations.sessions import session_tree

    with open_index(run.home) as index:
        run.take(index.remarks)
        found = session_tree(index, name, depth=depth)
    run.answer("tree", [_branch_data(branch) for branch in found] if run.json else None, tree_text(found, run.width))


def _branch_data(branch: Branch) -> dict[str, object]:
    row = branch.row
    return {
        "session": row.session,
        "depth": row.depth,
        "standing": row.standing.value,
        "kind": row.kind,
        "agent": branch.session.agent,
        "status": branch.session.status,
        "steps": branch.session.steps,
        "title": branch.session.title,
        "claimed": row.claimed,
        "missing_parent": row.missing_parent,
        "in_circle": row.in_circle,
        "hidden": row.hidden,
    }


def tree_text(branches: tuple[Branch, ...], width: int) -> Iterator[str]:
    """The tree for a person: one line a session."""
    from tallystick.sessions.tree import Standing

    if not branches:
        yield "no sessions"
    for branch in branches:
        row, about = branch.row, branch.session
        words = (
            f"{one_line(about.agent)} {one_line(row.kind)}, {one_line(about.status)}, {counted(about.steps, 'step')}"
        )
        line = f"{row.lines}{short(row.session)}  {words}{_marks(row)}"
        title = first_line(about.title or "", max(width - width_of(line) - 2, 20))
        shown = f"{line}  {title}".rstrip()
        yield click.style(shown, bold=True) if row.standing is Standing.ASKED and row.depth else shown


def _marks(row: TreeRow) -> str:
    """What is odd about a session's place in the tree, and what is not drawn of it."""
    marks = []
    if row.in_circle:
        marks.append("its parents go round in a circle")
    elif row.missing_parent is not None:
        marks.append(f"its parent {one_line(row.missing_parent)[:40]} is not recorded")
    if row.claimed and not row.missing_parent:
        marks.append("claimed")
    if row.hidden:
        marks.append(f"{row.hidden:,} more not drawn")
    return f" [{'; '.join(marks)}]" if marks else ""

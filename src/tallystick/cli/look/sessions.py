"""`tally session`: lists of sessions, and one in detail. The other commands of the group have files of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli import completing
from tallystick.cli.command import Command, Group
from tallystick.cli.context import Run, counted, labelled, pass_run, path_text, table
from tallystick.cli.filters import limit_option, project_option, time_option
from tallystick.cli.progress import opened_index
from tallystick.cli.steps import short
from tallystick.display.amounts import cost_text, count_or_blank
from tallystick.display.outcome import plain, tokens_text
from tallystick.display.text import cut, first_line, one_line
from tallystick.sessions.wording import ERASED

if TYPE_CHECKING:
    from tallystick.graph.queries import RequestRow, SessionRow
    from tallystick.model.step import Json
    from tallystick.review.sessions import About, SessionDetail, Workflow


STATUSES = ("active", "merged", "discarded", "completed", "failed")
_REQUESTS_SHOWN = 50
_CHILDREN_SHOWN = 50
_REFUSED_SHOWN = 10
_MEMBERS_SHOWN = 20

session = Group(
    "session",
    lazy={
        "list": ("tallystick.cli.look.sessions:list_", "List sessions, the one with the newest step first."),
        "show": ("tallystick.cli.look.sessions:show", "Show one session: its facts, prompts and child sessions."),
        "provenance": (
            "tallystick.cli.look.session_provenance:provenance",
            "Where a conversation comes from: each session up to the first, and its compactions.",
        ),
        "tree": (
            "tallystick.cli.look.session_tree:tree",
            "Draw the tree of sessions: sub-agents, continuations, forks.",
        ),
        "diff": (
            "tallystick.cli.look.session_diff:diff",
            "How two sessions differ: the first difference, the actions and results of each, and their configurations.",
        ),
    },
    help="List sessions, show one, draw their tree, compare two.",
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
@click.option("--run", "runs", multiple=True, metavar="R", help="Sessions of this run. May be repeated.")
@click.option("--workspace", "workspaces", multiple=True, metavar="W", help="Sessions of this workspace.")
@click.option("--parent", "parents", multiple=True, metavar="SESSION", help="Child sessions of this one.")
@time_option("--since", "Sessions with a step from this time on: 2026-11-21, 3h, today (UTC).")
@project_option
@pass_run
def list_(run: Run, /, limit: int | None, projects: tuple[str, ...], **wanted: Any) -> None:
    """List sessions, the one with the newest step first."""
    from tallystick.graph.projects import folders_of
    from tallystick.graph.queries import SessionFilter
    from tallystick.review.sessions import describe, list_sessions, workflow_of

    most = run.limit(limit)
    with opened_index(run) as index:
        folders = folders_of(index.graph, projects)
        found = list_sessions(index, SessionFilter(**wanted, folders=folders, limit=most + 1))
        rows, has_more = found[:most], len(found) > most
        about = describe(run.home, index, [row.session for row in rows])
        workflows = {row.session: workflow_of(run.home, index, row) for row in rows}
        run.take(index.remarks)
    data = {
        "sessions": [{**row_data(row, about[row.session]), "workflow": workflows[row.session]} for row in rows],
        "has_more": has_more,
    }
    run.answer("sessions", data if run.json else None, list_text(rows, about, workflows, run.width))
    if has_more:
        run.note(f"Showing {len(rows)}; --limit N shows more")


_HEAD = ("SESSION", "AGENT", "KIND", "STATUS", "LAST STEP (UTC)", "STEPS", "FAILED", "COST", "GOAL OR TITLE")


def row_data(row: SessionRow, about: About) -> dict[str, Any]:
    """A session's row with --json: what the index has of it, and its total."""
    from msgspec.structs import asdict

    return {
        **asdict(row),
        "depth": about.depth,
        "checkpoints": about.checkpoints,
        "cost_microusd": about.cost.microusd,
        "unpriced_models": about.cost.unknown,
    }


def list_text(
    rows: tuple[SessionRow, ...], about: Mapping[str, About], workflows: Mapping[str, Workflow | None], width: int
) -> Iterator[str]:
    """The list as text."""
    if not rows:
        yield "no sessions"
        return
    cells = [_cells(row, about[row.session], workflows.get(row.session)) for row in rows]
    yield from table(cells, head=_HEAD, right=frozenset((5, 6, 7)), width=width, gives={1: 8, 2: 5, 3: 6, 8: 16})


def _cells(row: SessionRow, about: About, workflow: Workflow | None) -> tuple[str, ...]:
    return (
        short(row.session),
        cut(one_line(row.agent), 16),
        cut(one_line(row.kind), 12),
        cut(one_line(row.status), 12),
        _time(row.last),
        f"{row.steps:,}",
        count_or_blank(row.failures),
        cost_text(about.cost.microusd, about.cost.unknown),
        first_line(row.goal or _workflow_text(workflow) or row.title or "", 200),
    )


def _workflow_text(found: Workflow | None) -> str:
    """A workflow in short: `release-notes (version = 2.4.0) → draft = …`."""
    if found is None:
        return ""
    inputs, outputs = (", ".join(_said(members)) for members in (found.inputs, found.outputs))
    text = found.name
    if inputs:
        text += f" ({inputs})"
    if outputs:
        text += f" → {outputs}"
    return text


def _said(members: Mapping[str, Json]) -> Iterator[str]:
    """Members as `name = value`, as many as are shown."""
    for name in islice(members, _MEMBERS_SHOWN):
        yield first_line(f"{name} = {plain(members[name])}", 200)


def _time(text: str | None) -> str:
    if text:
        return one_line(text[:16].replace("T", " "))
    return ""


# One session ---------------------------------------------------------------------------------------------------------


@click.command("show", cls=Command, example="tally session show a3f9")
@click.argument("name", metavar="SESSION", shell_complete=completing.sessions)
@pass_run
def show(run: Run, name: str) -> None:
    """Show one session: its facts, prompts and child sessions. SESSION is our id, the agent's own, or a beginning of one."""
    from tallystick.review.sessions import session_detail

    with opened_index(run) as index:
        found = session_detail(run.home, index, name)
        run.take(index.remarks)
    run.answer("session", found, _detail_text(found, run.width))


def _detail_text(found: SessionDetail, width: int) -> Iterator[str]:
    from tallystick.cli.under import change_lines

    row = found.session
    yield click.style(f"{short(row.session)}  {first_line(row.title or '(no prompt)', max(width - 10, 20))}", bold=True)
    yield from labelled(_facts(found), indent="  ")
    if found.under is not None and found.under.changes:
        yield click.style("  configuration changes", bold=True)
        yield from (f"    {line}" for line in change_lines(found.under, width - 4))
    if found.requests:
        yield click.style("  prompts", bold=True)
        yield from (
            f"  {line}"
            for line in table(_request_cells(found.requests, width), head=_REQUEST_HEAD, right=frozenset((2, 3, 4)))
        )
    if len(found.requests) > _REQUESTS_SHOWN:
        yield f"  … and {len(found.requests) - _REQUESTS_SHOWN} more; --json lists all"
    yield from _below(found)


def _below(found: SessionDetail) -> Iterator[str]:
    """What belongs to a session, and what is odd about it."""
    from tallystick.cli.look.session_tree import total_text

    if found.children:
        yield click.style("  child sessions", bold=True)
        for child in found.children[:_CHILDREN_SHOWN]:
            is_open = ""
            if child.left_open:
                is_open = " (left open: it did not end, although this session has)"
            yield f"    {short(child.session)}  {one_line(child.kind)}, {child.status}{is_open}"
        if len(found.children) > _CHILDREN_SHOWN:
            yield f"    … and {len(found.children) - _CHILDREN_SHOWN} more; `tally session tree` draws them"
        yield f"    total with child sessions: {total_text(found.total)}"
    for refused in found.life.refused[:_REFUSED_SHOWN]:
        word = ""
        if refused.word and refused.word != refused.then:
            word = f" ({one_line(refused.word)[:40]})"
        said = f"step {refused.n} says {refused.then.value}{word}, which does not follow from {refused.now.value}"
        yield click.style(f"  {said}: ignored", fg="yellow")


def _facts(found: SessionDetail) -> Iterator[tuple[str, str]]:
    from tallystick.cli.under import facts

    row = found.session
    yield "session", one_line(row.session)
    yield "agent", one_line(row.agent)
    yield "agent's id", one_line(row.source_session or "")
    yield "kind", one_line(row.kind) + _parent_text(row)
    if found.about.depth:
        yield "depth", f"{found.about.depth}, below {short(found.root)}"
    yield "status", _status(found)
    yield "goal", first_line(row.goal or "", 200)
    yield from _workflow(found)
    yield "run", one_line(row.run or "")
    yield "workspace", first_line(row.workspace or "", 200)
    yield "from", _moment(row.started)
    yield "not before", _after(found)
    yield "to", _moment(row.last)
    yield "ended", _moment(row.closed) if (row.closed or "")[:23] != (row.last or "")[:23] else ""
    yield "model", one_line(row.model or "")
    yield "cwd", first_line(row.cwd or "", 200)
    yield "steps", f"{row.steps:,} in {counted(row.size, 'entry', 'entries')}, {_calls(row)}"
    yield "tokens", tokens_text({name: getattr(row.tokens, name) for name in row.tokens.__struct_fields__})
    yield "cost", cost_text(found.about.cost.microusd, found.about.cost.unknown)
    yield "checkpoints", count_or_blank(found.about.checkpoints)
    yield from facts(found.under)
    yield "sealed", _sealed(found)
    yield "journal", path_text(found.path) if found.path is not None else "gone"


def _workflow(found: SessionDetail) -> Iterator[tuple[str, str]]:
    """The workflow that it runs, with each input and output on a line of its own."""
    if found.workflow is None:
        return
    yield "workflow", first_line(found.workflow.name, 200)
    for label, members in (("input", found.workflow.inputs), ("output", found.workflow.outputs)):
        yield from ((label, said) for said in _said(members))
        if len(members) > _MEMBERS_SHOWN:
            yield label, f"… and {len(members) - _MEMBERS_SHOWN} more; --json lists all"


def _after(found: SessionDetail) -> str:
    """The date from an outside source that its first entry names."""
    words = (str(found.after.get(name) or "") for name in ("kind", "target", "receipt"))
    at = _moment(str(found.after.get("at") or ""))
    if found.after:
        return cut(one_line(f"{at}, confirmed by {' '.join(filter(None, words))}"), 200)
    return ""


def _moment(text: str | None) -> str:
    return one_line((text or "").replace("T", " ").replace("Z", " UTC"))


def _status(found: SessionDetail) -> str:
    status, word = one_line(found.session.status), found.life.word
    if found.session.status_by_parent:
        return f"{status} (reported by its parent session)"
    if word:
        return f"{status} (reported: {one_line(word)[:40]!r})"
    return status


def _parent_text(row: SessionRow) -> str:
    if row.parent is not None:
        return f" of {short(row.parent)}{' (claimed by the agent, not sealed)' if row.claimed else ''}"
    if row.claimed_session is not None:
        return f" of {one_line(row.claimed_session)}, which is not recorded"
    return ""


def _calls(row: SessionRow) -> str:
    failed = ""
    if row.failures:
        failed = f", {row.failures:,} failed"
    return f"{counted(row.requests, 'prompt')}, {counted(row.tool_calls, 'tool call')}{failed}"


def _sealed(found: SessionDetail) -> str:
    behind = found.session.size - found.sealed_size
    if behind <= 0:
        return "all entries are covered by a head"
    return f"{found.sealed_size:,} entries are covered by a head, {behind:,} not yet"


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
            count_or_blank(request.failures),
            first_line(_asked(request), max(width - 66, 20)),
        )


def _asked(request: RequestRow) -> str:
    """The words of a request, after its kind if no one typed it as a prompt."""
    words = ERASED if request.is_erased else request.prompt or ""
    return words if request.kind in (None, "prompt") else f"[{request.kind}] {words}"

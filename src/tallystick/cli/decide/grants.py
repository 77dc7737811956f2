"""`tally policy grants` and `tally policy release`: what a person allows, for a session, a project, or one call once."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from tallystick.cli import completing
from tallystick.cli.command import Command, Group
from tallystick.cli.context import Run, counted, pass_run, table
from tallystick.cli.filters import time_option
from tallystick.display.text import first_line, one_line
from tallystick.errors import UsageError

if TYPE_CHECKING:
    from tallystick.guard.grants import Listed, Stopped, Suggested
    from tallystick.model.grant import Grant, GrantKind

_UNITS_US = {"min": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_SPAN = re.compile(r"(\d{1,6})(min|h|d)")

grants = Group(
    "grants",
    lazy={
        "list": (
            "tallystick.cli.decide.grants:list_",
            "List what people allowed: by a command, or by a yes in a session",
        ),
        "add": (
            "tallystick.cli.decide.grants:add",
            "Allow what a call was asked about, for its session or its project",
        ),
        "revoke": ("tallystick.cli.decide.grants:revoke", "Take a grant back"),
        "suggest": (
            "tallystick.cli.decide.grants:suggest",
            "Suggest grants for the questions that were always answered with yes.",
        ),
    },
    help="What people allowed, each grant sealed: rule, scope, session or project, until when.",
)


def _span(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    found = _SPAN.fullmatch(value)
    if found is None:
        raise click.BadParameter("use 30min, 2h or 7d", context, parameter)
    return int(found[1]) * _UNITS_US[found[2]]


_for_option = click.option("--for", "for_us", metavar="SPAN", callback=_span, help="How long: 30min, 2h, 7d.")


def by_person(question: str) -> None:
    """Have a person at a terminal say yes. Raises UsageError: no person is there."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "this is answered by a person", hint="run it in a terminal, with its input and its messages not redirected"
        )
    click.confirm(question, default=False, abort=True, err=True)


# Granting -------------------------------------------------------------------------------------------------------------


@click.command(
    "add", cls=Command, example="tally policy grants add 3\ntally policy grants add a3f9:17 --project --for 7d"
)
@click.argument("name", metavar="ALERT|STEP", shell_complete=completing.steps)
@click.option("--project", is_flag=True, help="For every session in its project, not only for its own session.")
@_for_option
@pass_run
def add(run: Run, name: str, project: bool, for_us: int | None) -> None:
    """Allow what a call was asked about, for its session or its project.

    The grant covers the same rule, on the same path, host or command, and nothing else. It holds for 24 hours, or 30 days
    with --project. A rule that denies cannot be granted: see `tally policy release`. Asks for a yes in the terminal; agents
    are refused this command.
    """
    from tallystick.model.grant import GrantKind

    kind = GrantKind.SESSION
    if project:
        kind = GrantKind.PROJECT
    _give(run, name, kind, for_us)


@click.command("release", cls=Command, example="tally policy release 3\ntally policy release a3f9:17 --for 5min")
@click.argument("name", metavar="ALERT|STEP", shell_complete=completing.steps)
@_for_option
@pass_run
def release(run: Run, name: str, for_us: int | None) -> None:
    """Let one call that was stopped run once, in its session.

    It is that very call: the same arguments, and the same content of the files that it runs, as they are now. The agent has
    to make it again within 10 minutes. Rules of `tally.*` and `exfiltration.*` are lifted by nothing. Asks for a yes in the
    terminal; agents are refused this command.
    """
    from tallystick.model.grant import GrantKind

    _give(run, name, GrantKind.RELEASE, for_us)


def _give(run: Run, name: str, kind: GrantKind, for_us: int | None) -> None:
    from tallystick.guard import grant_folder
    from tallystick.guard.grants import find_stopped, granting
    from tallystick.workspace.indexing import open_index

    with open_index(run.home) as index:
        run.take(index.remarks)
        stopped = find_stopped(run.home, index, name)
    wanted = granting(run.home, stopped, kind, now_us=time.time_ns() // 1000, for_us=for_us)
    for line in _stopped_text(stopped, wanted):
        click.echo(line, err=True)
    by_person(_QUESTIONS[kind.value])
    given = grant_folder.give(run.home, wanted, ts=_now())
    run.answer("policy.grant", given, [f"granted until {_until(given)}: {one_line(given.id)}"])


_QUESTIONS = {
    "session": "Allow this in its session?",
    "project": "Allow this in every session of the project?",
    "release": "Let this call run once?",
}


def _stopped_text(stopped: Stopped, wanted: Grant) -> Iterator[str]:
    call = stopped.call
    args = call.args
    shown = args
    if isinstance(args, dict):
        shown = args.get("command", args)
    yield click.style(f"{one_line(stopped.name)}  {', '.join(map(one_line, stopped.rules))}", bold=True)
    yield f"  {one_line(stopped.reason)}"
    yield f"  {one_line(call.agent)}, {one_line(call.tool)}, in {one_line(call.cwd or 'an unknown folder')}"
    for line in str(shown).splitlines()[:40]:
        yield f"    {one_line(line)}"
    for scope in wanted.scopes:
        yield f"  allows: {one_line(f'{scope.rule}: {scope.action} {scope.target}')}"
    yield f"  until: {_until(wanted)}"


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def _until(grant: Grant) -> str:
    if not grant.until_us:
        return "the session ends"
    return (datetime.fromtimestamp(0, UTC) + timedelta(microseconds=grant.until_us)).strftime("%Y-%m-%d %H:%M UTC")


@click.command("revoke", cls=Command, example="tally policy grants revoke a3f9:17")
@click.argument("name", metavar="ID", shell_complete=completing.steps)
@pass_run
def revoke(run: Run, name: str) -> None:
    """Take a grant back. ID is as `tally policy grants list` shows it; a yes in a session is taken back too."""
    from tallystick.guard import grant_folder
    from tallystick.workspace.indexing import open_index
    from tallystick.workspace.names import find_step

    with open_index(run.home) as index:
        run.take(index.remarks)
        place = find_step(index, name)
    about = f"{place.session[:12]}:{place.n}"
    grant_folder.revoke(run.home, about, ts=_now())
    run.answer("policy.revoked", {"id": about}, [f"{about} is taken back: it is asked again"])


# Looking --------------------------------------------------------------------------------------------------------------


@click.command("list", cls=Command, example="tally policy grants list\ntally policy grants list --since 7d --json")
@time_option("--since", "Answers in sessions from this time on.  [default: 1d]")
@pass_run
def list_(run: Run, since: str | None) -> None:
    """List what people allowed: by a command, or by a yes in a session.

    Shows each grant's id, whether it is in force, what gave it, its rule and scope, and until when it holds.
    """
    from tallystick.cli.filters import read_moment
    from tallystick.guard.grants import list_grants
    from tallystick.workspace.indexing import open_index

    with open_index(run.home) as index:
        run.take(index.remarks)
        found = list_grants(run.home, index, since=since or read_moment("1d", datetime.now(UTC)))
    run.answer("policy.grants", {"grants": found}, _list_text(found, run.width))


def _list_text(found: list[Listed], width: int) -> Iterator[str]:
    if not found:
        yield "no grants"
        return
    rows = [
        (
            one_line(one.grant.id),
            "in force" if one.is_in_force else "ended",
            f"{one.grant.kind.value} by {one.by}",
            _until(one.grant),
            first_line(_covers(one.grant), 400),
        )
        for one in found
    ]
    yield from table(rows, head=("ID", "STATE", "KIND", "UNTIL", "COVERS"), width=width, gives={4: 24})


def _covers(grant: Grant) -> str:
    if not grant.scopes:
        return f"the call of {grant.about}"
    scopes = [f"{scope.rule}: {scope.action} {scope.target}" for scope in grant.scopes]
    return "; ".join(scopes)


@click.command("suggest", cls=Command, example="tally policy grants suggest\ntally policy grants suggest --since 30d")
@time_option("--since", "Questions from this time on: 2026-11-21, 2026-11-21T10:30, 3h, today (UTC).")
@pass_run
def suggest(run: Run, since: str | None) -> None:
    """Suggest grants for the questions that were always answered with yes. Grants nothing."""
    from tallystick.guard.grants import suggest_grants

    found = suggest_grants(run.home, since=since)
    run.answer("policy.grants.suggestions", {"suggestions": found}, _suggested_text(found))


def _suggested_text(found: list[Suggested]) -> Iterator[str]:
    if not found:
        yield "no question was asked twice and always answered with yes"
    for one in found:
        scope = one.scope
        yield f"{one_line(scope.rule)}: {one_line(f'{scope.action} {scope.target}')}, {counted(one.times, 'time')}"
        yield f"  tally policy grants add {one_line(one.step)} --project"

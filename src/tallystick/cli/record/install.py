"""`tally install`, `tally uninstall`, `tally agents`: parse, call `setup.install`, `purge` and `agents`, render."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from tallystick.capture.surroundings import Surroundings
from tallystick.cli import completing
from tallystick.cli.command import FAILED, Command, options_as
from tallystick.cli.context import Run, counted, labelled, pass_run, path_text
from tallystick.display.text import one_line
from tallystick.errors import TallystickError, UsageError
from tallystick.setup.agents import UNTRUSTED, Agent, find_agents
from tallystick.setup.agents import agents as known_agents
from tallystick.setup.install import (
    AFTERWARDS,
    CALLING_HTTP,
    NOT_RUN,
    FileReport,
    Report,
    can_http,
    own_installation,
    passing_installation,
)
from tallystick.setup.install import install as do_install
from tallystick.setup.install import uninstall as do_uninstall
from tallystick.setup.purge import Item, Losses, State, losses, purge

_MARKS = {
    State.PLANNED: ("-", "yellow"),
    State.DONE: ("✓", "green"),
    State.NOTHING: ("·", "blue"),
    State.STAYS: ("!", "yellow"),
    State.FAILED: ("✕", "red"),
}


def purge_all(run: Run, where: Surroundings, *, dry_run: bool, yes: bool) -> None:
    """Remove everything, or report what would be removed. Exit code 1 if a step failed.

    Raises:
        UsageError: the removal was not confirmed, and no one can be asked.
    """
    lost = losses(run.home)
    if not (dry_run or yes):
        _confirm(run, lost)
    items: list[Item] = []
    for item in purge(run.home, where, dry_run=dry_run):
        items.append(item)
        if not run.json:
            run.write("".join(f"{line}\n" for line in _item_lines(item)))
    if run.json:
        run.answer("purge", {"dry_run": dry_run, "lost": lost, "items": items}, ())
    elif dry_run:
        run.write("".join(f"{line}\n" for line in _lost(lost)))
    if any(item.state is State.FAILED for item in items):
        raise SystemExit(FAILED)


def _confirm(run: Run, lost: Losses | None) -> None:
    if run.json or not sys.stdin.isatty():
        raise UsageError(
            "--purge removes the record for good, and no one can be asked here",
            hint="review it with --dry-run, then add --yes",
        )
    for line in _lost(lost):
        click.echo(line, err=True)
    click.confirm("Remove all of it permanently?", default=False, abort=True, err=True)


def _lost(lost: Losses | None) -> Iterator[str]:
    if lost is None:
        return
    yield (
        f"lost with {path_text(lost.store)}: {counted(lost.sessions, 'session')} "
        f"({lost.journal_bytes / 1e6:,.1f} MB sealed, {lost.total_bytes / 1e6:,.1f} MB in all)"
    )
    if lost.own_policies:
        yield f"  {counted(lost.own_policies, 'policy file')} that you wrote"
    if lost.has_key:
        yield "  the key that signs its heads: no one can extend this record any more, copies of it still verify"
    yield "keep a copy first: `cp -a` of that folder, or `tally export`"


def _item_lines(item: Item) -> Iterator[str]:
    mark, color = _MARKS[item.state]
    yield f"{click.style(mark, fg=color)} {item.part:<10} {one_line(item.said)}"
    if item.command is not None:
        yield f"  {'':<10} {one_line(item.command)}"


class AgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Whose settings are changed, and whether they are."""

    agent: str | None
    all_agents: bool
    project: bool
    dry_run: bool


def _agent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that `install` and `uninstall` share; the command takes them as `chosen`."""
    command = options_as(AgentOptions, "chosen")(command)
    for option in (
        click.option("--dry-run", is_flag=True, help="Show what would change as a diff, and change nothing."),
        click.option("--project", is_flag=True, help="The settings of the project in this folder, not the user's."),
        click.option("--all", "all_agents", is_flag=True, help="All agents found on this machine."),
        click.argument("agent", required=False, shell_complete=completing.agents),
    ):
        command = option(command)
    return command


@click.command("install", cls=Command, example="tally install claude-code\ntally install --all --dry-run")
@_agent_options
@click.option(
    "--http/--no-http",
    default=None,
    help=f"Connect the agent to the recorder's loopback port instead of a command ({', '.join(CALLING_HTTP)}), or stop "
    "doing so.",
)
@pass_run
def install(run: Run, chosen: AgentOptions, http: bool | None) -> None:
    """Connect an agent: add Tallystick's hook to its settings.

    From the agent's next start on, its actions are recorded as they happen. Its settings keep their order, comments and
    permissions, and are backed up. The command is idempotent.
    """
    where = _surroundings(chosen.project)
    names = _chosen_agents(
        chosen.agent,
        chosen.all_agents,
        [each.agent for each in find_agents(where) if each.is_found and each.can_be_hooked],
    )

    def do(name: str) -> Report:
        wanted = http
        if http and chosen.all_agents and not can_http(name):
            wanted = None
        return do_install(run.home, name, where, dry_run=chosen.dry_run, http=wanted)

    if names and (remark := passing_installation(own_installation())) is not None:
        run.warn(remark)
    _each(run, names, do, "install", dry_run=chosen.dry_run)


@click.command(
    "uninstall",
    cls=Command,
    example="tally uninstall claude-code\ntally uninstall --all\ntally uninstall --purge --dry-run",
)
@_agent_options
@click.option(
    "--purge", "all_of_it", is_flag=True, help="Remove everything that belongs to Tallystick, including the record."
)
@click.option("--yes", is_flag=True, help="With --purge: do not ask for confirmation.")
@pass_run
def uninstall(run: Run, chosen: AgentOptions, all_of_it: bool, yes: bool) -> None:
    """Disconnect an agent: remove the hook. Without --project from the user's settings and those of all projects.

    A settings file that has not changed otherwise is restored to the byte. What was recorded stays, except with
    --purge, which stops the recorder and removes the hooks of all agents, the units, the completions and the store.
    """
    where = _surroundings(chosen.project)
    if all_of_it:
        if chosen.agent is not None or chosen.project:
            raise UsageError("--purge removes everything: it takes neither an agent nor --project")
        from tallystick.cli.record.install import purge_all

        purge_all(run, where, dry_run=chosen.dry_run, yes=yes)
        return
    if yes:
        raise UsageError("--yes confirms --purge only")
    names = _chosen_agents(
        chosen.agent, chosen.all_agents, [each.agent for each in find_agents(where) if each.can_be_hooked]
    )
    _each(
        run,
        names,
        lambda name: do_uninstall(run.home, name, where, dry_run=chosen.dry_run),
        "uninstall",
        dry_run=chosen.dry_run,
    )


def _surroundings(project: bool) -> Surroundings:
    return Surroundings(user=Path.home(), environment=os.environ, project=Path.cwd() if project else None)


def _chosen_agents(agent: str | None, all_agents: bool, found: list[str]) -> list[str]:
    """The agents meant."""
    if (agent is not None) == all_agents:
        raise UsageError("give one agent, or --all", hint="`tally agents` lists them")
    if agent is not None:
        return [agent]
    return found


def _each(run: Run, names: list[str], do: Callable[[str], Report], schema: str, *, dry_run: bool) -> None:
    """Call the function for each agent. A failure does not stop the others; the exit code is then 1."""
    reports, failures = [], []
    for name in names:
        try:
            reports.append(do(name))
        except TallystickError as error:
            if len(names) == 1:
                raise
            failures.append(name)
            run.warn(f"{name}: {error}")
    data = {"dry_run": dry_run, "agents": [_data(report) for report in reports], "failed": failures}
    shown = [report for report in reports if report.is_changed or len(names) == 1 or schema == "install"]
    lines = [line for report in shown for line in _report_lines(report, schema, dry_run=dry_run)]
    run.answer(schema, data, lines or [_nothing(schema, names, failures)])
    if failures:
        raise SystemExit(1)


def _nothing(schema: str, names: list[str], failures: list[str]) -> str:
    """Why there is nothing to report."""
    if failures:
        return "nothing was done"
    if schema == "uninstall":
        return "no hook of Tallystick is in the settings"
    if names:
        return "nothing would change"
    return "no agent is found"


def _data(report: Report) -> dict[str, Any]:
    files = [{"path": str(file.path), "changed": file.is_changed, "restored": file.restored} for file in report.files]
    return {"agent": report.agent, "files": files, "events": report.events, "unhooked": report.unhooked}


def _report_lines(report: Report, schema: str, *, dry_run: bool) -> Iterator[str]:
    if dry_run:
        for file in report.files:
            yield from map(one_line, file.diff())
        return
    for file in report.files:
        yield f"{report.agent}: {path_text(file.path)} {_what_happened(file, schema)}"
    if schema == "install":
        yield from (f"  {line}" for line in _remarks(report))


def _what_happened(file: FileReport, schema: str) -> str:
    if not file.is_changed:
        if schema == "install":
            return "has the hook already"
        return "does not have the hook"
    if schema == "install":
        if file.before is not None:
            return "has the hook now"
        return "created with the hook"
    if file.after is None:
        if file.restored:
            return "removed, as it did not exist before"
        return "removed"
    if file.restored:
        return "restored"
    return "no longer has the hook"


def _remarks(report: Report) -> Iterator[str]:
    yield f"{counted(len(report.events), 'event')}: {', '.join(report.events)}"
    if report.unhooked:
        yield f"not seen, because your own settings are in the way: {', '.join(report.unhooked)}"
    for remarks in (AFTERWARDS, NOT_RUN):
        if report.agent in remarks:
            yield remarks[report.agent]


# Agents ---------------------------------------------------------------------------------------------------------------


@click.command("agents", cls=Command, example="tally agents\ntally agents --all --json")
@click.option("--all", "show_all", is_flag=True, help="Include agents that are not on this machine.")
@click.option("--project", is_flag=True, help="Show the hooks of the project in this folder, not the user's.")
@pass_run
def agents(run: Run, show_all: bool, project: bool) -> None:
    """List the agents on this machine: version, hooks, the last event, and what is not seen.

    Runs each agent once for its version, and Codex once more to find out whether its user trusts the hook.
    """
    found = known_agents(run.home, _surroundings(project))
    shown = [agent for agent in found if show_all or agent.is_found]
    lines = [line for agent in shown for line in _agent_text(agent, run.width)] or [
        "no agent was found on this machine"
    ]
    run.answer("agents", [_agent_data(agent) for agent in shown], lines)


def _agent_data(agent: Agent) -> dict[str, Any]:
    return {
        "agent": agent.agent,
        "found": agent.is_found,
        "program": None if agent.program is None else str(agent.program),
        "folder": None if agent.folder is None else str(agent.folder),
        "version": agent.version,
        "can_be_hooked": agent.can_be_hooked,
        "hooked": agent.hooked,
        "unhooked": agent.unhooked,
        "trusted": agent.trusted,
        "last_event": agent.last_event,
        "unseen": agent.unseen,
        "problem": agent.problem,
    }


def _agent_text(agent: Agent, width: int) -> Iterator[str]:
    yield click.style(agent.agent, bold=True) + (f" {one_line(agent.version)}" if agent.version else "")
    rows = [
        ("program", path_text(agent.program) if agent.program is not None else ""),
        ("files", path_text(agent.folder) if agent.folder is not None else ""),
        ("hooked", _hooked(agent)),
        ("last event", agent.last_event or ("none yet" if agent.hooked else "")),
        ("problem", one_line(agent.problem or "")),
        *(("not seen", spot) for spot in agent.unseen),
    ]
    yield from labelled(rows, indent="  ", width=width)


def _hooked(agent: Agent) -> str:
    if not agent.can_be_hooked:
        return "not possible: its history is read"
    if not agent.hooked:
        if agent.is_found:
            return f"no: `tally install {agent.agent}`"
        return "no"
    missing = ""
    if agent.unhooked:
        missing = f", not for {', '.join(agent.unhooked)}"
    return f"{counted(len(agent.hooked), 'event')}{missing}{_trust(agent)}"


def _trust(agent: Agent) -> str:
    if agent.trusted is None:
        return ""
    if agent.trusted:
        return "; trusted"
    return f"; {UNTRUSTED[agent.agent]}"

"""`tally up`: set up everything that live capture needs, in one command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from tallystick.capture.surroundings import Surroundings
from tallystick.cli.command import FAILED, Command
from tallystick.cli.context import Run, counted, pass_run, path_text
from tallystick.cli.progress import progress_bar
from tallystick.display.text import one_line
from tallystick.setup.install import own_installation, passing_installation
from tallystick.setup.up import Connected, Up, bring_up


@click.command("up", cls=Command, example="tally up\ntally up --dry-run")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@pass_run
def up(run: Run, dry_run: bool) -> None:
    """Find the agents on this machine, connect to each, start the recorder.

    From then on everything they do is recorded as it happens. The agents work as before, except that policy may refuse
    a call. `tally uninstall --all` undoes it; `tally doctor` checks that it works.
    """
    where = Surroundings(user=Path.home(), environment=dict(os.environ))
    with progress_bar(run, None) as advance:
        done = bring_up(run.home, where, dry_run=dry_run, progress=lambda size: advance("", size))
    if done.agents and (remark := passing_installation(own_installation())) is not None:
        run.warn(remark)
    run.answer("up", done, _up_text(done, dry_run=dry_run))
    if done.recorder_error is not None or any(agent.error for agent in done.agents):
        raise SystemExit(FAILED)


def _up_text(done: Up, *, dry_run: bool) -> Iterator[str]:
    if done.made_store:
        yield f"{'would create' if dry_run else 'created'} a store at {path_text(done.store)}"
    if not done.agents:
        yield "no agent was found on this machine: see `tally agents`"
    for agent in done.agents:
        yield f"{click.style(agent.agent, bold=True)}: {one_line(_connection_text(agent, dry_run=dry_run))}"
    if done.recorder_error is not None:
        yield f"the recorder does not run: {one_line(done.recorder_error)}"
    elif not dry_run:
        yield f"the recorder runs; its pid is {done.recorder}"
    yield from _backtest(done)
    yield (
        "next: `tally doctor` tests every hook, `tally log` shows what was recorded, `tally import` imports earlier "
        "histories"
    )


def _backtest(done: Up) -> Iterator[str]:
    """What policy would have decided on earlier calls."""
    found = done.backtest
    if found is None:
        return
    if not found.calls:
        yield (
            "policy: nothing is recorded yet; after `tally import`, `tally policy backtest` shows what it would have "
            "decided"
        )
        return
    said = found.in_force
    yield (
        f"policy: of {counted(found.calls, 'call')} recorded it would have denied {said.denied}, questioned "
        f"{said.asked} and warned of {said.warned}; `tally policy backtest` lists them"
    )


def _connection_text(agent: Connected, *, dry_run: bool) -> str:
    if agent.error is not None:
        return agent.error
    if not agent.can_be_hooked:
        return "has no hooks; `tally import` reads its history"
    if dry_run and agent.is_changed:
        verb = "would be connected"
    elif agent.is_changed:
        verb = "connected"
    else:
        verb = "is connected"
    said = f"{verb}, {counted(agent.events, 'event')}"
    if agent.afterwards and agent.is_changed:
        return f"{said}; {agent.afterwards}"
    return said

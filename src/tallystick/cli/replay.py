"""`tally replay`: a session step by step."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from tallystick.cli.filters import step_filters
from tallystick.cli.frame import Command
from tallystick.cli.run import Run, envelope, pass_run
from tallystick.cli.steps import step_line, step_text
from tallystick.model.recorded import Recorded

_NUMBER = 5


@click.command(
    cls=Command,
    example="tally replay a3f9\ntally replay a3f9 --from a3f9:17 --tool Bash -v\ntally replay a3f9 --follow",
)
@click.argument("session")
@click.option("--from", "start", metavar="STEP", help="Begin with this step, and go on with what follows from it.")
@click.option("--follow", is_flag=True, help="Go on with the steps that come, until the session ends.")
@click.option("--verbose", "-v", is_flag=True, help="With what was said, asked and returned.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many steps.  [default: all]")
@step_filters
@pass_run
def replay(
    run: Run,
    /,
    session: str,
    start: str | None,
    follow: bool,
    verbose: bool,
    limit: int | None,
    **filters: Any,
) -> None:
    """A session step by step, as it happened.

    One line a step: number, time (UTC), type, name, duration, and what came of it. With --json and --follow each step is a
    document on one line.
    """
    from tallystick.operations.filters import StepFilter
    from tallystick.operations.names import find_session, find_step
    from tallystick.operations.project import open_index
    from tallystick.operations.replay import replay as replay_session

    with open_index(run.home) as index:
        run.take(index.remarks)
        found = find_session(index, session)
        first = find_step(index, start, within=found).hash if start is not None else None
    steps = replay_session(run.home, found, StepFilter(**filters), start=first, limit=limit, follow=follow)
    if follow:
        _follow(run, steps, verbose=verbose)
    elif run.json:
        run.answer("steps", list(steps), ())
    else:
        run.answer("steps", None, replay_text(steps, run.width, verbose=verbose))


def replay_text(steps: Iterator[Recorded], width: int, *, verbose: bool) -> Iterator[str]:
    """The lines of a replay."""
    for step in steps:
        yield step_line(step, width, place=f"{step.n:>{_NUMBER}}")
        if verbose:
            yield from step_text(step, " " * 21)


def _follow(run: Run, steps: Iterator[Recorded], *, verbose: bool) -> None:
    """Print each step as it comes, past any buffer."""
    for step in steps:
        if run.json:
            run.write(envelope("step", step, [], on_one_line=True) + "\n")
        else:
            for line in replay_text(iter((step,)), run.width, verbose=verbose):
                run.write(line + "\n")
        sys.stdout.flush()

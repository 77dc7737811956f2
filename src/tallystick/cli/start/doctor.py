"""`tally doctor`: what is wrong with live capture, and how to fix it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from tallystick.capture.surroundings import Surroundings
from tallystick.cli.command import FAILED, Command
from tallystick.cli.context import Run, pass_run
from tallystick.display.text import one_line
from tallystick.setup.check import Check, State
from tallystick.setup.doctor import examine

_MARKS = {
    State.OK: ("✓", "green"),
    State.NOTE: ("·", "blue"),
    State.WARN: ("!", "yellow"),
    State.BAD: ("✕", "red"),
}


@click.command("doctor", cls=Command, example="tally doctor")
@click.option("--project", is_flag=True, help="The hooks of the project in this folder, not the user's.")
@click.option("--shadow", is_flag=True, help="Compare the newest sessions with their transcripts instead.")
@pass_run
def doctor(run: Run, project: bool, shadow: bool) -> None:
    """Check everything that live capture needs, and say how to fix what is wrong.

    Checks the store, the disk, the clock, settings, policies, the recorder, and the hooks of each agent found. Each
    hook runs once with a payload that is not recorded. Exit code 1 if a problem keeps steps from being recorded.
    """
    found = _checks(run, project=project, shadow=shadow)
    checks: list[Check] = []
    if run.json:
        checks = list(found)
        run.answer("doctor", checks, ())
    else:
        for check in found:
            checks.append(check)
            run.write("".join(f"{line}\n" for line in _check_text(check)))
        run.write(f"{_summary(checks)}\n")
    if any(check.state is State.BAD for check in checks):
        raise SystemExit(FAILED)


def _checks(run: Run, *, project: bool, shadow: bool) -> Iterator[Check]:
    if shadow:
        from tallystick.setup.shadows import examine_shadows

        return examine_shadows(run.home)
    where = Surroundings(user=Path.home(), environment=dict(os.environ), project=Path.cwd() if project else None)
    return examine(run.home, where)


def _check_text(check: Check) -> Iterator[str]:
    mark, color = _MARKS[check.state]
    yield f"{click.style(mark, fg=color)} {check.name:<12} {one_line(check.found)}"
    if check.mend is not None and check.state is not State.OK:
        yield f"  {'':<12} {click.style('fix:', dim=True)} {one_line(check.mend)}"


def _summary(checks: list[Check]) -> str:
    wrong = sum(check.state is State.BAD for check in checks)
    doubtful = sum(check.state is State.WARN for check in checks)
    if not wrong and not doubtful:
        return "no problems found"
    return f"{wrong} wrong, {doubtful} to check"

"""`tally tui`: sessions and their steps, full screen."""

from __future__ import annotations

import os
import sys

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, pass_run


@click.command(cls=Command, example="tally tui\ntally tui a3f9\ntally tui a3f9:12")
@click.argument("place", required=False, shell_complete=completing.steps, metavar="[SESSION|STEP]")
@pass_run
def tui(run: Run, place: str | None) -> None:
    """Browse sessions full-screen.

    Sessions are on the left, the steps of one on the right, everything about a step below. `?` shows all keys, `q`
    quits. SESSION is opened first, or the session of STEP (SESSION:N, SESSION#HASH or HASH) at that step; without either
    the session with the newest step.
    """
    from tallystick.errors import NotFoundError, UsageError

    if not run.home.exists:
        raise NotFoundError(f"no store at {run.home.folder}", hint="create one with `tally init`")
    if run.json:
        raise UsageError(
            "the full-screen view has no JSON output",
            hint="use `tally session tree --json` or `tally replay SESSION --json`",
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        raise UsageError(
            "the full-screen view needs a terminal",
            hint="use `tally session tree` and `tally replay SESSION` for plain lines",
        )
    if run.uses_color is False:
        os.environ["NO_COLOR"] = "1"  # the drawing code looks there
    from tallystick.tui.app import Browser

    app = Browser(run.home, place)
    app.run(mouse=False)
    if app.ended_by is not None:
        raise app.ended_by
    if app.return_code:
        raise SystemExit(app.return_code)

"""`tally run`: a command, recorded as a session."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run
from tallystick.cli.steps import short
from tallystick.display.text import one_line


@click.command(
    "run",
    cls=Command,
    example="tally run -- make test\ntally run --no-files -- claude",
    # What follows the command's name belongs to the command, including `--help`.
    context_settings={"help_option_names": ["-h", "--help"], "allow_interspersed_args": False},
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
@click.option("--no-files", is_flag=True, help="Do not scan the files of the folder before and after, nor watch them.")
@click.option("--no-watch", is_flag=True, help="Only scan the files before and after, and do not watch them.")
@click.option("--no-sensitive-roots", is_flag=True, help="Do not watch ~/.ssh, ~/.aws and ~/.config/gcloud.")
@pass_run
def run(run: Run, command: tuple[str, ...], no_files: bool, no_watch: bool, no_sensitive_roots: bool) -> None:
    """Run a command and record its processes, file changes and exit.

    Files of the folder are watched while it runs. The command has the terminal, gets the signals, and its exit code is
    passed on. Sessions of agents that it starts become its child sessions. With --json the report follows the command's
    own output. If agents ran, their receipt comes last: calls, refusals, files, cost, and whether anything is missing.
    """
    from tallystick.ingest.run import Command, run_command
    from tallystick.ingest.watch import watched_roots

    is_watched = not (no_files or no_watch)
    if is_watched:
        roots = watched_roots([Path.cwd()], Path.home(), sensitive=not no_sensitive_roots)
    else:
        roots = []
    done = run_command(run.home, Command(command, Path.cwd(), os.environ), files=not no_files, roots=roots)
    run.take(done.remarks)
    if run.json:
        run.answer("run", done, ())
    elif done.session is not None:
        changes = ", ".join(f"{count:,} {kind}" for kind, count in done.effects.items())
        run.note(
            f"tally: recorded as session {short(done.session)}: "
            f"{counted(done.processes, 'process', 'processes')}, files: {changes or 'none touched'}"
        )
        _hand_out(run, done.session)
    else:
        run.warn("the command was not recorded")
    raise SystemExit(done.exit_code)


def _hand_out(run: Run, session: str) -> None:
    """The receipt of the agents that ran in it, if any did."""
    from tallystick.ask.prices import read_prices
    from tallystick.ask.receipt import receipt_of
    from tallystick.errors import TallystickError
    from tallystick.workspace.indexing import open_index

    try:
        with open_index(run.home) as index:
            receipt = receipt_of(run.home, index, session, read_prices(run.home))
    except TallystickError as error:
        run.note(f"tally: no receipt: {error}")
        return
    if receipt.sub_agents:
        run.note(f"tally: {counted(receipt.sub_agents, 'session')} of agents: {one_line(receipt.line)}")

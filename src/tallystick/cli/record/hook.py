"""`tally hook`: the same as `hook.py`, which agents run, for testing a payload by hand."""

from __future__ import annotations

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, pass_run


@click.command("hook", cls=Command, example="tally hook claude-code < payload.json")
@click.argument("agent", shell_complete=completing.agents)
@click.argument("event", required=False)
@pass_run
def hook(run: Run, agent: str, event: str | None) -> None:
    """Deliver the payload on stdin as an agent's hook does, and print the answer.

    The same as `python -I -S …/tallystick/hook.py AGENT [EVENT]`, which agents run because it starts faster. No output
    and exit code 0 mean `no opinion`.
    """
    from tallystick.hook import main

    words = ["--home", str(run.home.folder.absolute()), agent, *([event] if event is not None else [])]
    raise SystemExit(main(words))

"""`tally policy add` and `tally policy allow`: rules of one's own, written as Cedar. Only people run them."""

from __future__ import annotations

from pathlib import Path

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, pass_run
from tallystick.display.text import lines, one_line

_ACTIONS = ("read", "write", "delete", "run", "connect", "send")


@click.command(
    "add",
    cls=Command,
    example="tally policy add deny write 'infra/prod/**'\ntally policy add ask run terraform --project",
)
@click.argument("effect", type=click.Choice(["deny", "ask", "warn", "allow"]), metavar="deny|ask|warn|allow")
@click.argument("action", type=click.Choice(_ACTIONS), metavar="ACTION")
@click.argument("globs", nargs=-1, required=True, metavar="GLOB")
@click.option("--project", is_flag=True, help="Write it to .tally/policy/ of this repository, for all who work in it.")
@click.option("--reason", help="What the agent and its user read; {target} stands for the path, host or program.")
@pass_run
def add(run: Run, effect: str, action: str, globs: tuple[str, ...], project: bool, reason: str | None) -> None:
    """Add a rule of your own, which is in force a second later.

    ACTION is read, write, delete, run, connect or send. GLOB names paths as in .gitignore: a name without a slash is meant
    anywhere in the project, any other is relative to the top of the project, ~/… and /… are what they are. Of `connect` and
    `send` it is a host, of `run` a program or the path of a script.
    """
    from tallystick.cli.decide.policy import repository_here
    from tallystick.errors import UsageError
    from tallystick.guard.own_rules import Wish, add_rule
    from tallystick.model.decision import Effect

    if len(globs) > 1:
        raise UsageError("there are several globs", hint="put the glob into quotes: the shell has filled it in")
    folder = Path.cwd()
    wish = Wish(effect=Effect(effect), action=action, glob=globs[0], reason=reason)
    found = add_rule(run.home, wish, folder=folder, root=repository_here(str(folder)), project=project)
    run.answer("policy.added", found, [f"{one_line(found.file)}:", "", *lines(found.policy)])
    for remark in found.remarks:
        run.note(one_line(remark))


@click.command("allow", cls=Command, example="tally policy allow 3 --here")
@click.argument("alert_name", metavar="ALERT")
@click.option("--here", is_flag=True, help="Only where an agent works in this project, or in this folder.")
@pass_run
def allow(run: Run, alert_name: str, here: bool) -> None:
    """Let through from now on what an alert stopped: its rules are lifted for just that. ALERT is its number, or its step."""
    from tallystick.cli.decide.policy import repository_here
    from tallystick.trust.alerts import allow_alert

    folder = str(Path.cwd())
    found = allow_alert(run.home, alert_name, folder=(repository_here(folder) or folder) if here else None)
    run.answer("policy.allowed", found, [f"{one_line(found.file)}:", "", *lines(found.policy)])

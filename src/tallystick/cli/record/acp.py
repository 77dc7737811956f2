"""`tally acp`: an agent that speaks the Agent Client Protocol, recorded between it and its editor.

Owns the options of the command. stdin and stdout carry the protocol: the command itself prints nothing there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, pass_run

_EXAMPLE = """tally acp -- claude-agent-acp
tally acp --decide -- gemini --acp"""


@click.command(
    "acp",
    cls=Command,
    example=_EXAMPLE,
    context_settings={"help_option_names": ["-h", "--help"], "allow_interspersed_args": False},
)
@click.argument("command", metavar="-- AGENT [ARGS]...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--decide", is_flag=True, help="Let policy refuse permission requests; all others still go to the editor."
)
@click.option("--untouched", is_flag=True, help="Add nothing to the protocol, not even the provenance of a session.")
@click.option(
    "--hermes-meta",
    type=click.Choice(["0.19.0", "later"]),
    metavar="RULE",
    help="Also report provenance in the format of Hermes, by the rule of its version `0.19.0` or `later`, for editors "
    "that read it.",
)
@pass_run
def acp(run: Run, command: tuple[str, ...], decide: bool, untouched: bool, hermes_meta: str | None) -> None:
    """Run an agent behind its editor and record the messages between them.

    Put `tally acp --` before the agent's command in the editor's settings. Every byte is passed on unchanged, except
    that results that start or continue a session get one member of `_meta`, "tallystick.dev/provenance". The exit code
    is the agent's.
    """
    from tallystick.capture.relay import end_as
    from tallystick.ingest.acp import Adding, policy, tap
    from tallystick.sessions.hermes_provenance import Rule

    decider = None
    if decide:
        decider = policy(run.home, Path.home(), os.environ)
    rule = None
    if hermes_meta is not None:
        rule = Rule(hermes_meta)
    adding = Adding(
        decide=decider,
        inject=not untouched,
        hermes_rule=rule,
        within=os.environ.get("TALLY_SESSION") or None,
        user_home=Path.home(),
    )
    tapped = tap(run.home, command, adding)
    for fault in tapped.faults:
        run.warn(f"acp: {fault}")
    if tapped.ended.missed:
        run.warn(f"acp: {tapped.ended.missed} lines were not recorded; each session records the gap")
    sys.exit(end_as(tapped.ended.returncode))

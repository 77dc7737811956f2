"""`tally mcp`: an MCP server, recorded between it and the agent.

Owns the options of the command. stdin and stdout carry the protocol: the command itself prints nothing there.
"""

from __future__ import annotations

import os
import sys

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, pass_run

_EXAMPLE = """tally mcp -- npx -y @modelcontextprotocol/server-everything
claude mcp add notes -- tally mcp --name notes -- notes-server --stdio"""


@click.command(
    "mcp",
    cls=Command,
    example=_EXAMPLE,
    context_settings={"help_option_names": ["-h", "--help"], "allow_interspersed_args": False},
)
@click.argument("command", metavar="-- SERVER [ARGS]...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--name", metavar="NAME", help="The agent's name for the server.  [default: the server's own name]")
@pass_run
def mcp(run: Run, command: tuple[str, ...], name: str | None) -> None:
    """Run an MCP server behind its client and record the messages between them.

    Put `tally mcp --` before the server's command in the agent's settings. Every byte is passed on unchanged, both
    ways, and the exit code is the server's. Each run is a session of its own.
    """
    from tallystick.capture.relay import end_as
    from tallystick.ingest.mcp import proxy

    proxied = proxy(run.home, command, name=name, within=os.environ.get("TALLY_SESSION") or None)
    for fault in proxied.faults:
        run.warn(f"mcp: {fault}")
    if proxied.ended.missed:
        run.warn(f"mcp: {proxied.ended.missed} lines were not recorded; the session records the gap")
    sys.exit(end_as(proxied.ended.returncode))

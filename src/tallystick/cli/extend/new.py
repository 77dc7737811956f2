"""`tally new`: drafts of what Tallystick can be extended by."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tallystick.cli.command import Command, Group
from tallystick.cli.context import Run, pass_run, path_text


@click.command(
    "agent",
    cls=Command,
    example="tally new agent my-agent --from ~/.my-agent/sessions/4f2a.jsonl\n"
    "tally new agent my-agent --from a.json --from b.json --into ../tallystick-my-agent",
)
@click.argument("name")
@click.option(
    "--from",
    "paths",
    multiple=True,
    required=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file that the agent left: lines of JSON, or a JSON document. May be repeated.",
)
@click.option("--into", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), help="Make a package here.")
@pass_run
def agent(run: Run, name: str, paths: tuple[Path, ...], into: Path | None) -> None:
    """Draft a reader for the history of an agent, with its recording, test and page.

    In a checkout of Tallystick it becomes a part of it; elsewhere a package of your own, which Tallystick finds once it is
    installed. The draft reads what it understands and counts the rest.
    """
    from tallystick.setup.new_agent import draft_agent

    home = Path(os.environ.get("HOME", "~")).expanduser()
    done = draft_agent(name, paths, home=home, into=into)
    data = {"root": done.root, "written": done.written, "is_package": done.is_package}
    run.answer("new-agent", data, [*(f"wrote {path_text(path)}" for path in done.written), *_next(done.is_package)])


def _next(is_package: bool) -> tuple[str, ...]:
    first = "next: take names, homes, hosts and tokens out of the recording; complete the reader and its page"
    if is_package:
        return (
            first,
            "then: pip install -e . --no-deps, and tally import --agent lists it; pytest runs the laws of readers",
        )
    return (first, "then: make docs, make test; tally import tries it")


new = Group(
    "new",
    lazy={"agent": ("tallystick.cli.extend.new:agent", "Draft a reader for the history of an agent")},
    help="Draft what Tallystick can be extended by.",
)

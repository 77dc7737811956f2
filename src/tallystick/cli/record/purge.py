"""`tally uninstall --purge`: reports what will be lost, asks for confirmation, then reports each step."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from tallystick.capture.surroundings import Surroundings
from tallystick.cli.command import FAILED
from tallystick.cli.context import Run, counted, path_text
from tallystick.display.text import one_line
from tallystick.errors import UsageError
from tallystick.setup.purge import Item, Losses, State, losses, purge

_MARKS = {
    State.PLANNED: ("-", "yellow"),
    State.DONE: ("✓", "green"),
    State.NOTHING: ("·", "blue"),
    State.STAYS: ("!", "yellow"),
    State.FAILED: ("✕", "red"),
}


def purge_all(run: Run, where: Surroundings, *, dry_run: bool, yes: bool) -> None:
    """Remove everything, or report what would be removed. Exit code 1 if a step failed.

    Raises:
        UsageError: the removal was not confirmed, and no one can be asked.
    """
    lost = losses(run.home)
    if not (dry_run or yes):
        _confirm(run, lost)
    items: list[Item] = []
    for item in purge(run.home, where, dry_run=dry_run):
        items.append(item)
        if not run.json:
            run.write("".join(f"{line}\n" for line in _lines(item)))
    if run.json:
        run.answer("purge", {"dry_run": dry_run, "lost": lost, "items": items}, ())
    elif dry_run:
        run.write("".join(f"{line}\n" for line in _lost(lost)))
    if any(item.state is State.FAILED for item in items):
        raise SystemExit(FAILED)


def _confirm(run: Run, lost: Losses | None) -> None:
    if run.json or not sys.stdin.isatty():
        raise UsageError(
            "--purge removes the record for good, and no one can be asked here",
            hint="review it with --dry-run, then add --yes",
        )
    for line in _lost(lost):
        click.echo(line, err=True)
    click.confirm("Remove all of it permanently?", default=False, abort=True, err=True)


def _lost(lost: Losses | None) -> Iterator[str]:
    if lost is None:
        return
    yield (
        f"lost with {path_text(lost.store)}: {counted(lost.sessions, 'session')} "
        f"({lost.journal_bytes / 1e6:,.1f} MB sealed, {lost.total_bytes / 1e6:,.1f} MB in all)"
    )
    if lost.own_policies:
        yield f"  {counted(lost.own_policies, 'policy file')} that you wrote"
    if lost.has_key:
        yield "  the key that signs its heads: no one can extend this record any more, copies of it still verify"
    yield "keep a copy first: `cp -a` of that folder, or `tally export`"


def _lines(item: Item) -> Iterator[str]:
    mark, color = _MARKS[item.state]
    yield f"{click.style(mark, fg=color)} {item.part:<10} {one_line(item.said)}"
    if item.command is not None:
        yield f"  {'':<10} {one_line(item.command)}"

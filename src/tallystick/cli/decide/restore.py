"""`tally policy restore`: what calls removed after a question, as far as it was kept aside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run, table
from tallystick.display.text import first_line, one_line
from tallystick.errors import NotFoundError

if TYPE_CHECKING:
    from tallystick.guard.set_aside import SetAside


@click.command("restore", cls=Command, example="tally policy restore\ntally policy restore 6923a1b4-9c01ef")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--force", is_flag=True, help="Replace files that hold something else now.")
@pass_run
def restore(run: Run, name: str | None, force: bool) -> None:
    """List what was kept aside before calls removed it, or bring it back.

    Files go back to where they were. One that is there and holds something else is left alone, and so are all others, unless
    --force is given. Secrets are never kept. Agents are refused this command.
    """
    from tallystick.guard.set_aside import find_kept, list_kept
    from tallystick.guard.set_aside import restore as bring_back

    if not run.home.exists:
        raise NotFoundError(f"no store at {run.home.folder}", hint="create one with `tally init`")
    if name is None:
        found = list_kept(run.home)
        run.answer("policy.kept", {"kept": found}, _list_text(found, run.width))
        return
    kept = find_kept(run.home, name)
    paths = bring_back(run.home, kept, force=force)
    left = [file for file in kept.files if file.left_out]
    text = [
        f"{counted(len(paths), 'file')} brought back",
        *(f"not kept ({one.left_out}): {one_line(one.path)}" for one in left),
    ]
    run.answer("policy.restored", {"id": kept.id, "files": paths, "left_out": left}, text)


def _list_text(found: list[SetAside], width: int) -> Iterator[str]:
    if not found:
        yield "nothing is kept"
        return
    rows = [
        (
            one_line(one.id),
            one_line(one.at[:19].replace("T", " ")),
            counted(len(one.copied), "file"),
            f"{len(one.files) - len(one.copied)} left out",
            first_line(one.command, 400),
        )
        for one in found
    ]
    yield from table(rows, head=("ID", "TIME (UTC)", "KEPT", "NOT KEPT", "CALL"), width=width, gives={4: 24})

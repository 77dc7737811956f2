"""`tally erase`: removing a value for good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, pass_run
from tallystick.cli.steps import short
from tallystick.display.outcome import names_text

if TYPE_CHECKING:
    from tallystick.journal.erase import Erased


@click.command(cls=Command, example='tally erase a3f9:17 --field content.output --reason "it held a password"')
@click.argument("step", shell_complete=completing.steps)
@click.option(
    "--field", "fields", multiple=True, required=True, metavar="F", help="The value to remove. May be repeated."
)
@click.option("--reason", required=True, metavar="R", help="Why, in your words; kept in the ledger.")
@click.option(
    "--basis", default="request", metavar="WORD", show_default=True, help="On which ground: request, policy, law…"
)
@pass_run
def erase(run: Run, step: str, fields: tuple[str, ...], reason: str, basis: str) -> None:
    """Remove a value for good; the record still verifies.

    The erasure is sealed in the ledger first. What stays is that the step was there, its commitment to the value, and
    that it was erased, when and why. Copies and backups of the store are not reached.
    """
    from tallystick.graph.project import Depth
    from tallystick.trust.erase import erase as erase_values
    from tallystick.workspace.indexing import open_index
    from tallystick.workspace.names import find_step

    with open_index(run.home) as index:
        found = find_step(index, step)
    erased = erase_values(run.home, found.session, found.n, fields, reason=reason, basis=basis)
    with open_index(run.home, depth=Depth.TEXT) as index:  # so that its words are not found any more
        run.take(index.remarks)
    run.answer("erasure", erased, _text(erased))


def _text(erased: Erased) -> Iterator[str]:
    where = f"{short(erased.session)}:{erased.n}"
    if not erased.names:
        yield f"nothing to do: that is erased from {where} already"
        return
    blobs = ""
    if erased.blob_bytes:
        blobs = f", {erased.blob_bytes:,} bytes of blobs with it"
    yield f"erased {names_text(erased.names)} from {where}{blobs}"
    yield "the erasure is sealed in the ledger; `tally verify` says erased, not tampered"

"""`tally erase`: permanent erasure of a value."""

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
    "--field", "fields", multiple=True, required=True, metavar="F", help="The value to erase. May be repeated."
)
@click.option("--reason", required=True, metavar="R", help="The reason, in your words; kept in the ledger.")
@click.option(
    "--basis", default="request", metavar="WORD", show_default=True, help="The legal ground: request, policy, law…"
)
@pass_run
def erase(run: Run, step: str, fields: tuple[str, ...], reason: str, basis: str) -> None:
    """Erase a value permanently; the record still verifies.

    The erasure is first sealed in the ledger. The step, its commitment to the value, and the time and reason of the
    erasure stay. Copies and backups of the store are not changed.
    """
    from tallystick.graph.journals import Depth
    from tallystick.trust.erase import Erasure
    from tallystick.trust.erase import erase as erase_values
    from tallystick.workspace.indexing import open_index
    from tallystick.workspace.names import find_step

    with open_index(run.home) as index:
        found = find_step(index, step)
    erased = erase_values(run.home, found.session, found.n, Erasure(fields, reason, basis))
    with open_index(run.home, depth=Depth.TEXT) as index:  # so that search no longer finds its words
        run.take(index.remarks)
    run.answer("erasure", erased, _erasure_text(erased))


def _erasure_text(erased: Erased) -> Iterator[str]:
    where = f"{short(erased.session)}:{erased.n}"
    if not erased.names:
        yield f"nothing to do: already erased from {where}"
        return
    blobs = ""
    if erased.blob_bytes:
        blobs = f", with {erased.blob_bytes:,} bytes of blobs"
    yield f"erased {names_text(erased.names)} from {where}{blobs}"
    yield "erased here; `tally verify` reports the value as erased. The agent's own file may still have it"

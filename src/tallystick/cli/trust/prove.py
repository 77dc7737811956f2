"""`tally prove`: the proof that one step is in the record, for someone who has nothing else of it."""

from __future__ import annotations

from pathlib import Path

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, pass_run
from tallystick.cli.progress import opened_index
from tallystick.display.facts import short


@click.command(
    cls=Command,
    example="tally prove a3f9:17 > step.tlog-proof\ntally prove 4cdfe901 --redaction content -o step.tlog-proof",
)
@click.argument("step", shell_complete=completing.steps)
@click.option(
    "--redaction",
    type=click.Choice(["full", "content", "none"]),
    default="full",
    show_default=True,
    help="What the proof withholds: all but the hash; all but type, times and numbers; nothing but what never leaves.",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write it to this file.")
@pass_run
def prove(run: Run, step: str, redaction: str, output: Path | None) -> None:
    """Prove that a step is in the record. STEP is SESSION:N, SESSION#HASH or HASH; a unique beginning of each will do.

    The proof is a C2SP tlog-proof. `tally verify --proof FILE --pinned DID` checks it anywhere, without the store.
    """
    from tallystick.seal.redact import Redaction
    from tallystick.trust.prove import prove as prove_step
    from tallystick.workspace.names import find_step

    with opened_index(run) as index:
        run.take(index.remarks)
        found = find_step(index, step)
    proof = prove_step(run.home, found.session, found.n, redaction=Redaction(redaction)).decode()
    if output is not None:
        output.write_text(proof, "utf-8")
    data = {"session": found.session, "n": found.n, "redaction": redaction, "proof": proof}
    if output is not None:
        text = [f"wrote the proof of {short(found.session)}:{found.n} to {output}"]
    else:
        text = proof.splitlines()
    run.answer("proof", data, text)

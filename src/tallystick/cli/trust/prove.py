"""`tally prove`: the proof that one step is in the record, or that it only grew, for someone who has nothing else of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, pass_run
from tallystick.cli.progress import opened_index
from tallystick.display.facts import short
from tallystick.errors import UsageError

if TYPE_CHECKING:
    from tallystick.seal.note import Note


@click.command(
    cls=Command,
    example="tally prove a3f9:17 > step.tlog-proof\ntally prove 4cdfe901 --redaction content -o step.tlog-proof\n"
    "tally prove --from head-of-march.note -o since-march.proof",
)
@click.argument("step", required=False, shell_complete=completing.steps)
@click.option(
    "--from",
    "since",
    metavar="HEAD|SIZE",
    help="Prove instead that the newest head of the ledger extends this one: a saved heads/ledger.note, or its size.",
)
@click.option(
    "--redaction",
    type=click.Choice(["full", "content", "none"]),
    default="full",
    show_default=True,
    help="What the proof withholds: all but the hash; all but type, times and numbers; nothing but what never leaves.",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write it to this file.")
@pass_run
def prove(run: Run, step: str | None, since: str | None, redaction: str, output: Path | None) -> None:
    """Prove that a step is in the record. STEP is SESSION:N, SESSION#HASH or HASH; a unique beginning of each will do.

    The proof is a C2SP tlog-proof. `tally verify --proof FILE --pinned DID` checks it anywhere, without the store; with
    --from, `tally verify --proof FILE --pinned DID --remembered HEAD` does.
    """
    if (step is None) is (since is None):
        raise UsageError("prove one thing", hint="name a STEP, or an older head: --from HEAD")
    if since is not None:
        _prove_extension(run, since, output)
    if step is not None:
        _prove_step(run, step, redaction, output)


def _prove_extension(run: Run, since: str, output: Path | None) -> None:
    from tallystick.seal.note import parse_note
    from tallystick.trust.prove import prove_extension

    old: Note | int
    if since.isascii() and since.isdigit():
        old = int(since)
    else:
        old = parse_note(Path(since).read_bytes())
    proof = prove_extension(run.home, old).decode()
    _answer(run, {"from": int(proof.partition("\n")[0].removeprefix("old ")), "proof": proof}, "the proof", output)


def _prove_step(run: Run, step: str, redaction: str, output: Path | None) -> None:
    from tallystick.seal.redact import Redaction
    from tallystick.trust.prove import prove as prove_step
    from tallystick.workspace.names import find_step

    with opened_index(run) as index:
        run.take(index.remarks)
        found = find_step(index, step)
    proof = prove_step(run.home, found.session, found.n, redaction=Redaction(redaction)).decode()
    data = {"session": found.session, "n": found.n, "redaction": redaction, "proof": proof}
    _answer(run, data, f"the proof of {short(found.session)}:{found.n}", output)


def _answer(run: Run, data: Mapping[str, object], what: str, output: Path | None) -> None:
    proof = str(data["proof"])
    text = proof.splitlines()
    if output is not None:
        output.write_text(proof, "utf-8")
        text = [f"wrote {what} to {output}"]
    run.answer("proof", data, text)

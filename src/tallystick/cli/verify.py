"""`tally verify`: what verification concluded, and the exit code that says so to a script."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import click

from tallystick.cli.frame import Command
from tallystick.cli.progress import progress_bar
from tallystick.cli.run import Run, counted, labelled, pass_run
from tallystick.display.axes import OUTCOMES, axes, defect_lines
from tallystick.display.text import one_line
from tallystick.model.verdict import Defect, Require, Verdict, report

_LISTED = 20


@click.command(
    cls=Command, example="tally verify\ntally verify 3f9a --require sealed\ntally verify copy/of/a/journal.jsonl"
)
@click.argument("target", metavar="[SESSION|PATH]", required=False)
@click.option("--require", type=click.Choice([kind.value for kind in Require]), help="Exit with 3 if it is below that.")
@click.option("--pinned", metavar="DID", help="Trust this did:key instead of the keys that the ledger names.")
@click.option(
    "--remembered",
    metavar="NOTE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A head of this store (heads/ledger.note) that was kept from earlier: the store must extend it.",
)
@pass_run
def verify(run: Run, target: str | None, require: str | None, pinned: str | None, remembered: Path | None) -> None:
    r"""Check that the record is whole, unchanged and signed.

    The store, one session, or a journal file that somebody sent.

    \b
    Exit codes:
      0  sound; an open session is sound and says `truncated`
      2  tampering detected
      3  sound, but below what --require asked (default: A2 for a store, A1 for a file)
      4  malformed, or over limits
      1  could not run
    """
    from tallystick.operations.verify_named import verify as verify_named

    with progress_bar(run, None) as advance:
        verdict = verify_named(
            target,
            home=run.home.folder,
            require=Require(require) if require is not None else None,
            pinned=pinned,
            remembered=remembered.read_bytes() if remembered is not None else None,
            progress=lambda done: advance("", done),
        )
    with contextlib.suppress(BrokenPipeError):  # who does not read on may still ask for the exit code
        run.answer("verdict", report(verdict), verdict_text(verdict))
    raise SystemExit(verdict.exit_code)


def verdict_text(verdict: Verdict) -> Iterator[str]:
    """The report for a person: the outcome, where it broke, the five axes, remarks."""
    color = {0: "blue", 3: "yellow"}.get(verdict.exit_code, "red")
    outcome = click.style(OUTCOMES[verdict.exit_code], fg=color, bold=True)
    yield f"{outcome}: {counted(verdict.steps, 'step')} of {counted(len(verdict.sessions), 'session')} checked"
    for defect in verdict.defects[:_LISTED]:
        yield from _defect_text(defect, {session.session for session in verdict.sessions})
    if len(verdict.defects) > _LISTED:
        yield f"  … and {len(verdict.defects) - _LISTED} more; --json has them all"
    yield from labelled(axes(verdict), indent="  ")
    for remark in verdict.remarks[:_LISTED]:
        yield f"  remark: {one_line(remark)}"
    if len(verdict.remarks) > _LISTED:
        yield f"  … and {len(verdict.remarks) - _LISTED} more remarks; --json has them all"


def _defect_text(defect: Defect, sessions: set[str | None]) -> Iterator[str]:
    where, why = defect_lines(defect, sessions)
    yield click.style(f"  {where}", fg="red")
    yield f"    {why}"

"""`tally verify`: the verdict of verification, and the exit code that reports it to a script."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
import msgspec

from tallystick.cli import completing
from tallystick.cli.command import Command, options_as
from tallystick.cli.context import Run, counted, labelled, pass_run
from tallystick.cli.filters import read_ago
from tallystick.cli.progress import progress_bar
from tallystick.display.axes import OUTCOMES, axes, defect_lines
from tallystick.display.text import one_line
from tallystick.errors import UsageError
from tallystick.model.verdict import Defect, Require, Verdict, report

if TYPE_CHECKING:
    from tallystick.seal.proof import ConsistencyVerdict, ProofVerdict

_LISTED = 20


def _age(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The time this long ago, in the record's notation."""
    try:
        found = None
        if value is not None:
            found = read_ago(value.strip(), datetime.now(UTC))
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from error
    if value is not None and found is None:
        raise click.BadParameter(f"{value!r} is not an age; use 90min, 24h or 7d", context, parameter)
    return found


class VerifyOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the record is held to, and by which evidence."""

    target: str | None
    require: str | None
    since: str | None
    pinned: str | None
    remembered: Path | None
    anchored: tuple[tuple[str, str], ...]
    proof: Path | None


@click.command(
    cls=Command,
    example="tally verify\ntally verify 3f9a --require sealed\ntally verify --require A4 --max-age 24h\n"
    "tally verify copy/of/a/journal.jsonl\ntally verify --anchored-at git git@example.org:me/anchors.git",
)
@click.argument("target", metavar="[SESSION|PATH]", required=False, shell_complete=completing.steps_or_paths)
@click.option(
    "--require", type=click.Choice([kind.value for kind in Require]), help="Exit with 3 if the level is below this."
)
@click.option(
    "--max-age",
    "since",
    metavar="AGE",
    callback=_age,
    help="With --require A3 or A4: the maximum age of the newest head at the signer, or at a place off this machine: "
    "90min, 24h, 7d. An older one is an alarm: 2.",
)
@click.option("--pinned", metavar="DID", help="Trust this did:key instead of the keys that the ledger names.")
@click.option(
    "--remembered",
    metavar="NOTE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A head of this store (heads/ledger.note) that was saved earlier: the store must extend it.",
)
@click.option(
    "--anchored-at",
    "anchored",
    metavar="KIND WHERE",
    type=(click.Choice(["git", "nats"]), str),
    multiple=True,
    help="A place off this machine that is known to have heads of this store, regardless of its ledger. WHERE#REF "
    "names another ref or subject than the default.",
)
@click.option(
    "--proof",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Check what `tally prove` wrote, and nothing else: no store is needed. --pinned says whose head it must be, "
    "--remembered which head it begins with, if it is the proof of a head.",
)
@options_as(VerifyOptions)
@pass_run
def verify(run: Run, options: VerifyOptions) -> None:
    r"""Check that the record is intact, complete and signed.

    Checks the store, one session, or a journal file from someone else.

    \b
    Exit codes:
      0  sound; an open session is sound and says `truncated`
      2  tampering detected
      3  sound, but below what --require asked (default: A2 for a store, A1 for a file)
      4  malformed, or over limits
      1  could not run
    """
    from tallystick.trust.anchors import Target
    from tallystick.trust.verify_named import verify as verify_named

    if options.proof is not None:
        if options.target is not None or options.since is not None or options.anchored:
            raise UsageError("--proof goes with --pinned, --remembered and --require A1 or A2 only")
        _verify_proof(run, options.proof, options.pinned, options.require, options.remembered)
    require = head = None
    if options.require is not None:
        require = Require(options.require)
    if options.remembered is not None:
        head = _head(options.remembered)
    with progress_bar(run, None) as advance:
        verdict = verify_named(
            options.target,
            home=run.home.folder,
            require=require,
            since=options.since,
            pinned=options.pinned,
            remembered=head,
            anchored=[
                Target(kind=kind, target=place, ref=ref or None)
                for kind, where in options.anchored
                for place, _, ref in (where.partition("#"),)
            ],
            progress=lambda done: advance("", done),
        )
    run.take(_other_seals(run, options.target))
    with contextlib.suppress(BrokenPipeError):  # a caller who does not read the output may still use the exit code
        run.answer("verdict", report(verdict), verdict_text(verdict))
    raise SystemExit(verdict.exit_code)


def _other_seals(run: Run, target: str | None) -> Iterator[str]:
    """What imported ledgers' own hashes said. They are no part of this record, so they do not change its verdict."""
    from tallystick.errors import TallystickError
    from tallystick.ingest.ledger_checks import broken_ledgers
    from tallystick.trust.verify_named import find_session

    with contextlib.suppress(TallystickError):  # a store that cannot be read has a verdict of its own
        session = None
        if target is not None:
            session = find_session(run.home, target)
        for alert in broken_ledgers(run.home, session):
            yield f"session {(alert.session or '')[:8]} is sound; when it was imported, {alert.message}"


def _head(path: Path) -> bytes:
    """A head that someone saved: of a file that is not one no more is read than shows that."""
    from tallystick.seal.limits import NOTE_BYTES

    with path.open("rb") as file:
        return file.read(NOTE_BYTES + 1)


def _verify_proof(run: Run, proof: Path, pinned: str | None, require: str | None, remembered: Path | None) -> NoReturn:
    from tallystick.trust.prove import verify_extension, verify_proof

    level = None
    if require is not None:
        level = Require(require)
    found: ProofVerdict | ConsistencyVerdict
    if remembered is not None:
        found = verify_extension(proof, _head(remembered), pinned=pinned, require=level)
    else:
        found = verify_proof(proof, pinned=pinned, require=level)
    with contextlib.suppress(BrokenPipeError):
        run.answer("proof-verdict", found, proof_text(found))
    raise SystemExit(found.exit)


def proof_text(found: ProofVerdict | ConsistencyVerdict) -> Iterator[str]:
    """What a proof proves, for a person: the step, where it is, who signed, and what of it is shown."""
    from tallystick.seal.proof import ConsistencyVerdict

    color = {0: "blue", 3: "yellow"}.get(found.exit, "red")
    yield click.style(OUTCOMES[found.exit], fg=color, bold=True)
    if found.first_bad is not None:
        yield click.style(f"  {one_line(found.first_bad['rule'])}: {one_line(found.first_bad['why'])}", fg="red")
        return
    if isinstance(found, ConsistencyVerdict):
        grown = f"{found.store}, entries 1 to {found.old_size:,} are unchanged among {found.ledger_size:,}"
        level = f"{found.level.value}: {found.why_not_higher}"
        signed = found.authenticity.value
        yield from labelled((("ledger", grown), ("authenticity", signed), ("level", level)), indent="  ")
        return
    shown = sorted(found.shown)
    yield from labelled(
        (
            ("step", f"{found.session}:{found.n}"),
            ("hash", found.entry or ""),
            ("session", f"had {found.size:,} steps"),
            ("ledger", f"{found.store}, entry {found.ledger_n:,} of {found.ledger_size:,}"),
            ("authenticity", found.authenticity.value),
            ("level", f"{found.level.value}: {found.why_not_higher}"),
            ("shown", ", ".join(map(one_line, shown)) or "nothing but the hash"),
            ("withheld", counted(found.withheld, "value") if found.withheld else ""),
        ),
        indent="  ",
    )
    for name in shown:
        yield f"  {one_line(name)} {one_line(json.dumps(found.shown[name], ensure_ascii=False))}"


def verdict_text(verdict: Verdict) -> Iterator[str]:
    """The report as text: the outcome, the first break, the five axes, remarks."""
    color = {0: "blue", 3: "yellow"}.get(verdict.exit_code, "red")
    outcome = click.style(OUTCOMES[verdict.exit_code], fg=color, bold=True)
    yield f"{outcome}: {counted(verdict.steps, 'step')} of {counted(len(verdict.sessions), 'session')} checked"
    for defect in verdict.defects[:_LISTED]:
        yield from _defect_text(defect, {session.session for session in verdict.sessions})
    if len(verdict.defects) > _LISTED:
        yield f"  … and {len(verdict.defects) - _LISTED} more; --json lists all"
    yield from labelled(axes(verdict), indent="  ")
    if verdict.too_old is not None:
        what = "lacking"
        if verdict.require is not Require.A3F:
            what = "too old"
        yield click.style(f"  {what}: {one_line(verdict.too_old)}", fg="yellow")
    for remark in verdict.remarks[:_LISTED]:
        yield f"  remark: {one_line(remark)}"
    if len(verdict.remarks) > _LISTED:
        yield f"  … and {len(verdict.remarks) - _LISTED} more remarks; --json lists all"


def _defect_text(defect: Defect, sessions: set[str | None]) -> Iterator[str]:
    where, why = defect_lines(defect, sessions)
    yield click.style(f"  {where}", fg="red")
    yield f"    {why}"

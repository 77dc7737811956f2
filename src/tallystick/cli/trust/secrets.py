"""`tally secrets`: secrets that are in the record already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tallystick.cli import completing
from tallystick.cli.command import Command, Group
from tallystick.cli.context import Run, counted, pass_run
from tallystick.cli.progress import progress_bar
from tallystick.cli.steps import short
from tallystick.display.text import one_line
from tallystick.errors import UsageError

if TYPE_CHECKING:
    from tallystick.trust.secrets import FoundSecret, SecretScan

FOUND = 2
"""The exit code if a secret is left in the record."""

secrets = Group(
    "secrets",
    help="Secrets that are in the record already.",
    lazy={"scan": ("tallystick.cli.trust.secrets:scan", "Look for secrets in what was recorded, with today's rules.")},
)


@click.command(
    "scan",
    cls=Command,
    example="tally secrets scan\ntally secrets scan a3f9 --json\n"
    'tally secrets scan --erase --reason "recorded before the rules knew it"',
)
@click.argument("session", required=False, shell_complete=completing.sessions)
@click.option("--erase", "erases", is_flag=True, help="Erase every value in which a secret is found.")
@click.option("--reason", metavar="R", help="With --erase: the reason, in your words; kept in the ledger.")
@click.option("--yes", is_flag=True, help="With --erase: do not ask for confirmation.")
@pass_run
def scan(run: Run, session: str | None, erases: bool, reason: str | None, yes: bool) -> None:
    """Look for secrets in what was recorded, with today's rules. SESSION is a session, or a unique beginning of its id.

    Reports where they are (step and field) and of what kind, never a value. Exits with 2 if one is left. With --erase each
    value that has one is erased whole, as `tally erase` does; the record still verifies.
    """
    from tallystick.trust.secrets import erase_found
    from tallystick.trust.secrets import scan as scan_store

    _check(erases=erases, reason=reason, yes=yes)
    with progress_bar(run, None) as advance:
        done = scan_store(run.home, _session(run, session), progress=advance)
    if erases and done.secrets and _is_confirmed(done, yes=yes):
        done = erase_found(run.home, done, reason or "")
        _index_again(run)
    run.answer("secrets", done, _text(done))
    if done.unread:
        raise SystemExit(1)
    if len(done.secrets) > done.erased:
        raise SystemExit(FOUND)


def _check(*, erases: bool, reason: str | None, yes: bool) -> None:
    if erases and not reason:
        raise UsageError("an erasure needs a reason", hint="add --reason, in your words; it is kept in the ledger")
    if not erases and (reason or yes):
        raise UsageError("--reason and --yes belong to --erase")


def _session(run: Run, text: str | None) -> str | None:
    from tallystick.workspace.indexing import open_index
    from tallystick.workspace.names import find_session

    if text is None:
        return None
    with open_index(run.home) as index:
        run.take(index.remarks)
        return find_session(index, text)


def _is_confirmed(done: SecretScan, *, yes: bool) -> bool:
    fields = sum(secret.can_be_erased for secret in done.secrets)
    return yes or click.confirm(f"Erase {counted(fields, 'value')} permanently?", default=False, err=True)


def _index_again(run: Run) -> None:
    """Read the journals again, so that search no longer finds what was erased."""
    from tallystick.graph.journals import Depth
    from tallystick.workspace.indexing import open_index

    with open_index(run.home, depth=Depth.TEXT) as index:
        run.take(index.remarks)


def _text(done: SecretScan) -> Iterator[str]:
    looked = f"{counted(done.steps, 'step')} of {counted(done.sessions, 'session')}"
    if not done.secrets:
        yield f"no secret found in {looked}"
    for secret in done.secrets:
        yield f"{short(secret.session)}:{secret.n}  {secret.field}  {_kinds(secret)}"
    if done.secrets:
        yield f"{counted(len(done.secrets), 'value')} with secrets in {looked}"
    if done.erased:
        yield f"erased {counted(done.erased, 'value')}; `tally verify` reports them as erased"
    elif any(secret.can_be_erased for secret in done.secrets):
        yield 'erase them with: tally secrets scan --erase --reason "…"'
    if any(not secret.can_be_erased for secret in done.secrets):
        yield "`meta` cannot be erased: it holds types, times and numbers that the chain's readers need"
    for session in done.unread:
        yield f"session {short(session.session)} cannot be read to its end: {one_line(session.why)}"


def _kinds(secret: FoundSecret) -> str:
    if not secret.kinds:
        return "too much work to search"
    named = []
    for kind, number in secret.kinds.items():
        times = ""
        if number > 1:
            times = f" ×{number}"
        named.append(one_line(kind) + times)
    return ", ".join(named)

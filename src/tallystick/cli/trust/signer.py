"""`tally signer`: a key that the agent cannot reach."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import Command, Group
from tallystick.cli.context import Run, labelled, pass_run
from tallystick.cli.filters import read_seconds
from tallystick.display.text import one_line

if TYPE_CHECKING:
    from tallystick.signer.pins import Pin
    from tallystick.trust.signer import SignerReport
    from tallystick.trust.signer_new_key import NewKey
    from tallystick.trust.signer_recovery import Difference, Recovery
    from tallystick.trust.signer_setup import Plan

signer = Group(
    "signer",
    help="Set up a signer: a process of another user that holds the key, and signs only extensions of what it signed "
    "before.",
    lazy={
        "init": ("tallystick.cli.trust.signer:init", "Set up a signer that runs as another user."),
        "run": ("tallystick.cli.trust.signer:run", "Run the signer under a supervisor of your own."),
        "status": ("tallystick.cli.trust.signer:status", "Show who signs this store, and the signer's state."),
        "verify": ("tallystick.cli.trust.signer:verify", "Compare the store with the state of its signer."),
        "restore": ("tallystick.cli.trust.signer:restore", "Bring a deleted ledger back from the signer."),
        "recover": (
            "tallystick.cli.trust.signer:recover",
            "Go on where the signer refuses, and seal what happened.",
        ),
        "leave": ("tallystick.cli.trust.signer:leave", "Return to a key of the store's own."),
    },
)


def _seconds(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """The length of an epoch."""
    from tallystick.signer.epochs import LONGEST, SHORTEST

    found = None
    if value is not None:
        found = read_seconds(value.strip())
    if value is not None and (found is None or not SHORTEST <= found <= LONGEST):
        raise click.BadParameter(f"{value!r} is not a duration from 1min to 31d; use 1h, 24h or 7d", context, parameter)
    return found


@click.command(
    "init",
    cls=Command,
    example="sudo tally signer init --home ~/.tally\nsudo tally signer init --epochs 1h\ntally signer init --dry-run",
)
@click.option(
    "--user", default="tally-signer", show_default=True, metavar="USER", help="The signer's user: a name or number."
)
@click.option(
    "--epochs",
    metavar="TIME",
    callback=_seconds,
    help="Change the signer's key after each such period and erase the old one: 1h, 24h, 7d. Can also be set later.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would change, and how to undo it.")
@pass_run
def init(call: Run, user: str, epochs: int | None, dry_run: bool) -> None:
    """Set up a signer that runs as another user. Needs root; lists the changes and how to undo them."""
    from tallystick.trust.signer_setup import plan, set_up
    from tallystick.trust.sudo_command import home_of_sudoer

    own = None
    if call.folder is None:
        own = home_of_sudoer(os.environ)
    found = plan(own or call.home, user=user, epochs=epochs)
    if dry_run:
        call.answer("signer-plan", found, _plan_text(found))
        return
    pin = set_up(found, told=lambda step: call.note(step.does))
    call.answer("signer", {"pin": pin, "steps": found.steps}, (*_plan_text(found, done=True), *_noted(pin)))


def _noted(pin: Pin) -> Iterator[str]:
    if pin.epoch_seconds is not None:
        yield f"level A3f once an epoch has ended. Write this key down outside this machine: {pin.key}"
        yield f"  tally verify --require A3f --pinned {pin.key}"


def _plan_text(found: Plan, *, done: bool = False) -> Iterator[str]:
    yield f"{'done' if done else 'would be done'} for the store at {one_line(str(found.home))}:"
    for number, step in enumerate(found.steps, 1):
        yield f"  {number}. {one_line(step.does)}"
        yield click.style(f"     undo: {one_line(step.undo)}", dim=True)
    yield "to undo it, start with the last step; skip those that say `nothing`"
    if done:
        yield "level A3: `tally verify --require A3` now requires it"


@click.command("run", cls=Command, example="tally signer run /var/lib/tallystick-signer /run/tallystick-signer/socket")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("socket", type=click.Path(path_type=Path))
@pass_run
def run(_: Run, folder: Path, socket: Path) -> None:
    """Run the signer under a supervisor of your own. FOLDER holds the keys; only this user may have access to it."""
    from tallystick.signer.__main__ import main

    raise SystemExit(main([str(folder), str(socket)]))


@click.command("status", cls=Command, example="tally signer status --json")
@pass_run
def status(call: Run) -> None:
    """Show who signs this store, and the signer's state. Exit code 1 if there is no signer or it does not answer."""
    from tallystick.trust.signer import signer_report

    found = signer_report(call.home)
    call.answer("signer", found, labelled(_facts(found)))
    if found.head is None:
        raise SystemExit(1)


def _facts(found: SignerReport) -> Iterator[tuple[str, str]]:
    from tallystick.journal.archive import system_clock

    yield "store", found.store
    if found.pin is None:
        yield "signer", "none: the store signs with a key of the user who records; `tally signer init` changes that"
    else:
        yield "signer", f"user {found.pin.signer} at {one_line(found.pin.socket)}"
        yield ("key" if found.epochs is None else "first key"), one_line(found.pin.key)
    if found.size is not None:
        yield "remembers", f"{found.size:,} entries of the ledger, signed {one_line(found.signed_at or 'never')}"
        yield "keeps", _kept(found)
    if found.epochs is not None:
        yield "epochs", one_line(found.epochs.told(system_clock()))
    if found.refusals:
        yield "refused", ", ".join(f"{count:,} × {one_line(kind)}" for kind, count in sorted(found.refusals.items()))
    yield from (("problem", one_line(problem)) for problem in found.problems)
    yield from (("ALARM", one_line(alarm)) for alarm in found.alarms)


def _kept(found: SignerReport) -> str:
    if found.kept is None:
        return "only hashes: it is an older signer; `sudo tally signer init` brings it up to date"
    if found.kept < (found.size or 0):
        return f"{found.kept:,} entries so far: it had only hashes, and takes the others with the next signature"
    return f"{found.kept:,} entries, which `tally signer restore` brings back"


@click.command("verify", cls=Command, example="tally signer verify")
@pass_run
def verify(call: Run) -> None:
    """Compare the store with the state of its signer. The same as `tally verify --require A3`."""
    from tallystick.cli.trust.verify import verify as verify_store

    click.get_current_context().invoke(verify_store, require="A3")


@click.command("restore", cls=Command, example="tally signer restore")
@pass_run
def restore(call: Run) -> None:
    """Bring a deleted ledger back from the signer.

    Of a ledger that is there, only show how it differs from what the signer keeps. Exit code 2 if anything is missing.
    """
    from tallystick.trust.signer_recovery import restore as restore_ledger

    was_there = call.home.exists
    found = restore_ledger(call.home)
    call.answer("signer-difference", found, _difference(found, was_there=was_there))
    if found.missing or (was_there and found.signer_has_more):
        raise SystemExit(2)


def _difference(found: Difference, *, was_there: bool) -> Iterator[str]:
    if not was_there:
        yield f"the ledger is back: {found.kept:,} entries of store {found.store}, as the signer keeps them"
    elif found.signer_has_more:
        yield f"the ledger on disk differs from entry {found.common:,} on: `tally signer recover` goes on from it"
    else:
        yield f"the ledger on disk has all {found.kept:,} entries that the signer keeps"
    if was_there:
        for whose, entries in (("only the signer has", found.only_kept), ("only on disk is", found.only_on_disk)):
            yield from (one_line(f"  {whose} {said.n}: {said.type} {said.recorded} {said.session}") for said in entries)
    if found.missing:
        yield f"{len(found.missing):,} sessions that it names are not there:"
        yield from (f"  {one_line(sid)}" for sid in found.missing[:20])


@click.command(
    "recover", cls=Command, example="tally signer recover\nsudo tally signer recover --new-key --home ~/.tally"
)
@click.option("--new-key", is_flag=True, help="Give the signer another key, if it cannot continue. Needs root.")
@pass_run
def recover(call: Run, new_key: bool) -> None:
    """Go on where the signer refuses, and seal what happened.

    What the signer keeps stands. What was on disk instead is set aside and shown; verification shows the recovery.
    """
    from tallystick.trust.signer_recovery import recover as recover_ledger

    if new_key:
        _new_key(call)
        return

    found = recover_ledger(call.home)
    call.answer("signer-recovery", found, _recovered(found))


def _new_key(call: Run) -> None:
    from tallystick.trust.signer_new_key import give_new_key
    from tallystick.trust.sudo_command import home_of_sudoer

    own = None
    if call.folder is None:
        own = home_of_sudoer(os.environ)
    found = give_new_key(own or call.home)
    call.answer("signer-new-key", found, _given(found))


def _given(found: NewKey) -> Iterator[str]:
    yield f"a recovery is sealed (new_key); the signer's key is {one_line(found.pin.key)}"
    yield f"the old key, {one_line(found.old_key)}, signed the first {found.agreed:,} entries of this ledger"
    if found.unknown:
        sizes = ", ".join(f"{size:,}" for size in found.unknown[:20])
        yield f"it also signed heads that are not of this ledger: {sizes} entries"
    yield from (f"set aside: {one_line(path)}" for path in found.aside)
    yield from _noted(found.pin)


def _recovered(found: Recovery) -> Iterator[str]:
    if found.cause is None:
        yield f"nothing to recover from: the signer signs the ledger as it is, {found.size:,} entries"
        return
    yield f"a recovery is sealed ({found.cause}); {found.size:,} entries are signed"
    if found.aside is not None:
        yield f"set aside: {one_line(found.aside)}; {found.said_again:,} of its entries were sealed again"
    yield from _difference(found.difference, was_there=True)


@click.command("leave", cls=Command, example="tally signer leave")
@pass_run
def leave(call: Run) -> None:
    """Return to a key of the store's own.

    The signer signs this as its last statement; what it signed before still verifies.
    """
    from tallystick.seal.keys import did_key
    from tallystick.signer.pins import PINS
    from tallystick.trust.signer import signer_report
    from tallystick.trust.signer_setup import leave as leave_signer

    key = did_key(leave_signer(call.home, seeds=lambda: os.urandom(32)))
    said = [f"the store signs with its own key again: {key}", "level A2; the signer's folder and user are still there"]
    pin = signer_report(call.home).pin
    if pin is not None:
        said.append(f"until root deletes {PINS / f'{pin.store}.json'}, `tally verify` reports that the signer was left")
    call.answer("signer", {"key": key}, said)

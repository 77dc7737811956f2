"""`tally anchor`: signed heads of the store, kept where no one on this machine can delete them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import Command, Group
from tallystick.cli.context import Run, counted, pass_run, table
from tallystick.cli.fitting import wrapped
from tallystick.display.text import one_line

if TYPE_CHECKING:
    from tallystick.trust.anchor_answers import Answer
    from tallystick.trust.anchors import Target

anchor = Group(
    "anchor",
    help="Publish signed log heads to another machine. Only heads leave this machine: an id, a size, a root, a "
    "signature.",
    lazy={
        "git": ("tallystick.cli.trust.anchor:git", "Publish heads to a ref of a remote git repository"),
        "tsa": (
            "tallystick.cli.trust.anchor:tsa",
            "Have a time-stamping authority confirm when a head existed (RFC 3161).",
        ),
        "nats": ("tallystick.cli.trust.anchor:nats", "Publish heads to a JetStream subject of a remote NATS server."),
        "list": ("tallystick.cli.trust.anchor:list_", "List the places where the store is anchored, from its ledger."),
        "status": (
            "tallystick.cli.trust.anchor:status",
            "Show how fresh each place is and how well it protects what it keeps.",
        ),
        "verify": ("tallystick.cli.trust.anchor:verify", "Compare the store with the heads that the places keep."),
        "stop": ("tallystick.cli.trust.anchor:stop", "Stop using a place. What it keeps stays there"),
    },
)


@click.command("git", cls=Command, example="tally anchor git git@example.org:me/anchors.git")
@click.argument("remote")
@click.option("--ref", metavar="REF", help="The ref to use.  [default: refs/heads/tallystick/STORE]")
@pass_run
def git(run: Run, remote: str, ref: str | None) -> None:
    """Publish heads to a ref of a remote git repository: fast-forward only, one commit for each head.

    The first run tests, on a second ref, whether the server refuses to rewrite and to delete a ref, and reports the
    result. Each later run adds the newest head; the recorder does so every hour.
    """
    from tallystick.trust.anchors import Target

    _put(run, Target(kind="git", target=remote, ref=ref or _known_ref(run, "git", remote)))


@click.command("tsa", cls=Command, example="tally anchor tsa https://tsa.example.org --ca authority.pem")
@click.argument("url")
@click.option(
    "--ca",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="PEM certificates that the authority is trusted by. Required the first time; later runs read them from the "
    "ledger.",
)
@pass_run
def tsa(run: Run, url: str, ca: Path | None) -> None:
    """Have a time-stamping authority confirm when a head existed (RFC 3161). The authority gets a hash of the head."""
    from tallystick.trust.anchors import Target, targets

    known = next((each for each in targets(run.home) if each.kind == "tsa" and each.target == url), None)
    given = None
    if ca is not None:
        given = ca.read_text("utf-8")
    elif known is not None:
        given = known.ca
    _put(run, Target(kind="tsa", target=url, ca=given))


@click.command("nats", cls=Command, example="tally anchor nats nats://nats.example.org:4222")
@click.argument("url")
@click.option("--subject", metavar="S", help="The subject to publish to.  [default: tallystick.heads.STORE]")
@pass_run
def nats(run: Run, url: str, subject: str | None) -> None:
    """Publish heads to a JetStream subject of a remote NATS server.

    Creates a stream that deletes nothing if none exists.
    """
    from tallystick.trust.anchors import Target

    _put(run, Target(kind="nats", target=url, ref=subject or _known_ref(run, "nats", url)))


def _known_ref(run: Run, kind: str, target: str) -> str | None:
    """The ref or subject that is already in use at a place, if any."""
    from tallystick.trust.anchors import targets

    known = [each.ref for each in targets(run.home) if (each.kind, each.target) == (kind, target)]
    if len(known) == 1:
        return known[0]
    return None


def _put(run: Run, target: Target) -> None:
    from tallystick.journal.archive import system_clock
    from tallystick.trust.anchors import anchor as put

    found = put(run.home, target, clock=system_clock)
    if found.guarded is False:
        run.warn(f"not counted as an anchor: {one_line(found.says)}")
    entries = counted(found.size, "entry", "entries")
    said = ""
    if found.says:
        said = f" ({one_line(found.says)})"
    run.answer("anchor", found, [f"{one_line(found.name)} keeps a head over {entries}{said}"])


@click.command("list", cls=Command, example="tally anchor list")
@pass_run
def list_(run: Run) -> None:
    """List the places where the store is anchored, from its ledger. Contacts none of them: `tally anchor verify` does."""
    from tallystick.trust.anchors import targets

    found = targets(run.home)
    run.answer("anchors", found, _list_text(found, run.width))


def _list_text(found: tuple[Target, ...], width: int) -> Iterator[str]:
    if not found:
        yield from wrapped("the store is not anchored; `tally anchor git REMOTE` sets up the first place", width)
        return
    rows = [
        (each.kind, one_line(each.target), f"{each.size:,}", f"{each.count:,}", one_line((each.at or "")[:19]))
        for each in found
    ]
    head = ("KIND", "WHERE", "ENTRIES", "HEADS", "NEWEST (UTC)")
    yield from table(rows, head=head, right=frozenset((2, 3)), width=width, gives={1: 24})


@click.command("status", cls=Command, example="tally anchor status")
@pass_run
def status(run: Run) -> None:
    """Show how fresh each place is and how well it protects what it keeps.

    Exit code 1 if one is too old or allows heads to be deleted.

    Asks the recorder for its last error, and contacts none of the places: `tally anchor verify` does.
    """
    import time

    from tallystick.capture import recorder
    from tallystick.trust.anchors import targets, too_old
    from tallystick.workspace.settings import read_setting

    found = targets(run.home)
    hours = int(str(read_setting(run.home, "anchors.too_old_hours")))
    old = too_old(run.home, found, now=time.time(), most_hours=hours)
    problem = (recorder.status(run.home.folder) or {}).get("anchoring_problem")
    run.answer(
        "anchor-status",
        {"anchors": found, "too_old": old, "problem": problem},
        _status_text(found, old, problem if isinstance(problem, str) else None, run.width),
    )
    if old or any(each.guarded is False for each in found):
        raise SystemExit(1)


_GUARDED = {True: "cannot be rewritten", False: "allows heads to be deleted: does not count", None: "not tried"}


def _status_text(found: tuple[Target, ...], old: tuple[str, ...], problem: str | None, width: int) -> Iterator[str]:
    yield from _list_text(found, width)
    yield from (f"{one_line(each.name)}: {_GUARDED[each.guarded]}" for each in found)
    yield from (f"too old: {one_line(said)}" for said in old)
    if problem is not None:
        yield f"the recorder could not reach one: {one_line(problem)}"


@click.command("verify", cls=Command, example="tally anchor verify")
@pass_run
def verify(run: Run) -> None:
    """Compare the store with the heads that the places keep. The same as `tally verify --require A4`, with each answer."""
    from tallystick.cli.trust.verify import verify as verify_store
    from tallystick.trust.anchor_answers import ask
    from tallystick.trust.anchors import keys_of

    if not run.json:
        for line in _answers_text(ask(run.home, keys_of(run.home))):
            run.write(line + "\n")
    click.get_current_context().invoke(verify_store, require="A4")


def _answers_text(found: tuple[Answer, ...]) -> Iterator[str]:
    for each in found:
        if each.problem is not None:
            said = one_line(each.problem)
        else:
            said = counted(len(each.heads), "head")
        newest = ""
        if each.newest_at:
            newest = f", the newest of {one_line(each.newest_at[:19])} UTC"
        yield f"{one_line(each.target.name)}: {said}{newest}"


@click.command("stop", cls=Command, example="tally anchor stop git git@example.org:me/anchors.git")
@click.argument("kind", type=click.Choice(["git", "tsa", "nats"]))
@click.argument("target", required=False)
@click.option("--ref", metavar="REF", help="The ref or subject to stop, where one place has several.")
@pass_run
def stop(run: Run, kind: str, target: str | None, ref: str | None) -> None:
    """Stop using a place. What it keeps stays there, and the ledger keeps its entries about it."""
    from tallystick.trust.anchors import find_target
    from tallystick.trust.anchors import stop as stop_using

    found = find_target(run.home, kind, target, ref)
    stop_using(run.home, found)
    run.answer("anchor", found, [f"{one_line(found.name)} is no longer used"])

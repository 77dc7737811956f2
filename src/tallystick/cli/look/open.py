"""`tally open`: look at a store, a transcript or a ledger from elsewhere, without taking it in.

Owns which commands may be asked of it. What can be opened is `ingest.opened`'s.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run, path_text
from tallystick.cli.progress import progress_bar

if TYPE_CHECKING:
    from tallystick.ingest.opened import Opened

_ASKED = "tally.open.asked"
_ENDED_BY_SIGNAL = 128


class _Asking(Command):
    """Keeps the words after `--` as they are: they are another command's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split at the first `--`."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_ASKED] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """What stands after `--` is no parameter of this command."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


@click.command(
    "open",
    cls=_Asking,
    example="tally open ~/Downloads/session.jsonl\ntally open /mnt/laptop/.tally -- verify\n"
    "tally open session.jsonl -- why src/app.py:12",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.pass_context
@pass_run
def open_(run: Run, context: click.Context, paths: tuple[Path, ...]) -> None:
    """Look at records from elsewhere: another store, an agent's transcripts, a hash-chain ledger.

    They are only read: a store is copied, histories are imported into a temporary store, and both are removed at the
    end. COMMAND is any command that reads, with its options: `why`, `log`, `cost`, `verify`. Without one, sessions are
    shown full-screen, or listed where there is no terminal. Your own store is neither read nor changed.
    """
    from tallystick.ingest.adapters import adapters
    from tallystick.ingest.opened import opened

    asked = context.meta.get(_ASKED) or _shown_by_itself(run)
    _check(asked)
    with _ends_by_exit(), opened(paths, adapters(), partial(progress_bar, run)) as found:
        _tell(run, found)
        inner = Run()
        inner.folder = found.home.folder
        inner.json, inner.quiet = run.json, run.quiet
        inner.no_color, inner.colors_always = run.no_color, run.colors_always
        from tallystick.cli import main

        main.main(asked, "tally", standalone_mode=False, obj=inner)


def _shown_by_itself(run: Run) -> list[str]:
    """What is shown where no command is named: the browser on a terminal, else the list of sessions."""
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    if on_terminal and not run.json:
        return ["tui"]
    return ["session", "list"]


def _check(asked: Sequence[str]) -> None:
    """Raise UsageError unless a command does no more than read."""
    from tallystick.cli import main
    from tallystick.errors import UsageError
    from tallystick.model.script import Word
    from tallystick.policy.protected.own_commands import Does, own_command

    if any(word == "--home" or word.startswith("--home=") for word in asked):
        raise UsageError("--home names another store than the one that is opened", hint="leave it out")
    found = own_command([Word("tally"), *map(Word, asked)])
    if asked[0] in main.lazy and (found is None or found.does is not Does.READ):
        raise UsageError(
            f"`{asked[0]}` changes a store, and what is opened is only read",
            hint="to keep it, import it: `tally import PATH`",
        )


@contextmanager
def _ends_by_exit() -> Iterator[None]:
    """While this holds, a signal that ends the program ends it in order, so that nothing temporary stays."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(_ENDED_BY_SIGNAL + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(run: Run, found: Opened) -> None:
    """Say what could not be read."""
    for name in found.left_out:
        run.warn(f"left out, a link, pipe or device: {path_text(name)}")
    if found.imported is None:
        return
    run.take(found.imported.remarks)
    report = found.imported.report
    run.take(f"{path_text(item.path)}: {item.why}" for item in report.refused)
    damaged = [file for file in report.files if file.error or any(loss.fault for loss in file.losses.values())]
    if damaged:
        run.warn(f"{counted(len(damaged), 'file')} could not be read whole: `tally import` lists what and where")
    for ledger in found.imported.ledgers:
        if not ledger.verdict.valid:
            run.warn(f"{path_text(ledger.path)}: the hashes of this ledger do not match")

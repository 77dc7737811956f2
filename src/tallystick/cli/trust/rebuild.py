"""`tally rebuild`: rebuild the index from the journals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run
from tallystick.cli.progress import progress_bar
from tallystick.cli.steps import short
from tallystick.display.text import one_line

if TYPE_CHECKING:
    from tallystick.trust.rebuild import Rebuilt


@click.command(cls=Command, example="tally rebuild")
@pass_run
def rebuild(run: Run) -> None:
    """Rebuild the index from the journals. The index contains nothing that is not in them."""
    from tallystick.guard.grants import rebuild_folder
    from tallystick.trust.rebuild import rebuild as rebuild_index
    from tallystick.workspace.indexing import open_index

    with progress_bar(run, None) as advance:
        done = rebuild_index(run.home, progress=lambda size: advance("", size))
    with open_index(run.home) as index:
        rebuild_folder(run.home, index)
    run.answer("rebuild", done, _rebuilt_text(done))
    if done.failures:
        raise SystemExit(1)


def _rebuilt_text(done: Rebuilt) -> Iterator[str]:
    yield f"index rebuilt: {counted(done.steps, 'step')} of {counted(done.sessions, 'session')}"
    if done.was is None:
        yield "there was no old index to compare"
    elif done.differing:
        named = ", ".join(short(session) for session in done.differing[:5])
        yield f"the old index differed in {counted(len(done.differing), 'session')}: {named}"
    elif not done.tables:
        yield "the old index was the same, row for row"
    if done.tables:
        yield f"the old graph differed in {', '.join(done.tables)}"
    if done.alerts is not None:
        yield f"the old alerts had been changed; a step records it: {one_line(done.alerts)}"
    for failure in done.failures:
        yield f"session {short(failure.session)} cannot be read from step {failure.n} on: {one_line(failure.why)}"

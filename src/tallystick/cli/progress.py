"""Progress on stderr, for a person at a terminal: a bar, or one line for work that is mostly short.

Owns when it is shown. Its labels are printed literally, never as markup.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from tallystick.cli.context import Run
from tallystick.display.text import cut, one_line

if TYPE_CHECKING:
    from tallystick.graph.journals import Depth
    from tallystick.workspace.index import Index

_LABEL = 32
_SILENT_S, _EVERY_S = 1.0, 0.2
_CLEAR = "\r\x1b[K"


@contextmanager
def progress_bar(run: Run, total: int | None) -> Iterator[Callable[[str, int], None]]:
    """Gives a function that takes the current item and the number of bytes done since the last call; it may do nothing.

    Args:
        total: bytes in all; None if unknown.
    """
    if not run.shows_progress:
        yield lambda _label, _bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        DownloadColumn(binary_units=True),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    no_color = run.uses_color is False
    with Progress(*columns, console=Console(stderr=True, no_color=no_color), transient=True) as bar:
        task = bar.add_task("", total=total)

        def advance(label: str, done: int) -> None:
            bar.update(task, advance=done, description=cut(one_line(label), _LABEL))

        yield advance


@contextmanager
def index_line(run: Run) -> Iterator[Callable[[int], None]]:
    """Gives a function that takes the journal bytes read since the last call; it prints a line if that takes long."""
    began, last, done = time.monotonic(), 0.0, 0

    def told(more: int) -> None:
        nonlocal last, done
        done += more
        now = time.monotonic()
        if run.shows_progress and now - began > _SILENT_S and now - last > _EVERY_S:
            last = now
            click.echo(f"{_CLEAR}updating the index: {done / 1e6:,.1f} MB read", nl=False, err=True)

    try:
        yield told
    finally:
        if last:
            click.echo(_CLEAR, nl=False, err=True)


@contextmanager
def opened_index(run: Run, *, depth: Depth | None = None) -> Iterator[Index]:
    """The updated index; reports progress meanwhile. `depth`: as of `open_index`, rows where it is omitted.

    Raises the errors of `open_index`.
    """
    from tallystick.graph.journals import Depth
    from tallystick.workspace.indexing import open_index

    with ExitStack() as stack:
        with index_line(run) as told:
            index = stack.enter_context(open_index(run.home, depth=depth or Depth.ROWS, progress=told))
        yield index

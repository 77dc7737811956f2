"""A progress bar on stderr, for a person at a terminal.

Owns when there is one. Its labels are shown as they are, never as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tallystick.cli.run import Run
from tallystick.display.text import cut, one_line

_LABEL = 32


@contextmanager
def progress_bar(run: Run, total: int | None) -> Iterator[Callable[[str, int], None]]:
    """Gives a function that takes what is being worked on and how many bytes more are done; it may do nothing.

    Args:
        total: bytes in all; None if nobody knows.
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

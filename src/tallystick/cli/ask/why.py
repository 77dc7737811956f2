"""`tally why` and `tally impact`: the causes and the results of a file, URL or step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run
from tallystick.cli.filters import WalkOptions, walk_options
from tallystick.cli.nodes import answer_data, answer_text, step_ref
from tallystick.cli.progress import opened_index
from tallystick.display.text import first_line

if TYPE_CHECKING:
    from tallystick.ask.why import LineOrigin, Why


@click.command(
    cls=Command,
    example="tally why src/shop.py\ntally why src/shop.py:12\ntally why a3f9:17\ntally why https://example.org",
)
@click.argument("start", shell_complete=completing.steps_or_paths)
@walk_options
@pass_run
def why(run: Run, start: str, walk: WalkOptions) -> None:
    """Which prompt and calls produced a file, URL or step.

    Shows the call, its inputs, its approval and the prompt, up to the first session.

    START is a path, PATH:LINE, a URL, a step (SESSION:N, a hash) or a session. A path may be relative, absolute, from
    another machine, or the end of one recorded path.
    """
    from tallystick.ask.why import why as ask

    with opened_index(run) as index:
        run.take(index.remarks)
        found = ask(run.home, index, start, folder=str(Path.cwd()), limits=walk.limits())
    more = {"line": found.line, "is_as_recorded": found.is_as_recorded}
    data = None
    if run.json:
        data = {**answer_data(found.answer), **more}
    run.answer("why", data, _why_text(found, run.width))


def _why_text(found: Why, width: int) -> Iterator[str]:
    if found.line is not None:
        yield from _line_text(found.line, width)
    yield from answer_text(found.answer, width, upwards=True)
    if found.is_as_recorded is False:
        yield click.style("the file differs from its newest recorded version: it was changed since", fg="yellow")
    if len(found.answer.nodes) == 1:
        yield "no cause is recorded"


def _line_text(line: LineOrigin, width: int) -> Iterator[str]:
    text = f"line {line.number}"
    if line.text is not None:
        text += f": {first_line(line.text, max(width - 40, 20))}"
    yield click.style(text, bold=True)
    if line.step is not None:
        since = ""
        if line.writes_since:
            since = f"; unchanged by {counted(line.writes_since, 'later write')}"
        yield f"written by {step_ref(line.step)}, confidence {line.confidence:.2g}{since}"
    else:
        yield f"not traced to a write: {first_line(line.why_not or '', width)}; below is what changed the file last"


@click.command(
    cls=Command,
    example="tally impact docs/ticket-118.txt\ntally impact a3f9:17\ntally impact a3f9\ntally impact https://example.org",
)
@click.argument("start", shell_complete=completing.steps_or_paths)
@walk_options
@pass_run
def impact(run: Run, start: str, walk: WalkOptions) -> None:
    """What was later made from a file, URL or step: its readers, the results, and what was made from those, across sessions.

    START is a path, a URL, a step (SESSION:N, a hash) or a session.
    """
    from tallystick.ask.impact import impact as ask

    with opened_index(run) as index:
        run.take(index.remarks)
        limits = walk.limits(0.0)  # a search for damage prefers too many results to too few
        found = ask(run.home, index, start, folder=str(Path.cwd()), limits=limits)
    run.answer("impact", lambda: answer_data(found), answer_text(found, run.width, upwards=False))
    if len(found.nodes) == len(found.start.nodes):
        run.note("no result is recorded")

"""`tally why` and `tally impact`: the causes and the results of a file, URL or step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run
from tallystick.cli.filters import WalkOptions, limits_given, walk_options
from tallystick.cli.nodes import answer_data, answer_text, step_ref
from tallystick.cli.progress import opened_index
from tallystick.cli.stories import effects_text, why_text, writers_words
from tallystick.display.text import first_line

if TYPE_CHECKING:
    from tallystick.ask.why import LineOrigin, Why


all_option = click.option(
    "--all",
    "show_all",
    is_flag=True,
    help="Show the whole graph, as far as these limits allow. Any of them implies it.",
)


@click.command(
    cls=Command,
    example="tally why src/shop.py\ntally why src/shop.py:12\ntally why a3f9:17\ntally why https://example.org",
)
@click.argument("start", shell_complete=completing.steps_or_paths)
@all_option
@walk_options
@pass_run
def why(run: Run, start: str, walk: WalkOptions, *, show_all: bool) -> None:
    """Which prompt and calls produced a file, URL or step.

    Tells in at most seven lines what it is now, who changed it last and for which prompt, what it was made from, who else
    changed it, and how sure that is. --all shows the whole graph, up to the first session.

    START is a path, PATH:LINE, a URL, a step (SESSION:N, a hash) or a session. A path may be relative, absolute, from
    another machine, or the end of one recorded path.
    """
    from tallystick.ask.why import why as ask
    from tallystick.lineage.walk import Limits

    is_whole = show_all or limits_given()
    limits = walk.limits()
    if not (is_whole or run.json):
        limits = Limits(depth=0, nodes=1)  # a story needs no walk
    with opened_index(run) as index:
        run.take(index.remarks)
        found = ask(run.home, index, start, folder=str(Path.cwd()), limits=limits)
    more = {"line": found.line, "is_as_recorded": found.is_as_recorded, "story": found.story}
    data = None
    if run.json:
        data = {**answer_data(found.answer), **more}
    text = _graph_text if is_whole else why_text
    run.answer("why", data, text(found, run.width))


def _graph_text(found: Why, width: int) -> Iterator[str]:
    if found.line is not None:
        yield from _line_text(found.line, width)
    yield from answer_text(found.answer, width, upwards=True)
    yield from writers_words("changed by", found.story.writers, width, len(found.story.writers))
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
@all_option
@walk_options
@pass_run
def impact(run: Run, start: str, walk: WalkOptions, *, show_all: bool) -> None:
    """What was later made from a file, URL or step: its readers, the results, and what was made from those, across sessions.

    Tells in at most seven lines who used it and for which prompt, and what is known to have been made from it. What was only
    written after a model had been shown it is counted. --all shows the whole graph.

    START is a path, a URL, a step (SESSION:N, a hash) or a session.
    """
    from tallystick.ask.impact import impact as ask

    with opened_index(run) as index:
        run.take(index.remarks)
        limits = walk.limits(0.0)  # a search for damage prefers too many results to too few
        found = ask(run.home, index, start, folder=str(Path.cwd()), limits=limits)
    is_whole = show_all or limits_given()
    text = answer_text(found.answer, run.width, upwards=False) if is_whole else effects_text(found.story, run.width)
    run.answer("impact", lambda: {**answer_data(found.answer), "story": found.story}, text)
    if is_whole and len(found.answer.nodes) == len(found.answer.start.nodes):
        run.note("no result is recorded")

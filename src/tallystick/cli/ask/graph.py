"""`tally graph`: the provenance graph around a node, as text, JSON, or a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from tallystick.cli import completing
from tallystick.cli.command import Command, options_as
from tallystick.cli.context import Run, counted, pass_run, path_text
from tallystick.cli.filters import WalkOptions, walk_options
from tallystick.cli.nodes import answer_data, answer_text
from tallystick.display.text import lines

if TYPE_CHECKING:
    from tallystick.ask.graph_walk import Answer

FORMATS = ("text", "json", "dot", "svg", "mermaid")


class GraphOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which way is drawn, and how."""

    form: str
    direction: str
    output: Path | None


@click.command(
    cls=Command,
    example="tally graph docs/summary.md --format svg -o summary.svg\ntally graph a3f9:17 --direction up\n"
    "tally graph a3f9 --format mermaid",
)
@click.argument("starts", metavar="START...", nargs=-1, required=True, shell_complete=completing.steps_or_paths)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="The output format."
)
@click.option(
    "--direction",
    type=click.Choice(("up", "down", "both")),
    default="both",
    show_default=True,
    help="Towards causes, towards results, or both.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write to FILE.")
@walk_options
@options_as(GraphOptions)
@pass_run
def graph(run: Run, starts: tuple[str, ...], walk: WalkOptions, options: GraphOptions) -> None:
    """Draw the provenance graph around a file, URL, step or session.

    START is a path, a URL, a step or a session; several are drawn together.
    """
    from tallystick.ask.graph import find_starts, graph_around
    from tallystick.ask.graph_walk import Direction
    from tallystick.workspace.indexing import open_index

    ways = [options.direction]
    if options.direction == "both" and options.form == "text" and not run.json:
        ways = ["up", "down"]
    with open_index(run.home) as index:
        run.take(index.remarks)
        found = find_starts(index, starts, folder=str(Path.cwd()))
        answers = [graph_around(run.home, index, found, Direction(way), walk.limits()) for way in ways]
    _answer_graph(run, answers, options.form, options.output)


def _answer_graph(run: Run, answers: list[Answer], form: str, output: Path | None) -> None:
    """Print the answers: two of them where causes and results are drawn one after the other."""
    found = answers[0]
    if form == "json":
        run.json = True
    if output is None and form in ("text", "json"):
        run.answer("graph", lambda: answer_data(found), _trees(answers, run.width))
        return
    drawn = _drawn(answers, form, run.width)
    data: dict[str, object] = {}
    if run.json:
        data = {**answer_data(found), "drawn": drawn}
    if output is None:
        run.answer("graph", data, lines(drawn.rstrip("\n")))
    else:
        output.write_text(drawn, "utf-8")
        run.answer("graph", {**data, "drawn": None, "file": str(output)}, ())
        run.note(f"{path_text(output)}: {counted(len(found.nodes), 'node')}, {counted(len(found.edges), 'edge')}")
    cuts = sum(len(one.cuts) for one in answers)
    if cuts:
        run.note(f"not complete: {counted(cuts, 'place')} marked “cut here”")


def _trees(answers: list[Answer], width: int) -> Iterator[str]:
    for found in answers:
        upwards = found.direction.value == "up"
        if len(answers) > 1:
            yield click.style("causes" if upwards else "results", bold=True)
        yield from answer_text(found, width, upwards=upwards)


def _drawn(answers: list[Answer], form: str, width: int) -> str:
    """The answers in a format for a file or another program."""
    from tallystick.ask.graph import picture_of
    from tallystick.cli.context import envelope
    from tallystick.lineage.drawing_svg import svg
    from tallystick.lineage.drawing_text import dot, mermaid

    found = answers[0]
    match form:
        case "svg":
            return svg(picture_of(found), title=found.start.text)
        case "dot":
            return dot(picture_of(found), title=found.start.text)
        case "mermaid":
            return mermaid(picture_of(found))
        case "json":
            return envelope("graph", answer_data(found), []) + "\n"
        case _:
            return "".join(f"{click.unstyle(line)}\n" for line in _trees(answers, width))

"""`tally show`: everything about one step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, labelled, pass_run
from tallystick.cli.progress import opened_index
from tallystick.cli.steps import step_line
from tallystick.cli.timeline import styled
from tallystick.display import outcome
from tallystick.display.acts import act_line
from tallystick.display.facts import WITHHELD, erased_text, facts, members, reference, short, value_lines, value_names
from tallystick.display.said import cut_line
from tallystick.display.text import one_line, width_of

if TYPE_CHECKING:
    from tallystick.ask.around import Neighbour
    from tallystick.ask.show import Erasure, Given, Shown
    from tallystick.model.recorded import Recorded


@click.command(cls=Command, example="tally show a3f9:17\ntally show 4cdfe901 --input\ntally show a3f9:17 --around 5")
@click.argument("step", shell_complete=completing.steps)
@click.option("--input", "is_input", is_flag=True, help="Show the input of the model call, step by step.")
@click.option(
    "--around", "count", type=click.IntRange(0, 100), metavar="N", help="One line each for it and N before and after."
)
@pass_run
def show(run: Run, step: str, is_input: bool, count: int | None) -> None:
    """Show everything about one step. STEP is SESSION:N, SESSION#HASH or HASH; a unique beginning of each is enough."""
    if is_input and count is not None:
        raise click.UsageError("--input and --around are two questions: ask one of them")
    from msgspec.structs import replace

    from tallystick.ask.show import given_to, show_step
    from tallystick.seal.tagged import as_sealed
    from tallystick.workspace.names import find_step

    with opened_index(run) as index:
        run.take(index.remarks)
        found = find_step(index, step)
        if count is not None:
            from tallystick.ask.around import around
            from tallystick.graph.timeline import Spot

            acts = around(run.home, index.graph, Spot(found.session, found.n), count)
            run.answer("around", Around(found.session, found.n, acts), _around_text(acts, run.width))
            return
    shown = show_step(run.home, found.session, found.n, found.offset)
    if is_input:
        given = given_to(run.home, shown.step)
        run.answer("input", given, _input_text(shown.step, given, run.width))
    else:
        run.answer("step", replace(shown, step=as_sealed(shown.step)), _step_text(shown))


# Around it -----------------------------------------------------------------------------------------------------------


class Around(msgspec.Struct, frozen=True):
    """A step, and what happened before and after it, oldest first."""

    session: str
    n: int
    acts: tuple[Neighbour, ...]


def _around_text(acts: tuple[Neighbour, ...], width: int) -> Iterator[str]:
    """One line each, that of the step marked."""
    if not acts:
        yield "its journal cannot be read there; `tally verify` says why"
    for act in acts:
        mark = " "
        if act.is_asked:
            mark = "▶"
        head = f"{mark} {one_line(act.at[11:19]).ljust(8)} {act.numbers[0]:>5} "
        left = max(width - width_of(head), 8)
        yield (
            click.style(head, bold=act.is_asked, dim=not act.is_asked)
            + "".join(map(styled, cut_line(act_line(act.row, left), left))).rstrip()
        )


# The step ------------------------------------------------------------------------------------------------------------


def _step_text(shown: Shown) -> Iterator[str]:
    step = shown.step
    yield click.style(f"{reference(step)}  {one_line(step.type)}  {outcome.name_of(step)}".rstrip(), bold=True)
    yield from labelled(_facts(shown), indent="  ")
    said = members(step)
    if said:
        yield from _section("meta")
        yield from labelled(said, indent="    ")
    for name in value_names(step):
        yield from _value_text(shown, name)


def _facts(shown: Shown) -> Iterator[tuple[str, str]]:
    yield from facts(shown.step)
    yield "proof", _proof(shown)


def _proof(shown: Shown) -> str:
    """The proof of the step, and what is missing from it."""
    if shown.defect is not None:
        return click.style(f"✕ the values do not match the hash ({one_line(shown.defect)})", fg="red")
    covered = ""
    if shown.head_size:
        covered = f"a head of the session's first {counted(shown.head_size, 'entry', 'entries')}"
    sealed = "no head covers it yet"
    if covered:
        sealed = f"{covered} is in the ledger"
    more = f"`tally verify {short(shown.step.session)}` checks chain and signature"
    return f"the values match the hash; {sealed}; {more}"


def _section(title: str, note: str = "") -> Iterator[str]:
    yield f"  {click.style(title, bold=True)}{f'  {note}' if note else ''}"


def _value_text(shown: Shown, name: str) -> Iterator[str]:
    step, size = shown.step, shown.blobs.get(name)
    if name in step.withheld:
        yield from _section(one_line(name), _gone_text([item for item in shown.erasures if name in item.names]))
        return
    note = ""
    if size is not None:
        note = f"(blob of {size:,} bytes)"
    yield from _section(one_line(name), note)
    if name in step.values:
        yield from (f"    {line}" for line in value_lines(step.values[name]))


def _gone_text(erasures: list[Erasure]) -> str:
    if not erasures:
        return WITHHELD
    return erased_text(erasures[-1].recorded, erasures[-1].basis, erasures[-1].reason)


# Its input -----------------------------------------------------------------------------------------------------------


def _input_text(call: Recorded, given: Given, width: int) -> Iterator[str]:
    if not given.visible:
        yield "input: not visible from this source"
        return
    yield click.style(f"the input of {reference(call)} was {counted(len(given.steps), 'step')}", bold=True)
    for step in given.steps:
        yield step_line(step, width, place=f"{step.n:>5}")
    if given.matches:
        yield f"  the digest sealed with the call matches the {counted(given.on_path, 'step')} on its path"
    else:
        yield click.style("  ✕ the digest sealed with the call does not match these steps", fg="red")

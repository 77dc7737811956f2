"""`tally show`: everything about one step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tallystick.cli.frame import Command
from tallystick.cli.run import Run, counted, labelled, pass_run
from tallystick.cli.steps import reference, short, step_line, value_lines
from tallystick.display import outcome
from tallystick.display.text import one_line
from tallystick.model.recorded import Recorded

if TYPE_CHECKING:
    from tallystick.operations.show import Erasure, Given, Shown


_HEAD_MEMBERS = frozenset(("type", "ts", "recorded", "source", "source_id", "input", "request", "parent"))


@click.command(cls=Command, example="tally show a3f9:17\ntally show 4cdfe901 --input")
@click.argument("step")
@click.option("--input", "is_input", is_flag=True, help="What the model call was given, step by step.")
@pass_run
def show(run: Run, step: str, is_input: bool) -> None:
    """Everything about one step. STEP is SESSION:N, SESSION#HASH or HASH; a unique beginning of each will do."""
    from tallystick.operations.names import find_step
    from tallystick.operations.project import open_index
    from tallystick.operations.show import given_to, show_step

    with open_index(run.home) as index:
        run.take(index.remarks)
        found = find_step(index, step)
    shown = show_step(run.home, found.session, found.n, found.offset)
    if is_input:
        given = given_to(run.home, shown.step)
        run.answer("input", given, _input_text(shown.step, given, run.width))
    else:
        run.answer("step", shown, _text(shown))


# The step ------------------------------------------------------------------------------------------------------------


def _text(shown: Shown) -> Iterator[str]:
    step = shown.step
    yield click.style(f"{reference(step)}  {one_line(step.type)}  {outcome.name_of(step)}".rstrip(), bold=True)
    yield from labelled(_facts(shown), indent="  ")
    members = {key: value for key, value in step.meta.items() if key not in _HEAD_MEMBERS}
    if members:
        yield from _section("meta")
        yield from labelled(
            [(one_line(key), one_line(outcome.plain(value) or str(value))) for key, value in sorted(members.items())],
            indent="    ",
        )
    for name in sorted({*step.values, *step.raw, *step.unloaded, *step.withheld}):
        yield from _value_text(shown, name)


def _facts(shown: Shown) -> Iterator[tuple[str, str]]:
    step = shown.step
    yield "session", one_line(step.session)
    yield "happened", _time(step, "ts")
    yield "recorded", _time(step, "recorded")
    yield "source", " ".join(one_line(str(word)) for word in (step.member("source"), step.member("source_id")) if word)
    yield "took", outcome.duration_of(step)
    yield (
        "came of it",
        outcome.outcome_of(step, 100) if step.type in ("tool_result", "session_end", "model_call") else "",
    )
    yield "request", _number(step, "request")
    yield "within", _number(step, "parent")
    yield "follows", _parents(step)
    yield "input", _said_input(step)
    yield "hash", one_line(step.hash)
    yield "proof", _proof(shown)


def _time(step: Recorded, member: str) -> str:
    text = step.meta.get(member)
    return one_line(text.replace("T", " ").replace("Z", " UTC")) if isinstance(text, str) else ""


def _number(step: Recorded, member: str) -> str:
    n = step.meta.get(member)
    return f"{short(step.session)}:{n}" if type(n) is int else ""


def _parents(step: Recorded) -> str:
    if step.parents:
        return ", ".join(one_line(_short_parent(parent)) for parent in step.parents)
    return f"{short(step.session)}:{step.n - 1}, the step before it" if step.n else "nothing: it is the first step"


def _short_parent(parent: str) -> str:
    session, mark, digest = parent.rpartition("#")
    return f"{short(session)}#{digest[:12]}, another session's" if mark else digest[:12]


def _said_input(step: Recorded) -> str:
    said = step.meta.get("input")
    if said is None:
        return ""
    if said == "not-visible":
        return "not visible from this source"
    return f"`tally show {reference(step)} --input`"


def _proof(shown: Shown) -> str:
    """What stands behind the step, and what does not."""
    if shown.defect is not None:
        return click.style(f"✕ the values are not those of the hash ({one_line(shown.defect)})", fg="red")
    covered = f"a head of the session's first {counted(shown.head_size, 'entry', 'entries')}" if shown.head_size else ""
    sealed = f"{covered} is in the ledger" if covered else "no head covers it yet"
    more = f"`tally verify {short(shown.step.session)}` checks chain and signature"
    return f"the values are those of the hash; {sealed}; {more}"


def _section(title: str, note: str = "") -> Iterator[str]:
    yield f"  {click.style(title, bold=True)}{f'  {note}' if note else ''}"


def _value_text(shown: Shown, name: str) -> Iterator[str]:
    step, size = shown.step, shown.blobs.get(name)
    if name in step.withheld:
        yield from _section(one_line(name), _gone_text([item for item in shown.erasures if name in item.names]))
        return
    note = f"(blob of {size:,} bytes)" if size is not None else ""
    yield from _section(one_line(name), note)
    if name in step.values:
        yield from (f"    {line}" for line in value_lines(step.values[name]))


def _gone_text(erasures: list[Erasure]) -> str:
    if not erasures:
        return "▧ withheld: only its commitment is here"
    erasure = erasures[-1]
    when = one_line((erasure.recorded or "")[:19].replace("T", " "))
    return f"▧ erased {when} ({one_line(erasure.basis or '?')}): {one_line(erasure.reason or 'no reason is kept')}"


# Its input -----------------------------------------------------------------------------------------------------------


def _input_text(call: Recorded, given: Given, width: int) -> Iterator[str]:
    if not given.visible:
        yield "input: not visible from this source"
        return
    yield click.style(f"{reference(call)} was given {counted(len(given.steps), 'step')}", bold=True)
    for step in given.steps:
        yield step_line(step, width, place=f"{step.n:>5}")
    if given.matches:
        yield f"  the digest sealed with the call is that of the {counted(given.on_path, 'step')} on its path"
    else:
        yield click.style("  ✕ the digest sealed with the call is not that of these steps", fg="red")

"""`tally coverage`: the gaps in the record of sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from tallystick.cli import completing
from tallystick.cli.command import Command, options_as
from tallystick.cli.context import Run, counted, labelled, pass_run, table
from tallystick.cli.filters import limit_option, project_option, time_option
from tallystick.cli.steps import short
from tallystick.display.text import cut, one_line

if TYPE_CHECKING:
    from tallystick.ask.coverage import Alone, Coverage
    from tallystick.ask.coverage_account import KeptOutput, StepName
    from tallystick.ask.shadow import Row

_COLORS = {"complete": "blue", "partial": "yellow", "degraded": "red"}
_LISTED = 20
BELOW = 3


class CoverageOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions are listed, and what each must reach."""

    limit: int | None
    agents: tuple[str, ...]
    since: str | None
    projects: tuple[str, ...]
    require: str | None


@click.command(
    "coverage", cls=Command, example="tally coverage\ntally coverage 3f9a\ntally coverage 3f9a --require complete"
)
@click.argument("name", metavar="[SESSION]", required=False, shell_complete=completing.sessions)
@limit_option("sessions")
@click.option("--agent", "agents", multiple=True, metavar="A", help="Sessions of this agent. May be repeated.")
@time_option("--since", "Sessions with a step from this time on: 2026-11-21, 3h, today (UTC).")
@click.option(
    "--require",
    type=click.Choice(["corroborated", "complete", "partial"]),
    help="Exit with 3 if a session is below this level.",
)
@project_option
@options_as(CoverageOptions)
@pass_run
def coverage(run: Run, name: str | None, options: CoverageOptions) -> None:
    r"""Whether anything is missing in the record, and what: one line a session, or one session in full.

    Missing are calls without results, outputs and sub-agents that are in files which were not read, steps that one source
    reported and another did not, and known losses. The session with the newest step comes first.

    \b complete nothing is known to be missing partial something is missing, or one source reported what another did not
    degraded something is known to be lost, or was taken from under us corroborated (for --require) complete, and two or
    more sources reported it
    """
    from tallystick.ask.coverage import coverages_of
    from tallystick.ask.prices import read_prices
    from tallystick.ask.receipt import receipt_of
    from tallystick.graph.projects import folders_of
    from tallystick.graph.queries import SessionFilter
    from tallystick.review.sessions import list_sessions
    from tallystick.workspace.indexing import open_index
    from tallystick.workspace.names import find_session

    with open_index(run.home) as index:
        run.take(index.remarks)
        receipt = None
        if name is not None:
            named = [find_session(index, name)]
            receipt = receipt_of(run.home, index, named[0], read_prices(run.home))
        else:
            wanted = SessionFilter(
                agents=options.agents,
                since=options.since,
                folders=folders_of(index.graph, options.projects),
                limit=run.limit(options.limit) + 1,
            )
            named = [row.session for row in list_sessions(index, wanted)]
    most = 1
    if name is None:
        most = run.limit(options.limit)
    found = list(coverages_of(run.home, named[:most]))
    if receipt is not None:
        data = {**msgspec.to_builtins(found[0]), "receipt": {**msgspec.to_builtins(receipt), "line": receipt.line}}
        run.answer("coverage", data, (f"receipt: {one_line(receipt.line)}", *detail_text(found[0])))
    else:
        has_more = len(named) > most
        run.answer("coverages", {"sessions": found, "has_more": has_more}, list_text(found, run.width))
        if has_more:
            run.note(f"Showing {most}; --limit N shows more")
    if options.require is not None and any(_level(each) < _LEVELS.index(options.require) for each in found):
        raise SystemExit(BELOW)


_LEVELS = ("degraded", "partial", "complete", "corroborated")


def _level(found: Coverage) -> int:
    if found.is_corroborated:
        return _LEVELS.index("corroborated")
    return _LEVELS.index(found.state.value)


_HEAD = ("SESSION", "AGENT", "COVERAGE", "CALLS", "RESULTS", "REPORTED BY", "MISSING")


def list_text(found: list[Coverage], width: int) -> Iterator[str]:
    """One line for each session."""
    if not found:
        yield "no sessions"
        return
    cells = [_cells(each) for each in found]
    yield from table(cells, head=_HEAD, right=frozenset((3, 4)), width=width, gives={1: 8, 5: 10, 6: 24})


def _cells(each: Coverage) -> tuple[str, ...]:
    return (
        short(each.session),
        cut(one_line(each.agent), 16),
        each.state.value,
        f"{each.calls:,}",
        f"{each.results:,}",
        ", ".join(map(one_line, each.sources)),
        one_line(each.answer),
    )


def _state(each: Coverage) -> str:
    return click.style(each.state.value, fg=_COLORS[each.state.value])


def detail_text(found: Coverage) -> Iterator[str]:
    """One session as text: the outcome, then the gaps of each kind."""
    yield f"{_state(found)}: {short(found.session)}, {one_line(found.agent)}{', still open' if found.is_open else ''}"
    yield from (f"  missing: {one_line(reason)}" for reason in found.reasons)
    if not found.reasons:
        yield f"  {found.answer}"
    yield from (f"  {one_line(remark)}" for remark in found.remarks)
    yield from labelled(_facts(found), indent="  ")
    yield from _steps_text("calls without a result", found.without_result)
    yield from _steps_text("results without a call", found.without_call)
    yield from _steps_text("sub-agents without a transcript", found.unseen_agents)
    yield from _outputs_text(found.outputs)
    yield from _alone_text(found.alone)
    yield from _steps_text("reported differently", found.contradictions)
    yield from _steps_text("gaps and warnings", found.gaps)
    yield from _differences_text(found.differences)
    if found.blind_spots:
        yield "  known limits of this agent, possibly the reason"
        yield from (f"    {one_line(spot)}" for spot in found.blind_spots)


def _facts(found: Coverage) -> Iterator[tuple[str, str]]:
    counts = [counted(found.calls, "call"), counted(found.results, "result")]
    counts += [f"{count:,} {word}" for count, word in _outcomes(found) if count]
    yield "calls", ", ".join(counts)
    yield "reported by", ", ".join(f"{one_line(source)} ({count:,})" for source, count in found.sources.items())
    for source, alone in found.only.items():
        said = ", ".join(f"{count:,} {one_line(kind)}" for kind, count in alone.items())
        yield f"only {one_line(source)}", said
    if found.late:
        yield "late", f"{counted(found.late, 'step')} arrived through the spool"
    if found.unauthenticated:
        yield (
            "unauthenticated",
            f"{counted(found.unauthenticated, 'step')} of them may be from anyone who can write there",
        )
    if found.damaged:
        yield "unreadable", ", ".join(f"{count:,} {one_line(kind)}" for kind, count in found.damaged.items())
    left_out = {kind: count for kind, count in found.skipped.items() if kind not in found.damaged}
    skipped = ", ".join(f"{count:,} {one_line(kind)}" for kind, count in left_out.items())
    yield "left out", skipped


def _outcomes(found: Coverage) -> tuple[tuple[int, str], ...]:
    return (found.refused, "refused"), (found.interrupted, "interrupted"), (len(found.running), "still running")


def _outputs_text(outputs: tuple[KeptOutput, ...]) -> Iterator[str]:
    """Outputs that the agent kept in files: whether they were read, how large they are, and where."""
    if outputs:
        yield "  outputs in files of the agent"
        for output in outputs[:_LISTED]:
            size = ""
            if output.size_bytes is not None:
                size = f", {output.size_bytes:,} bytes"
            read = "not read"
            if output.is_read:
                read = "read"
            yield f"    {_step(output.step)}: {read}{size}, {one_line(output.path)}"
        yield from _left_out_text(len(outputs))


def _steps_text(title: str, names: tuple[StepName, ...]) -> Iterator[str]:
    if names:
        yield f"  {title}"
        yield from (f"    {_step(name)}" for name in names[:_LISTED])
        yield from _left_out_text(len(names))


def _alone_text(alone: tuple[Alone, ...]) -> Iterator[str]:
    if alone:
        yield "  reported by one source and not by another"
        for item in alone[:_LISTED]:
            yield f"    {_step(item.step)}: by {', '.join(map(one_line, item.told_by))}, not by {one_line(item.missing)}"
        yield from _left_out_text(len(alone))


def _differences_text(rows: tuple[Row, ...]) -> Iterator[str]:
    if rows:
        yield "  differences from its files"
        for row in rows[:_LISTED]:
            one = row.difference
            sides = f"recorded {_side(one.recorded)}, in its files {_side(one.transcript)}"
            because = f" ({one_line('; '.join(row.because))})" if row.because else ""
            yield f"    {one_line(f'{one.aspect} {one.step or one.session}: {sides}')}{because}"
        yield from _left_out_text(len(rows))


def _side(value: object) -> str:
    if value is None:
        return "nothing"
    return cut(str(value), 60)


def _left_out_text(count: int) -> Iterator[str]:
    if count > _LISTED:
        yield f"    … and {count - _LISTED:,} more; --json lists all"


def _step(name: StepName) -> str:
    return f"{name.n} {one_line(name.type)}{f' {one_line(name.tool)}' if name.tool else ''}"

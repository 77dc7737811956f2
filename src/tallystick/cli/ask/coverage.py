"""`tally coverage`: the gaps in the record of sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from tallystick.cli import completing
from tallystick.cli.command import Command, options_as
from tallystick.cli.context import Run, counted, labelled, pass_run, table
from tallystick.cli.filters import limit_option, time_option
from tallystick.cli.steps import short
from tallystick.display.text import cut, one_line, width_of

if TYPE_CHECKING:
    from tallystick.ask.coverage import Alone, Coverage, StepName
    from tallystick.ask.shadow import Row

_COLORS = {"complete": "blue", "partial": "yellow", "degraded": "red"}
_LISTED = 20
BELOW = 3


class CoverageOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions are listed, and what each must reach."""

    limit: int | None
    agents: tuple[str, ...]
    since: str | None
    require: str | None


@click.command(
    "coverage", cls=Command, example="tally coverage\ntally coverage 3f9a\ntally coverage 3f9a --require complete"
)
@click.argument("name", metavar="[SESSION]", required=False, shell_complete=completing.sessions)
@limit_option("sessions")
@click.option("--agent", "agents", multiple=True, metavar="A", help="Sessions of this agent. May be repeated.")
@time_option("--since", "Sessions with a step from this time on: 2026-11-21, 3h, today (UTC).")
@click.option(
    "--require", type=click.Choice(["complete", "partial"]), help="Exit with 3 if a session is below this level."
)
@options_as(CoverageOptions)
@pass_run
def coverage(run: Run, name: str | None, options: CoverageOptions) -> None:
    r"""Gaps: calls without results, steps only one source reported, and known losses.

    One session in full, or one line for each, the one with the newest step first.

    \b complete two or more sources told of the session, and they agree partial only one did, or something that one of
    them should have reported is missing degraded something is known to be lost, or was taken from under us
    """
    from tallystick.ask.coverage import State, coverage_of
    from tallystick.graph.queries import SessionFilter
    from tallystick.review.sessions import list_sessions
    from tallystick.workspace.indexing import open_index
    from tallystick.workspace.names import find_session

    with open_index(run.home) as index:
        run.take(index.remarks)
        if name is not None:
            named = [find_session(index, name)]
        else:
            wanted = SessionFilter(agents=options.agents, since=options.since, limit=run.limit(options.limit) + 1)
            named = [row.session for row in list_sessions(index, wanted)]
    most = 1
    if name is None:
        most = run.limit(options.limit)
    found = [coverage_of(run.home, session) for session in named[:most]]
    if name is not None:
        run.answer("coverage", found[0], detail_text(found[0]))
    else:
        has_more = len(named) > most
        run.answer("coverages", {"sessions": found, "has_more": has_more}, list_text(found, run.width))
        if has_more:
            run.note(f"Showing {most}; --limit N shows more")
    order = (State.DEGRADED, State.PARTIAL, State.COMPLETE)
    if options.require is not None and any(
        order.index(each.state) < order.index(State(options.require)) for each in found
    ):
        raise SystemExit(BELOW)


_HEAD = ("SESSION", "AGENT", "COVERAGE", "CALLS", "RESULTS", "REPORTED BY", "BECAUSE")


def list_text(found: list[Coverage], width: int) -> Iterator[str]:
    """One line for each session."""
    if not found:
        yield "no sessions"
        return
    cells = [_cells(each) for each in found]
    used = sum(max(map(width_of, column)) + 2 for column in list(zip(_HEAD, *cells, strict=True))[:-1])
    yield from table(
        [(*row[:-1], cut(row[-1], max(width - used, 30))) for row in cells], head=_HEAD, right=frozenset((3, 4))
    )


def _cells(each: Coverage) -> tuple[str, ...]:
    return (
        short(each.session),
        cut(one_line(each.agent), 16),
        each.state.value,
        f"{each.calls:,}",
        f"{each.results:,}",
        ", ".join(map(one_line, each.sources)),
        one_line("; ".join(each.reasons)),
    )


def _state(each: Coverage) -> str:
    return click.style(each.state.value, fg=_COLORS[each.state.value])


def detail_text(found: Coverage) -> Iterator[str]:
    """One session as text: the outcome, then the gaps of each kind."""
    yield f"{_state(found)}: {short(found.session)}, {one_line(found.agent)}{', still open' if found.is_open else ''}"
    for reason in found.reasons:
        yield f"  {one_line(reason)}"
    yield from labelled(_facts(found), indent="  ")
    yield from _steps_text("calls without a result", found.without_result)
    yield from _steps_text("results without a call", found.without_call)
    yield from _alone_text(found.alone)
    yield from _steps_text("reported differently", found.contradictions)
    yield from _steps_text("gaps and warnings", found.gaps)
    yield from _differences_text(found.differences)
    if found.blind_spots:
        yield "  known limits of this agent, possibly the reason"
        yield from (f"    {one_line(spot)}" for spot in found.blind_spots)


def _facts(found: Coverage) -> Iterator[tuple[str, str]]:
    refused = ""
    if found.refused:
        refused = f", {found.refused:,} refused"
    yield "calls", f"{counted(found.calls, 'call')}, {counted(found.results, 'result')}{refused}"
    yield "reported by", ", ".join(f"{one_line(source)} ({count:,})" for source, count in found.sources.items())
    for source, counts in found.only.items():
        said = ", ".join(f"{count:,} {one_line(kind)}" for kind, count in counts.items())
        yield f"only {one_line(source)}", said
    if found.late:
        yield "late", f"{counted(found.late, 'step')} arrived through the spool"
    if found.unauthenticated:
        yield (
            "unauthenticated",
            f"{counted(found.unauthenticated, 'step')} of them may be from anyone who can write there",
        )
    skipped = ", ".join(f"{count:,} {one_line(kind)}" for kind, count in found.skipped.items())
    yield "left out", skipped


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

"""`tally log`: the steps of all sessions, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run
from tallystick.cli.filters import limit_option, step_filters
from tallystick.cli.progress import opened_index
from tallystick.cli.steps import ID_DIGITS, short, step_line
from tallystick.display.outcome import outcome_of
from tallystick.display.text import width_of
from tallystick.model.recorded import Recorded

if TYPE_CHECKING:
    from tallystick.ask.log import LogRow, LogRows
    from tallystick.ask.log_graph import GraphRow, GraphRows
    from tallystick.display.lanes import Drawn


_NUMBER = 5
_OUTCOME = 200
_MOST_LANES, _LEAST = 16, 60


@click.command(cls=Command, example="tally log --failed --since today\ntally log --graph --session a3f9")
@step_filters
@click.option("--session", metavar="S", help="Steps of this session.")
@click.option("--graph", "as_graph", is_flag=True, help="Draw the order of steps: forks, merges, sub-agents.")
@limit_option("steps")
@pass_run
def log(run: Run, /, session: str | None, as_graph: bool, limit: int | None, **filters: Any) -> None:
    """Steps of all sessions, newest first.

    One line for each step: time (UTC), place, type, name, duration, and outcome. With --graph each line has a lane,
    below the steps that follow it.
    """
    from tallystick.ask.log import read_log
    from tallystick.ask.log_graph import read_graph
    from tallystick.workspace.filters import StepFilter
    from tallystick.workspace.names import find_session

    with opened_index(run) as index:
        run.take(index.remarks)
        found = None
        if session is not None:
            found = find_session(index, session)
        if as_graph:
            _graph(run, read_graph(run.home, index, StepFilter(**filters), session=found, limit=run.limit(limit)))
            return
        rows = read_log(run.home, index, StepFilter(**filters), session=found, limit=run.limit(limit))
    _tell_lost(run, sum(row.step is None for row in rows.rows))
    run.answer("log", lambda: _data(rows), _rows_text(rows, run.width))
    if rows.has_more:
        run.note(f"Showing {len(rows.rows)}; --limit N shows more")


def _tell_lost(run: Run, lost: int) -> None:
    if lost:
        run.warn(f"{counted(lost, 'step')} cannot be read at the place that the index names; `tally verify` says why")


def _data(rows: LogRows) -> dict[str, object]:
    steps = [{**_members(row), "outcome": outcome_of(step_of(row), _OUTCOME)} for row in rows.rows]
    return {"steps": steps, "has_more": rows.has_more}


def _members(row: LogRow | GraphRow) -> dict[str, object]:
    import msgspec

    found: dict[str, object] = msgspec.to_builtins(row.entry)
    return found


def step_of(row: LogRow) -> Recorded:
    """The step of a row; if the journal does not have it, what the index knows of it."""
    from tallystick.graph.steps import from_index

    if row.step is not None:
        return row.step
    return from_index(row.entry)


def _rows_text(rows: LogRows, width: int) -> Iterator[str]:
    if not rows.rows:
        yield "no steps"
    for row in rows.rows:
        place = f"{short(row.entry.session)}:{row.entry.n}".ljust(ID_DIGITS + 1 + _NUMBER)
        yield step_line(step_of(row), width, place=place)


# The graph ------------------------------------------------------------------------------------------------------------


def _graph(run: Run, found: GraphRows) -> None:
    from tallystick.display.lanes import Node, drawn

    _tell_lost(run, found.lost)
    most = max(min(run.width // 8, _MOST_LANES), 2)
    lanes = drawn([Node(row.entry.hash, row.parents) for row in found.rows], most=most)
    pairs = zip(found.rows, lanes, strict=True)
    run.answer("log", lambda: _graph_data(pairs, found), _graph_text(pairs, run.width))
    if found.has_more:
        run.note(f"Showing {len(found.rows)}; --limit N shows more")


def _graph_data(pairs: Iterable[tuple[GraphRow, Drawn]], found: GraphRows) -> dict[str, object]:
    steps = [
        {
            **_members(row),
            "outcome": outcome_of(row.step, _OUTCOME),
            "parents": row.parents,
            "graph": {"lane": lane.lane, "joins": lane.joins, "parents": lane.parents, "open": lane.open},
        }
        for row, lane in pairs
    ]
    return {"steps": steps, "has_more": found.has_more}


def _graph_text(pairs: Iterable[tuple[GraphRow, Drawn]], width: int) -> Iterator[str]:
    is_empty = True
    for row, lane in pairs:
        is_empty = False
        yield from (click.style(line, dim=True) for line in lane.above)
        place = f"{short(row.entry.session)}:{row.entry.n}".ljust(ID_DIGITS + 1 + _NUMBER)
        yield lane.line + " " + step_line(row.step, max(width - width_of(lane.line) - 1, _LEAST), place=place)
        yield from (click.style(line, dim=True) for line in lane.below)
    if is_empty:
        yield "no steps"

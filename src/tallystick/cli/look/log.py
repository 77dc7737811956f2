"""`tally log`: the steps of all sessions, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.acts import act_text
from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run
from tallystick.cli.filters import limit_option, local_option, project_option, step_filters, zone_of
from tallystick.cli.progress import opened_index
from tallystick.cli.steps import ID_DIGITS, short, step_line
from tallystick.display.outcome import outcome_of
from tallystick.display.text import width_of
from tallystick.model.recorded import Recorded

if TYPE_CHECKING:
    from tallystick.ask.log import LogRow, LogRows
    from tallystick.ask.log_graph import GraphRow, GraphRows
    from tallystick.display.lanes import Drawn
    from tallystick.workspace.filters import StepFilter
    from tallystick.workspace.index import Index


_NUMBER = 5
_OUTCOME = 200
_MOST_LANES, _LEAST = 16, 60


@click.command(cls=Command, example="tally log --failed --since today\ntally log --graph --session a3f9")
@step_filters
@click.option("--session", metavar="S", help="Steps of this session.")
@click.option("--graph", "as_graph", is_flag=True, help="Draw the order of steps: forks, merges, sub-agents.")
@click.option("--verbose", "-v", is_flag=True, help="Every step, newest first, one line each.")
@project_option
@local_option
@limit_option("lines")
@pass_run
def log(run: Run, /, session: str | None, as_graph: bool, limit: int | None, **options: Any) -> None:
    """What agents did, of all sessions, the newest last.

    One line for each prompt and each call: time (UTC), place, project, what was asked and its result. The word
    denied, asked or failed stands on the line. A sub-agent is one line, with what it came to; -v shows every step. With
    --graph each step has a lane, below the steps that follow it.
    """
    verbose, projects, local = options.pop("verbose"), options.pop("projects"), options.pop("local")
    filters = options
    from tallystick.ask.acts import newest_acts
    from tallystick.ask.log import log_filter, read_log
    from tallystick.graph.projects import folders_of
    from tallystick.workspace.filters import StepFilter
    from tallystick.workspace.names import find_session

    step_filter, most = StepFilter(**filters), run.limit(limit)
    with opened_index(run) as index:
        run.take(index.remarks)
        found = None
        if session is not None:
            found = find_session(index, session)
        if as_graph:
            _graph(run, read_graph_of(run, index, step_filter, found, most))
            return
        folders = folders_of(index.graph, projects)
        if not (verbose or run.json):
            wanted = log_filter(step_filter, session=found, limit=most, folders=folders)
            newest = newest_acts(run.home, index.graph, wanted, whole=not step_filter.chooses_steps)
            _tell_lost(run, newest.lost)
            run.page(act_text(newest, run.width, zone=zone_of(local=local)))
            if newest.has_more:
                run.note(f"Showing {len(newest.rows)}; --limit N shows more, -v every step")
            return
        rows = read_log(run.home, index, step_filter, session=found, limit=most, folders=folders)
    _tell_lost(run, sum(row.step is None for row in rows.rows))
    run.answer("log", lambda: _data(rows), _rows_text(rows, run.width))
    if rows.has_more:
        run.note(f"Showing {len(rows.rows)}; --limit N shows more")


def read_graph_of(run: Run, index: Index, wanted: StepFilter, session: str | None, most: int) -> GraphRows:
    """The steps with what they follow from."""
    from tallystick.ask.log_graph import read_graph

    return read_graph(run.home, index, wanted, session=session, limit=most)


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

"""`tally log`: the steps of all sessions, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.filters import limit_option, step_filters
from tallystick.cli.frame import Command
from tallystick.cli.run import Run, counted, pass_run
from tallystick.cli.steps import ID_DIGITS, short, step_line
from tallystick.display.outcome import outcome_of
from tallystick.model.recorded import Recorded

if TYPE_CHECKING:
    from tallystick.operations.log import LogRow, LogRows


_NUMBER = 5
_OUTCOME = 200


@click.command(cls=Command, example="tally log --failed --since today\ntally log --tool Bash --limit 200")
@step_filters
@click.option("--session", metavar="S", help="Steps of this session.")
@limit_option("steps")
@pass_run
def log(run: Run, /, session: str | None, limit: int | None, **filters: Any) -> None:
    """Steps of all sessions, newest first.

    One line a step: time (UTC), where it is, type, name, duration, and what came of it.
    """
    from tallystick.operations.filters import StepFilter
    from tallystick.operations.log import read_log
    from tallystick.operations.names import find_session
    from tallystick.operations.project import open_index

    with open_index(run.home) as index:
        run.take(index.remarks)
        found = find_session(index, session) if session is not None else None
        rows = read_log(run.home, index, StepFilter(**filters), session=found, limit=run.limit(limit))
    lost = sum(row.step is None for row in rows.rows)
    if lost:
        run.warn(f"{counted(lost, 'step')} cannot be read where the index says; `tally verify` tells why")
    run.answer("log", _data(rows) if run.json else None, _text(rows, run.width))
    if rows.has_more:
        run.note(f"there are more than these {len(rows.rows)}: --limit N shows N")


def _data(rows: LogRows) -> dict[str, object]:
    steps = [{**_members(row), "outcome": outcome_of(step_of(row), _OUTCOME)} for row in rows.rows]
    return {"steps": steps, "has_more": rows.has_more}


def _members(row: LogRow) -> dict[str, object]:
    import msgspec

    found: dict[str, object] = msgspec.to_builtins(row.entry)
    return found


def step_of(row: LogRow) -> Recorded:
    """The step of a row; if it is not in the journal, what the index knows of it."""
    if row.step is not None:
        return row.step
    entry = row.entry
    members = {
        "type": entry.type,
        "ts": entry.ts,
        "recorded": entry.recorded,
        "tool": entry.tool,
        "success": entry.success,
    }
    meta = {key: value for key, value in members.items() if value is not None}
    return Recorded(session=entry.session, n=entry.n, hash=entry.hash, prev="", parents=(), meta=meta)


def _text(rows: LogRows, width: int) -> Iterator[str]:
    if not rows.rows:
        yield "no steps"
    for row in rows.rows:
        place = f"{short(row.entry.session)}:{row.entry.n}".ljust(ID_DIGITS + 1 + _NUMBER)
        yield step_line(step_of(row), width, place=place)

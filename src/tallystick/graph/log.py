"""The steps of all sessions, newest first.

Owns filtering them and giving them page by page: a page is asked for by the last step of the one before, so that pages
neither repeat nor skip steps while the log grows.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.errors import UsageError
from tallystick.graph.graph import Graph, Row
from tallystick.graph.projects import SESSION_IN_FOLDERS
from tallystick.graph.queries import id_list
from tallystick.graph.steps import STEP_COLUMNS, STEP_WIDTH, StepEntry, step_entry
from tallystick.graph.times import asked_time

_ENOUGH = 2_000


class Cursor(msgspec.Struct, frozen=True):
    """Where a page ended. Made by `log`; no part of it means anything to others."""

    at_us: int
    id: int


class LogFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which steps to show. An empty tuple or None does not filter.

    `session` is a full id; `request`, the number of a prompt, needs it. `since` (not before) and `until` (before) are
    times as the record writes them.
    """

    types: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    session: str | None = None
    request: int | None = None
    since: str | None = None
    until: str | None = None
    failures_only: bool = False
    projects: tuple[str, ...] = ()
    """Folders in which sessions work: `graph.projects` finds them by name."""
    without: tuple[str, ...] = ()
    """No steps of these types."""
    without_children: bool = False
    """No steps of sub-agents' sessions."""
    before: Cursor | None = None
    limit: int = 50


class LogPage(msgspec.Struct, frozen=True):
    """Some steps, newest first, and where the next page goes on, or None."""

    steps: tuple[StepEntry, ...]
    next: Cursor | None
    at_us: tuple[int, ...] = ()
    """When each happened, as well as that is known: microseconds since 1970."""


def log(graph: Graph, wanted: LogFilter) -> LogPage:
    """One page of the log. Within one session the order is that of the journal, else that of time.

    Raises:
        UsageError: a time that is none, or a request without its session.
        GraphError: the index cannot be read.
    """
    conditions = _conditions(wanted)
    limit = max(wanted.limit, 0)
    if wanted.session is not None:
        rows = _in_session(graph, wanted, conditions, limit + 1)
    elif wanted.request is not None:
        raise UsageError("a request is a number within a session", hint="name the session too")
    else:
        rows = _by_time(graph, wanted, conditions, limit + 1)
    shown = rows[:limit]
    following = None
    if len(rows) > limit and shown:
        following = Cursor(*shown[-1][STEP_WIDTH:])
    return LogPage(tuple(step_entry(row) for row in shown), following, tuple(row[STEP_WIDTH] for row in shown))


_SELECT = f"SELECT {STEP_COLUMNS}, s.at_us, s.id"


class _Condition(msgspec.Struct, frozen=True):
    """One condition on steps: any of some values of a column. `index` gives the steps with one of them in time's order."""

    column: str
    values: tuple[object, ...]
    index: str

    @property
    def sql(self) -> str:
        """That a step has any of the values."""
        return f"s.{self.column} IN ({', '.join('?' * len(self.values))})"

    def branches(self) -> Iterator[tuple[str, tuple[object, ...]]]:
        """The same as one condition for each value, as the index can answer it, with what to bind."""
        if self.index == "steps_failed":  # a partial index: SQLite must see the number
            yield "s.success = 0", ()
            return
        for value in dict.fromkeys(self.values):
            yield f"s.{self.column} = ?", (value,)


def _conditions(wanted: LogFilter) -> list[_Condition]:
    """The conditions that have an index, the one that usually leaves fewest steps first."""
    failed: tuple[object, ...] = ()
    if wanted.failures_only:
        failed = (0,)
    conditions = [
        _Condition("success", failed, "steps_failed"),
        _Condition("tool", wanted.tools, "steps_tool"),
        _Condition("type", wanted.types, "steps_type"),
        _Condition("agent_id", wanted.agents, "steps_agent"),
    ]
    return [condition for condition in conditions if condition.values]


def _in_session(graph: Graph, wanted: LogFilter, conditions: list[_Condition], limit: int) -> list[Row]:
    sql, values = _stepwise_conditions(wanted, conditions)
    if wanted.request is not None:
        sql += " AND s.request = ?"
        values.append(wanted.request)
    if wanted.before is not None:
        sql += " AND s.id < ?"
        values.append(wanted.before.id)
    return graph.rows(
        f"{_SELECT} FROM sessions x JOIN steps s ON s.id >= x.first_id AND s.id < x.first_id + x.size"
        f" WHERE x.session_id = ?{sql} ORDER BY s.id DESC LIMIT ?",
        (wanted.session, *values, limit),
    )


def _by_time(graph: Graph, wanted: LogFilter, conditions: list[_Condition], limit: int) -> list[Row]:
    """Steps of all sessions: through one index for each value of the rarest condition, else through time's own."""
    leading = _rarest(graph, conditions)
    sql, values = _stepwise_conditions(wanted, [condition for condition in conditions if condition is not leading])
    if wanted.before is not None:
        sql += " AND s.at_us <= ? AND (s.at_us < ? OR s.id < ?)"
        values += [wanted.before.at_us, wanted.before.at_us, wanted.before.id]
    order = f"{sql} ORDER BY s.at_us DESC, s.id DESC LIMIT ?"
    if leading is None:
        return graph.rows(f"{_SELECT} FROM steps s INDEXED BY steps_newest WHERE 1{order}", (*values, limit))
    rows: list[Row] = []
    for where, bound in leading.branches():
        source = f"FROM steps s INDEXED BY {leading.index} WHERE {where}"
        rows += graph.rows(f"{_SELECT} {source}{order}", (*bound, *values, limit))
    return sorted(rows, key=lambda row: row[STEP_WIDTH:], reverse=True)[:limit]


def _stepwise_conditions(wanted: LogFilter, conditions: list[_Condition]) -> tuple[str, list[object]]:
    """Conditions that are checked step by step, each begun with AND, and their values."""
    sql, values = "", list[object]()
    for condition in conditions:
        sql += f" AND {condition.sql}"
        values += condition.values
    for bound, comparison in ((wanted.since, ">="), (wanted.until, "<")):
        if bound is not None:
            sql += f" AND s.at_us {comparison} ?"
            values.append(asked_time(bound))
    if wanted.projects:
        sql += f" AND {SESSION_IN_FOLDERS}"
        values.append(id_list(wanted.projects))
    if wanted.without:
        sql += f" AND s.type NOT IN ({', '.join('?' * len(wanted.without))})"
        values += wanted.without
    if wanted.without_children:
        sql += " AND s.session_id NOT IN (SELECT q.session_id FROM sessions q WHERE q.kind = 'child')"
    return sql, values


def _rarest(graph: Graph, conditions: list[_Condition]) -> _Condition | None:
    """The condition that leaves the fewest steps, counted as far as it matters."""
    if len(conditions) < 2:
        if conditions:
            return conditions[0]
        return None
    return min(conditions, key=lambda condition: _count(graph, condition))


def _count(graph: Graph, condition: _Condition) -> int:
    total = 0
    for where, bound in condition.branches():
        row = graph.row(f"SELECT count(*) FROM (SELECT 1 FROM steps s WHERE {where} LIMIT {_ENOUGH})", bound)
        if row is None:
            total += _ENOUGH
        else:
            total += int(row[0])
    return total

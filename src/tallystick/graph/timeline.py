"""The steps of one session by their numbers: windows of them, which of them match, and what each belongs to.

Owns the questions of someone who looks through a session that may have a million steps: each is answered by ids,
without reading what lies between. The order of all sessions' steps is `store.log`'s.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import msgspec
import orjson

from tallystick.graph.graph import Graph
from tallystick.graph.search import match_expression
from tallystick.graph.steps import STEP_COLUMNS, StepEntry, step_entry

_STEPS = f"SELECT {STEP_COLUMNS} FROM sessions x JOIN steps s"
_NEAR = 2_000
"""A result is looked for among so many steps after its call."""

DECIDING = (
    *("permission", "decision", "bash_security", "security_static", "security_triage", "security_supervisor"),
    "security_decision",
)
"""Types of steps that decide on a call, as the condition of their index lists them: SQLite must see that it is the same."""

_OF_SESSION = "s.id >= x.first_id AND s.id < x.first_id + x.size"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which steps of a session to show. An empty tuple or text does not filter; `agents` are agents, or roles of theirs."""

    types: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    failed: bool = False
    text: str = ""

    @property
    def takes_all(self) -> bool:
        """Whether nothing is filtered."""
        return self == Wanted()


class Spot(msgspec.Struct, frozen=True):
    """A step of a session; `n` None: the session, of no step in particular."""

    session: str
    n: int | None


def size_of(graph: Graph, session: str) -> int | None:
    """How many steps the index has of a session; None: it does not have the session. Raises GraphError."""
    row = graph.row("SELECT size FROM sessions WHERE session_id = ?", (session,))
    if row is None:
        return None
    return int(row[0])


def window(graph: Graph, session: str, first: int, count: int) -> list[StepEntry]:
    """The steps from number `first` on, at most `count`. Raises GraphError."""
    rows = graph.rows(
        f"{_STEPS} ON s.id >= x.first_id + ? AND s.id < x.first_id + min(x.size, ?) WHERE x.session_id = ? ORDER BY s.id",
        (max(first, 0), max(first, 0) + max(count, 0), session),
    )
    return [step_entry(row) for row in rows]


def picked(graph: Graph, session: str, numbers: Sequence[int]) -> list[StepEntry]:
    """The steps with some numbers, in the order of the session. Raises GraphError."""
    wanted = ", ".join("?" * len(numbers))
    rows = graph.rows(
        f"{_STEPS} ON s.id IN (SELECT x.first_id + value FROM json_each(json_array({wanted}))) AND {_OF_SESSION}"
        " WHERE x.session_id = ? ORDER BY s.id",
        (*numbers, session),
    )
    return [step_entry(row) for row in rows]


def matching(graph: Graph, session: str, wanted: Wanted) -> array[int]:
    """The numbers of the steps that a filter takes, in order.

    Raises:
        UsageError: its text is too long. GraphError: the index cannot be read.
    """
    found = None
    if wanted.text:
        found = match_expression(wanted.text)
    if wanted.text and found is None:
        return array("L")
    conditions, values = _conditions(wanted)
    if found is not None:
        conditions += " AND s.id IN (SELECT rowid FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ?)"
        values += [found, *_ids(graph, session)]
    rows = graph.rows(
        f"SELECT s.n FROM sessions x JOIN steps s ON {_OF_SESSION} WHERE x.session_id = ?{conditions} ORDER BY s.id",
        (session, *values),
    )
    return array("L", (row[0] for row in rows))


def nearest(graph: Graph, session: str, n: int, wanted: Wanted, *, step: int) -> int | None:
    """The number of the next step that a filter without text takes, after (`step` 1) or before (-1) number `n`."""
    conditions, values = _conditions(wanted)
    if step > 0:
        comparison, order = ">", "ASC"
    else:
        comparison, order = "<", "DESC"
    row = graph.row(
        f"SELECT s.n FROM sessions x JOIN steps s ON {_OF_SESSION} AND s.id {comparison} x.first_id + ?"
        f" WHERE x.session_id = ?{conditions} ORDER BY s.id {order} LIMIT 1",
        (n, session, *values),
    )
    if row is None:
        return None
    return int(row[0])


def is_searchable(graph: Graph, session: str) -> bool:
    """Whether the text of all of its steps can be searched. Raises GraphError."""
    row = graph.row("SELECT text_size >= size FROM sessions WHERE session_id = ?", (session,))
    return row is not None and bool(row[0])


def _ids(graph: Graph, session: str) -> tuple[int, int]:
    row = graph.row("SELECT first_id, first_id + size - 1 FROM sessions WHERE session_id = ?", (session,))
    if row is None:
        return 0, -1
    return row[0], row[1]


def _conditions(wanted: Wanted) -> tuple[str, list[object]]:
    sql, values = "", list[object]()
    for column, allowed in (("type", wanted.types), ("tool", wanted.tools)):
        if allowed:
            sql += f" AND s.{column} IN ({', '.join('?' * len(allowed))})"
            values += allowed
    if wanted.agents:
        marks = ", ".join("?" * len(wanted.agents))
        sql += f" AND (s.agent_id IN ({marks}) OR s.agent_role IN ({marks}))"
        values += wanted.agents * 2
    if wanted.failed:
        sql += " AND s.success = 0"
    return sql, values


# What a step belongs to
# -------------------------------------------------------------------------------------------------


def by_hash(graph: Graph, session: str, digest: str) -> Spot | None:
    """The step of a session with this hash. Raises GraphError."""
    row = graph.row("SELECT n FROM steps WHERE hash = ? AND session_id = ?", (digest, session))
    if row is None:
        return None
    return Spot(session, row[0])


def call_of(graph: Graph, entry: StepEntry) -> Spot | None:
    """The call that a step answers, decides or observed; None if it says of none. Raises GraphError."""
    if entry.type != "tool_call" and entry.corr is not None:
        row = graph.row(
            "SELECT session_id, n FROM steps INDEXED BY steps_corr WHERE type = 'tool_call' AND corr = ?"
            " AND session_id = ? ORDER BY n LIMIT 1",
            (entry.corr, entry.session),
        )
        if row is not None:
            return Spot(*row)
    row = graph.row(
        "SELECT c.session_id, c.n FROM sessions x JOIN accesses a ON a.step_id = x.first_id + ? AND a.cause IS NOT NULL"
        " JOIN steps c ON c.id = a.cause WHERE x.session_id = ? LIMIT 1",
        (entry.n, entry.session),
    )
    if row is None:
        return None
    return Spot(*row)


def beside(graph: Graph, entry: StepEntry) -> list[int]:
    """The numbers of the other steps of its session that are about the same call, at most 50. Raises GraphError."""
    if entry.corr is None:
        return []
    found: set[int] = set()
    for index, kinds in (("steps_corr", "type = 'tool_call'"), ("steps_deciding", f"type IN {DECIDING}")):
        rows = graph.rows(
            f"SELECT n FROM steps INDEXED BY {index} WHERE {kinds} AND corr = ? AND session_id = ? LIMIT 50",
            (entry.corr, entry.session),
        )
        found.update(row[0] for row in rows)
    result = graph.row(
        f"SELECT s.n FROM sessions x JOIN steps s ON {_OF_SESSION} AND s.id > x.first_id + ?"
        " AND s.id < x.first_id + ? WHERE x.session_id = ? AND s.type = 'tool_result' AND s.corr = ? LIMIT 1",
        (entry.n, entry.n + _NEAR, entry.session, entry.corr),
    )
    if result is None:
        found.update(())
    else:
        found.update(result)
    return sorted(found - {entry.n})


def began_at(graph: Graph, session: str) -> Spot | None:
    """The step of another session that a session belongs to, or that session; None: it belongs to none that is recorded."""
    row = graph.row(
        "SELECT parent_session, parent_step, claimed_session, claimed_step, agent_id FROM sessions WHERE session_id = ?",
        (session,),
    )
    if row is None:
        return None
    parent, step, claimed, claimed_step, agent = row
    if parent is not None:
        known = size_of(graph, parent) is not None
        if known:
            return by_hash(graph, parent, step or "") or Spot(parent, None)
        return None
    if claimed is None:
        return None
    return _claimed(graph, session, agent, claimed, claimed_step)


def _claimed(graph: Graph, session: str, agent: str, claimed: str, step: str | None) -> Spot | None:
    found = graph.row(
        "SELECT session_id FROM sessions WHERE source_session = ? AND agent_id = ? AND session_id <> ?"
        " ORDER BY last_event_at DESC, session_id LIMIT 1",
        (claimed, agent, session),
    )
    if found is None:
        return None
    row = graph.row(
        "SELECT n FROM steps INDEXED BY steps_source WHERE source_id = ? AND session_id = ? ORDER BY n LIMIT 1",
        (step, found[0]),
    )
    return Spot(found[0], None if row is None else row[0])


def sessions_on(graph: Graph, session: str, steps: Iterable[str]) -> dict[str, list[str]]:
    """The sessions that belong to some steps of a session, by the steps' hashes or the agent's own ids. Raises GraphError."""
    wanted = orjson.dumps(list(steps)).decode()
    rows = graph.rows(
        "SELECT e.parent_step, e.session_id FROM session_edges e WHERE e.parent_session = ? AND e.n = 0"
        " AND e.session_id <> e.parent_session AND e.parent_step IN (SELECT value FROM json_each(?))"
        " UNION ALL SELECT e.claimed_step, e.session_id FROM sessions x"
        " CROSS JOIN session_edges e ON e.claimed_session = x.source_session AND e.n = 0"
        " AND e.claimed_step IN (SELECT value FROM json_each(?))"
        " JOIN sessions c ON c.session_id = e.session_id AND c.agent_id = x.agent_id"
        " WHERE x.session_id = ? AND e.session_id <> x.session_id LIMIT 10000",
        (session, wanted, wanted, session),
    )
    found: dict[str, list[str]] = {}
    for step, child in rows:
        found.setdefault(step, []).append(child)
    return found

"""What is asked of the index about checkpoints.

Owns those questions and the values that answer them. What a checkpoint marks, its journal says: anyone who reports
whether one holds reads that.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import orjson

from tallystick.errors import AmbiguousError, NotFoundError
from tallystick.graph.graph import Graph, Row
from tallystick.graph.queries import SessionRow, select_sessions
from tallystick.lineage.access import CHANGING, DEEDS
from tallystick.model.intent import Operation
from tallystick.model.step import Json

_SHORTEST_PREFIX = 4
_CANDIDATES = 10
MOST_FILES = 200


class CheckpointEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint as a list shows it. `hash` is its id; `n` its own number, `position` that of the entry that it marks."""

    session: str
    agent: str
    n: int
    hash: str = msgspec.field(name="id")
    trigger: str
    label: str | None
    position: int
    position_hash: str
    run: str | None
    at_us: int
    git: dict[str, Json] | None
    tokens: dict[str, int] | None
    config_fingerprint: str | None
    metadata: dict[str, Json] | None
    replaced_by: int | None
    is_pruned: bool


class CheckpointFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which checkpoints to list. Empty does not filter."""

    session: str | None = None
    run: str | None = None
    triggers: tuple[str, ...] = ()
    is_replaced: bool = False
    """Those that another has taken the place of, too."""
    limit: int | None = 50


_COLUMNS = {
    "session": "c.session_id",
    "agent": "s.agent_id",
    "run": "c.run_id",
}
_FIELDS = CheckpointEntry.__struct_fields__
_SELECT = (
    f"SELECT {', '.join(_COLUMNS.get(name, f'c.{name}') for name in _FIELDS)} FROM checkpoints c"
    " JOIN sessions s ON s.session_id = c.session_id"
)
_JOURNAL_ORDER = "s.first_event_at, c.session_id, c.position, c.n"
_NEWEST_FIRST = "c.at_us DESC, c.session_id, c.n DESC"


def list_checkpoints(graph: Graph, wanted: CheckpointFilter) -> tuple[CheckpointEntry, ...]:
    """Checkpoints: of a run in journal order, else the newest first. Raises GraphError."""
    conditions, values = ["1"], list[object]()
    for condition, value in (("c.session_id = ?", wanted.session), ("c.run_id = ?", wanted.run)):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    if wanted.triggers:
        conditions.append(f"c.trigger IN ({', '.join('?' * len(wanted.triggers))})")
        values += wanted.triggers
    if not wanted.is_replaced:
        conditions.append("c.replaced_by IS NULL")
    if wanted.run is not None:
        order = _JOURNAL_ORDER
    elif wanted.session is not None:
        order = "c.n DESC"
    else:
        order = _NEWEST_FIRST
    if wanted.limit is None:
        limit = -1
    else:
        limit = max(wanted.limit, 0)
    rows = graph.rows(f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT ?", (*values, limit))
    return tuple(map(_entry, rows))


def find_checkpoint(graph: Graph, text: str) -> CheckpointEntry:
    """The checkpoint whose id begins with `text`.

    Raises: NotFoundError: none exists. AmbiguousError: there are several; the message lists them. GraphError.
    """
    prefix = text.lower()
    rows = []
    if len(prefix) >= _SHORTEST_PREFIX:
        rows = graph.rows(
            f"{_SELECT} WHERE c.hash >= ? AND c.hash < ? ORDER BY c.hash LIMIT ?",
            (prefix, prefix + "\U0010ffff", _CANDIDATES + 1),
        )
    if not rows:
        raise NotFoundError(
            f"there is no checkpoint {text[:80]!r}",
            hint="`tally checkpoint list` shows them; 4 digits of an id will do",
        )
    if len(rows) > 1:
        found = [_entry(row) for row in rows[:_CANDIDATES]]
        names = "; ".join(f"{each.hash[:16]} ({each.session[:8]}:{each.n})" for each in found)
        raise AmbiguousError(f"{text!r} names several checkpoints: {names}", hint="write more digits")
    return _entry(rows[0])


class MarkCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many checkpoints there are by trigger, how many of them were replaced and dropped; alerts; attributions."""

    by_trigger: dict[str, int] = {}
    replaced: int = 0
    pruned: int = 0
    alerts: int = 0
    attributions: int = 0


def mark_counts(graph: Graph) -> MarkCounts:
    """How many there are. Raises GraphError."""
    by_trigger = graph.rows("SELECT trigger, count(*) FROM checkpoints GROUP BY trigger ORDER BY trigger")
    sums = graph.row(
        "SELECT (SELECT count(*) FROM checkpoints WHERE replaced_by IS NOT NULL),"
        " (SELECT count(*) FROM checkpoints WHERE is_pruned = 1), (SELECT count(*) FROM alerts),"
        " (SELECT count(*) FROM steps WHERE type = 'attribution')"
    )
    if sums is not None:
        replaced, pruned, alerts, attributions = sums
    else:
        replaced, pruned, alerts, attributions = 0, 0, 0, 0
    return MarkCounts(
        by_trigger=dict(by_trigger), replaced=replaced, pruned=pruned, alerts=alerts, attributions=attributions
    )


class Marked(msgspec.Struct, frozen=True):
    """A checkpoint's place, for anyone who reads its journal: the number of its step, its hash, where its line begins."""

    session: str
    n: int
    hash: str
    offset: int


_OURS = "('manual', 'step_complete', 'policy_applied', 'session_start')"
# A session that belongs to a mark, or on the entry that it marks, keeps the mark whole; so does that of a session's
# start.
_DUE = (
    "SELECT c.session_id, c.n, c.hash, p.offset FROM checkpoints c JOIN steps p ON p.id = c.checkpoint_id"
    f" WHERE c.is_pruned = 0 AND c.trigger IN {_OURS} AND (c.at_us < ?"
    " OR (c.replaced_by IS NOT NULL AND c.trigger <> 'manual'))"
    " AND NOT EXISTS (SELECT 1 FROM session_edges e WHERE e.parent_session = c.session_id"
    "   AND e.parent_step IN (c.hash, c.position_hash))"
    " AND NOT (c.trigger = 'session_start' AND c.n = (SELECT min(f.n) FROM checkpoints f"
    "   WHERE f.session_id = c.session_id AND f.trigger = 'session_start'))"
    " ORDER BY c.session_id, c.n"
)


def due_checkpoints(graph: Graph, before_us: int | None) -> list[Marked]:
    """The checkpoints that retention takes what they say from: older ones, and replaced ones of any age. Raises GraphError.

    Args:
        before_us: microseconds since 1970; None: no age is too old.
    """
    before = before_us
    if before is None:
        before = -(1 << 62)
    return [Marked(*row) for row in graph.rows(_DUE, (before,))]


def sessions_with_checkpoints(graph: Graph) -> list[str]:
    """Raises GraphError."""
    return [row[0] for row in graph.rows("SELECT DISTINCT session_id FROM checkpoints ORDER BY session_id")]


def newest_active(graph: Graph, folders: Sequence[str]) -> SessionRow | None:
    """The active session with the newest step that works in one of some folders. Raises GraphError."""
    marks = ", ".join("?" * len(folders))
    found = select_sessions(graph, f"s.status = 'active' AND s.cwd IN ({marks})", folders, limit=1)
    if found:
        return found[0]
    return None


def newest_of_run(graph: Graph, run: str) -> SessionRow | None:
    """The session of a run with the newest step, of the active ones if there are any. Raises GraphError."""
    for condition in ("s.run_id = ? AND s.status = 'active'", "s.run_id = ?"):
        found = select_sessions(graph, condition, (run,), limit=1)
        if found:
            return found[0]
    return None


class Changed(msgspec.Struct, frozen=True):
    """A thing that calls changed, and how often."""

    uri: str
    operations: tuple[str, ...]
    times: int


_CHANGES = ", ".join(
    f"'{operation}'" for operation, deed in DEEDS.items() if deed in CHANGING or operation == Operation.CREATE
)


def changed_between(graph: Graph, session: str, first: int, last: int) -> tuple[Changed, ...]:
    """What the steps `first` to `last` of a session changed, by name; of very many the first ones. Raises GraphError."""
    rows = graph.rows(
        "SELECT t.uri, group_concat(DISTINCT a.operation), count(*) FROM sessions s"
        " JOIN accesses a ON a.step_id BETWEEN s.first_id + ? AND s.first_id + ? JOIN things t ON t.thing = a.thing"
        f" WHERE s.session_id = ? AND a.operation IN ({_CHANGES}) GROUP BY t.uri ORDER BY t.uri LIMIT ?",
        (first, last, session, MOST_FILES + 1),
    )
    return tuple(Changed(uri, tuple(sorted(operations.split(","))), times) for uri, operations, times in rows)


def types_between(graph: Graph, session: str, first: int, last: int) -> dict[str, int]:
    """How many steps of each type a session has from `first` to `last`. Raises GraphError."""
    rows = graph.rows(
        "SELECT p.type, count(*) FROM sessions s JOIN steps p ON p.id BETWEEN s.first_id + ? AND s.first_id + ?"
        " WHERE s.session_id = ? GROUP BY p.type ORDER BY count(*) DESC, p.type",
        (first, last, session),
    )
    return dict(rows)


def _entry(row: Row) -> CheckpointEntry:
    values = dict(zip(_FIELDS, row, strict=True))
    for name in ("git", "tokens", "metadata"):
        found = None
        if values[name] is not None:
            found = orjson.loads(values[name])
        values[name] = found if isinstance(found, dict) else None
    values["is_pruned"] = bool(values["is_pruned"])
    return CheckpointEntry(**values)

"""What is asked of the index about sessions and requests.

Owns those questions and the values that answer them. What it says is as good as the projection: anyone who reports on
integrity asks the journals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from tallystick.graph import rules
from tallystick.graph.graph import Graph, Row
from tallystick.graph.steps import Tokens
from tallystick.graph.tables import TOKENS
from tallystick.graph.times import asked_time, milliseconds
from tallystick.model.moments import epoch_time
from tallystick.sessions.states import Moment, is_there, word_of_end

_MOST = 2_000
_TELLING = (
    "SELECT s.n, s.type, s.offset FROM sessions x JOIN steps s ON s.id >= x.first_id AND s.id < x.first_id + x.size"
    " WHERE x.session_id = ? AND s.type IN ('checkpoint', 'config_change') AND s.n <= ? ORDER BY s.n LIMIT ?"
)


def telling_steps(graph: Graph, session: str, *, until: int | None = None) -> list[tuple[int, str, int]]:
    """The checkpoints and changes of a session up to entry `until`: number, type, and where the line begins.

    Raises:
        GraphError: the index cannot be read.
    """
    last = until
    if last is None:
        last = 1 << 62
    return [(n, kind, offset) for n, kind, offset in graph.rows(_TELLING, (session, last, _MOST))]


_FRAME = (
    "SELECT s.offset FROM sessions x JOIN steps s ON s.id >= x.first_id AND s.id < x.first_id + x.size"
    " WHERE x.session_id = ? AND s.type IN ('session_start', 'session_update', 'session_end') AND s.corroborates IS NULL"
    " ORDER BY s.id LIMIT 10000"
)


def frame_offsets(graph: Graph, session: str) -> list[int]:
    """Where the lines begin that say how a session began, stood and ended, in order. Raises GraphError."""
    return [offset for (offset,) in graph.rows(_FRAME, (session,))]


_MOMENTS = (
    "SELECT s.n, s.type, s.meta, s.success = 0, s.source FROM sessions x"
    " JOIN steps s ON s.id >= x.first_id AND s.id < x.first_id + x.size"
    " WHERE x.session_id = ? AND s.type IN ('session_start', 'session_end') AND s.corroborates IS NULL"
    " ORDER BY s.id LIMIT 10000"
)


class _Said(msgspec.Struct):
    status: object = None
    resumed: object = None


def moments_of(graph: Graph, session: str) -> list[Moment]:
    """The starts and ends of a session, in order. Raises GraphError."""
    found = []
    for n, kind, meta, has_failed, source in graph.rows(_MOMENTS, (session,)):
        if meta:
            said = msgspec.json.decode(meta, type=_Said)
        else:
            said = _Said()
        word = word_of_end(said.status, False if has_failed else None)
        there = kind == "session_end" or is_there(kind, source)
        found.append(Moment(n, kind == "session_end", word, said.resumed is True, there))
    return found


def newest_time(graph: Graph, agent: str, source: str) -> str | None:
    """When the newest step of an agent from a source (docs/format.md 6.4) was recorded, or None."""
    row = graph.row(
        "SELECT recorded FROM steps WHERE agent_id = ? AND source = ? ORDER BY at_us DESC LIMIT 1", (agent, source)
    )
    if row is None:
        return None
    return str(row[0])


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A session as a list shows it.

    `parent` is the session it belongs to, as far as that is recorded: sealed into its first entry, or (`claimed`) found
    by what the agent says, which is `claimed_session`. `started` and `last` are None where no source says a time.
    `closed` is when it ended, as well as that is known. `steps` counts what happened, `size` the entries of the
    journal.
    """

    session: str
    agent: str
    source_session: str | None
    kind: str
    parent: str | None
    parent_step: str | None
    claimed: bool
    claimed_session: str | None
    claimed_step: str | None
    started: str | None
    last: str | None
    model: str | None
    cwd: str | None
    title: str | None
    goal: str | None
    run: str | None
    workspace: str | None
    status: str
    """One of sessions.states.Status."""
    status_by_parent: bool
    """The session says nothing of an end: a step of the session that it belongs to does."""
    closed: str | None
    steps: int
    requests: int
    tool_calls: int
    failures: int
    tokens: Tokens
    size: int
    last_hash: str
    searchable: int
    """How many of its entries `search` finds."""


class SessionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions to list. An empty tuple or None does not filter.

    `since` and `until` are times as the record writes them; a session is in if its newest step is not before `since` and
    its oldest is before `until`.
    """

    statuses: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    """Whole ids of sessions that they belong to."""
    since: str | None = None
    until: str | None = None
    folders: tuple[str, ...] = ()
    """In which their sessions work: `graph.projects` finds them by name."""
    limit: int | None = 50


class RequestRow(msgspec.Struct, frozen=True, kw_only=True):
    """A request: the prompt, and the sums over the steps that belong to it. Times are milliseconds since 1970."""

    session: str
    n: int
    hash: str
    prompt: str | None
    response: str | None
    created_at_ms: int
    completed_at_ms: int | None
    steps: int
    tool_calls: int
    failures: int
    total_tokens: int
    kind: str | None = None
    """A RequestKind."""
    is_erased: bool = False
    """The words of the prompt were erased."""


class Indexed(msgspec.Struct, frozen=True):
    """How far a session is projected."""

    session: str
    size: int
    last_hash: str


# The newest session wins where several have the id that is claimed: agents do not use an id twice, imports may. Itself
# only where there is no other: that is a circle, and anyone who asks says so.
PARENT = (
    "coalesce(s.parent_session, (SELECT p.session_id FROM sessions p WHERE p.agent_id = s.agent_id"
    " AND p.source_session = s.claimed_session AND p.session_id <> s.session_id"
    " ORDER BY p.last_event_at DESC, p.session_id LIMIT 1), iif(s.claimed_session = s.source_session, s.session_id, NULL))"
)
"""The session that a session `s` belongs to, as an expression."""

# Where a session says nothing of an end, the session that it belongs to may: a `merge`, `discard` or `subagent_end` of
# it that names a step after which nothing happened here but being seen and marked. Decided when asked, not when
# projected: either journal may come first.
_SETTLED = (
    "(SELECT CASE e.kind WHEN 'merge' THEN 'merged' WHEN 'discard' THEN 'discarded' ELSE"
    " iif((SELECT x.success FROM sessions y JOIN steps x ON x.id = y.first_id + e.n WHERE y.session_id = e.session_id) = 0,"
    " 'failed', 'completed') END"
    " FROM session_edges e JOIN steps t ON t.hash = e.parent_step AND t.session_id = e.parent_session"
    " WHERE e.parent_session = s.session_id AND e.n > 0 AND e.kind IN ('merge', 'discard', 'subagent_end')"
    f" AND e.session_id = {PARENT} AND NOT EXISTS (SELECT 1 FROM steps l WHERE l.id > t.id AND l.id < s.first_id + s.size"
    " AND l.type NOT IN ('sighting', 'checkpoint')) ORDER BY e.kind = 'subagent_end', e.n LIMIT 1)"
)
# Else the end of the call that began it does, if it came after all that happened here: a call that only starts a sub-agent
# returns before that.
# In this order, and with the words of its index, an event is found by its id; else all events of all sessions are read.
_RETURNED = (
    "(SELECT iif(r.success = 0, 'failed', 'completed') FROM steps c CROSS JOIN sessions y ON y.session_id = c.session_id"
    " CROSS JOIN agent_events a ON a.tool_use_id = c.corr AND a.tool_use_id IS NOT NULL AND a.type <> 'file_intent'"
    " AND a.type IN ('PostToolUse', 'subagent_end')"
    " AND a.event_id > c.id AND a.event_id < y.first_id + y.size JOIN steps r ON r.id = a.event_id"
    " WHERE s.kind = 'child' AND c.hash = s.parent_step AND c.session_id = s.parent_session"
    " AND c.type IN ('tool_call', 'subagent_start') AND r.ts IS NOT NULL AND r.at_us / 1000 >= s.last_event_at"
    " ORDER BY a.event_id LIMIT 1)"
)
STATUS = f"iif(s.closed_at IS NULL, coalesce({_SETTLED}, {_RETURNED}, s.status), s.status)"
"""The status of a session `s`, as an expression."""

# Fields of SessionRow that are not column of the same name; `tokens` comes from several.
_EXPRESSIONS = {
    "session": "s.session_id",
    "agent": "s.agent_id",
    "parent": PARENT,
    "claimed": "s.claimed_session IS NOT NULL",
    "searchable": "s.text_size",
    "run": "s.run_id",
    "status": STATUS,
    "status_by_parent": "s.status",
    "closed": "s.closed_at",
}
_FIELDS = tuple(name for name in SessionRow.__struct_fields__ if name != "tokens")
_COLUMNS = (*(_EXPRESSIONS.get(name, f"s.{name}") for name in _FIELDS), *(f"s.tokens_{kind}" for kind in TOKENS))
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM sessions s"


IN = "s.session_id IN (SELECT value FROM json_each(?))"
"""The condition that a session `s` is one of an `id_list`."""


def id_list(sessions: Iterable[str]) -> str:
    """Ids as one value of a statement, however many."""
    return msgspec.json.encode(list(sessions)).decode()


def select_sessions(graph: Graph, where: str, values: Sequence[object], *, limit: int | None) -> tuple[SessionRow, ...]:
    """Sessions `s` for which an SQL condition holds, the one with the newest step first. For the other questions here."""
    rows = graph.rows(
        f"{_SELECT} WHERE {where} ORDER BY s.last_event_at DESC, s.last DESC, s.session_id LIMIT ?",
        (*values, -1 if limit is None else max(limit, 0)),
    )
    return tuple(_session_row(row) for row in rows)


def _session_row(row: Row) -> SessionRow:
    values = dict(zip(_FIELDS, row, strict=False))
    values["claimed"] = bool(values["claimed"])
    values["status_by_parent"] = values["status_by_parent"] != values["status"]
    closed_ms = values["closed"]
    values["closed"] = epoch_time(closed_ms / 1000) if closed_ms is not None else None
    return SessionRow(tokens=Tokens(*row[len(_FIELDS) :]), **values)


def list_sessions(graph: Graph, wanted: SessionFilter) -> tuple[SessionRow, ...]:
    """Sessions, the one with the newest step first. Raises GraphError, and UsageError for a time that is none."""
    conditions, values = ["1"], list[object]()
    for expression, allowed in (
        ("s.agent_id", wanted.agents),
        ("s.kind", wanted.kinds),
        ("s.run_id", wanted.runs),
        ("s.workspace", wanted.workspaces),
        (PARENT, wanted.parents),
        (STATUS, wanted.statuses),
    ):
        if allowed:
            conditions.append(f"{expression} IN ({', '.join('?' * len(allowed))})")
            values += allowed
    for bound, condition in ((wanted.since, "s.last_event_at >= ?"), (wanted.until, "s.first_event_at < ?")):
        if bound is not None:
            conditions.append(condition)
            values.append(milliseconds(asked_time(bound)))
    if wanted.folders:
        conditions.append("s.cwd IN (SELECT value FROM json_each(?))")
        values.append(id_list(wanted.folders))
    return select_sessions(graph, " AND ".join(conditions), values, limit=wanted.limit)


def get_session(graph: Graph, session: str) -> SessionRow | None:
    """A session by its full id, None if the index does not have it. Raises GraphError."""
    found = select_sessions(graph, "s.session_id = ?", (session,), limit=1)
    if found:
        return found[0]
    return None


def sessions_of(graph: Graph, sessions: Iterable[str]) -> dict[str, SessionRow]:
    """Sessions by their full ids; those that the index does not have are not in it. Raises GraphError."""
    rows = map(_session_row, graph.rows(f"{_SELECT} WHERE {IN}", (id_list(sessions),)))
    return {row.session: row for row in rows}


def list_requests(graph: Graph, session: str) -> tuple[RequestRow, ...]:
    """The requests of a session, in order. Raises GraphError."""
    rows = graph.rows(
        "SELECT session_id, n, hash, original_user_prompt, final_response, created_at, completed_at, steps, tool_calls,"
        " failures, total_tokens, kind, is_erased FROM requests WHERE session_id = ? AND n > 0 ORDER BY n",
        (session,),
    )
    return tuple(_request_row(row) for row in rows)


def _request_row(row: Row) -> RequestRow:
    *plain, erased = row
    return RequestRow(**dict(zip(RequestRow.__struct_fields__, plain, strict=False)), is_erased=bool(erased))


def indexed_sessions(graph: Graph) -> tuple[Indexed, ...]:
    """How far each session is projected, by id: what verification compares with the journals. Raises GraphError."""
    rows = graph.rows("SELECT session_id, size, last_hash FROM sessions ORDER BY session_id")
    return tuple(Indexed(*row) for row in rows)


def outdated_sessions(graph: Graph) -> list[str]:
    """The sessions whose rows were made by other rules than this program's: projecting makes them again."""
    found = graph.rows("SELECT session_id FROM sessions WHERE rules != ? ORDER BY session_id", (rules.current(),))
    return [row[0] for row in found]


def unsearchable_sessions(graph: Graph) -> int:
    """How many sessions have steps whose text is not in the search index yet."""
    found = graph.row("SELECT count(*) FROM sessions WHERE text_size < size")
    if found is None:
        return 0
    return int(found[0])

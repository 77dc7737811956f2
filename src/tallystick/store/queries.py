"""What is asked of the index about sessions and requests.

Owns those questions and the values that answer them. What it says is as good as the projection: whoever reports on
integrity asks the journals.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tallystick.store.graph import Graph, Row
from tallystick.store.steps import Tokens
from tallystick.store.tables import TOKENS
from tallystick.store.times import asked_time, milliseconds


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A session as a list shows it.

    `parent` is the session it hangs on, as far as that is recorded: sealed into its first entry, or (`claimed`) found by
    what the agent says, which is `claimed_session`. `started` and `last` are None where no source says a time. `steps`
    counts what happened, `size` the entries of the journal.
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
    status: str
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
    since: str | None = None
    until: str | None = None
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


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """How a session hangs in the tree. `parent` is None for a root, and where a claimed parent is not recorded."""

    session: str
    parent: str | None
    kind: str
    claimed: bool
    claimed_session: str | None
    started: str | None


class Indexed(msgspec.Struct, frozen=True):
    """How far a session is projected."""

    session: str
    size: int
    last_hash: str


# The newest session wins where several have the id that is claimed: agents do not use an id twice, imports may.
_PARENT = (
    "coalesce(s.parent_session, (SELECT p.session_id FROM sessions p WHERE p.agent_id = s.agent_id"
    " AND p.source_session = s.claimed_session AND p.session_id <> s.session_id"
    " ORDER BY p.last_event_at DESC, p.session_id LIMIT 1))"
)
# Fields of SessionRow that are no column of the same name; `tokens` comes from several.
_EXPRESSIONS = {
    "session": "s.session_id",
    "agent": "s.agent_id",
    "parent": _PARENT,
    "claimed": "s.claimed_session IS NOT NULL",
    "searchable": "s.text_size",
}
_FIELDS = tuple(name for name in SessionRow.__struct_fields__ if name != "tokens")
_COLUMNS = (*(_EXPRESSIONS.get(name, f"s.{name}") for name in _FIELDS), *(f"s.tokens_{kind}" for kind in TOKENS))
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM sessions s"


def select_sessions(graph: Graph, where: str, values: Sequence[object], *, limit: int | None) -> tuple[SessionRow, ...]:
    """Sessions `s` for which an SQL condition holds, the one with the newest step first. For the other questions here."""
    rows = graph.rows(
        f"{_SELECT} WHERE {where} ORDER BY s.last_event_at DESC, s.session_id LIMIT ?",
        (*values, -1 if limit is None else max(limit, 0)),
    )
    return tuple(_session_row(row) for row in rows)


def _session_row(row: Row) -> SessionRow:
    values = dict(zip(_FIELDS, row, strict=False))
    values["claimed"] = bool(values["claimed"])
    return SessionRow(tokens=Tokens(*row[len(_FIELDS) :]), **values)


def list_sessions(graph: Graph, wanted: SessionFilter) -> tuple[SessionRow, ...]:
    """Sessions, the one with the newest step first. Raises GraphError, and UsageError for a time that is none."""
    conditions, values = ["1"], list[object]()
    for column, allowed in (("status", wanted.statuses), ("agent_id", wanted.agents), ("kind", wanted.kinds)):
        if allowed:
            conditions.append(f"s.{column} IN ({', '.join('?' * len(allowed))})")
            values += allowed
    for bound, condition in ((wanted.since, "s.last_event_at >= ?"), (wanted.until, "s.first_event_at < ?")):
        if bound is not None:
            conditions.append(condition)
            values.append(milliseconds(asked_time(bound)))
    return select_sessions(graph, " AND ".join(conditions), values, limit=wanted.limit)


def get_session(graph: Graph, session: str) -> SessionRow | None:
    """A session by its full id, None if the index does not have it. Raises GraphError."""
    found = select_sessions(graph, "s.session_id = ?", (session,), limit=1)
    return found[0] if found else None


def session_links(graph: Graph) -> tuple[Link, ...]:
    """How every session hangs in the tree, oldest first. Raises GraphError."""
    rows = graph.rows(
        f"SELECT s.session_id, {_PARENT}, s.kind, s.claimed_session IS NOT NULL, s.claimed_session, s.started"
        " FROM sessions s ORDER BY s.first_event_at, s.session_id"
    )
    return tuple(
        Link(session=session, parent=parent, kind=kind, claimed=bool(claimed), claimed_session=claim, started=started)
        for session, parent, kind, claimed, claim, started in rows
    )


def list_requests(graph: Graph, session: str) -> tuple[RequestRow, ...]:
    """The requests of a session, in order. Raises GraphError."""
    rows = graph.rows(
        "SELECT session_id, n, hash, original_user_prompt, final_response, created_at, completed_at, steps, tool_calls,"
        " failures, total_tokens FROM requests WHERE session_id = ? AND n > 0 ORDER BY n",
        (session,),
    )
    return tuple(RequestRow(**dict(zip(RequestRow.__struct_fields__, row, strict=True))) for row in rows)


def indexed_sessions(graph: Graph) -> tuple[Indexed, ...]:
    """How far each session is projected, by id: what verification compares with the journals. Raises GraphError."""
    rows = graph.rows("SELECT session_id, size, last_hash FROM sessions ORDER BY session_id")
    return tuple(Indexed(*row) for row in rows)

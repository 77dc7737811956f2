"""Finding the one session or step that someone means.

Owns how ids that people type are understood (docs/format.md 5), and which entry recorded an event of an agent first.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tallystick.errors import AmbiguousError, NotFoundError
from tallystick.graph.graph import Graph, Row
from tallystick.graph.queries import SessionRow, select_sessions
from tallystick.model.ids import StepReference

_CANDIDATES = 10
_SHORTEST_PREFIX = 4


class Place(msgspec.Struct, frozen=True):
    """Where a step is: its session and number, its hash, and where its line begins in the journal."""

    session: str
    n: int
    hash: str
    offset: int


class Known(msgspec.Struct, frozen=True):
    """The entry that recorded an event first."""

    session: str
    n: int
    hash: str


def matching_sessions(graph: Graph, text: str, *, limit: int = _CANDIDATES) -> tuple[SessionRow, ...]:
    """The sessions that `text` may name, newest first: what a command lists when it is ambiguous.

    A full id names its session; the agent's own id those that have it. Otherwise at least 4 digits that either id begins
    with do. A prefix of a session's own id does not name its sub-agents and continuations (`<id>/…`, `<id>~…`).
    """
    exact = select_sessions(graph, "s.session_id = ? OR s.source_session = ?", (text, text), limit=limit)
    if exact or len(text) < _SHORTEST_PREFIX:
        return exact
    rest = "substr(s.source_session, ?)"
    return select_sessions(
        graph,
        "(s.session_id >= ? AND s.session_id < ?) OR (s.source_session >= ? AND s.source_session < ?"
        f" AND instr({rest}, '/') = 0 AND instr({rest}, '~') = 0)",
        (*_prefix_range(text.lower()), *_prefix_range(text), len(text) + 1, len(text) + 1),
        limit=limit,
    )


def resolve_session(graph: Graph, text: str) -> SessionRow:
    """The one session that `text` names: see `matching_sessions`.

    Raises:
        NotFoundError: it names none.
        AmbiguousError: it names several; the message lists them.
        GraphError: the index cannot be read.
    """
    found = matching_sessions(graph, text, limit=_CANDIDATES + 1)
    if not found:
        raise NotFoundError(f"no session {text!r}", hint="`tally session list` lists the sessions")
    if len(found) > 1:
        names = [f"{row.session[:12]} ({row.agent}, {row.last or 'no time'})" for row in found]
        raise AmbiguousError(f"{text!r} names {_listed_names(names, 'sessions')}", hint="write more digits")
    return found[0]


def find_step(graph: Graph, reference: StepReference) -> Place:
    """Where the step is that a person named (docs/format.md 5).

    Raises:
        NotFoundError: there is no such session or step.
        AmbiguousError: several have such a hash; the message lists them.
        GraphError: the index cannot be read.
    """
    session = None
    if reference.session is not None:
        session = resolve_session(graph, reference.session).session
    if reference.n is not None and session is not None:
        rows = graph.rows(f"{_PLACE} WHERE x.session_id = ? AND s.id = x.first_id + ?", (session, reference.n))
        name = f"step {reference.n} in session {session}"
    else:
        rows = _with_hash(graph, reference.hash or "", session)
        name = f"step with the hash {reference.hash}…"
    if not rows:
        raise NotFoundError(f"there is no {name}", hint="`tally log` shows what there is")
    if len(rows) > 1:
        names = [f"{digest[:16]} ({sid[:12]}:{n})" for sid, n, digest, _ in rows]
        raise AmbiguousError(f"{reference.hash!r} names {_listed_names(names, 'steps')}", hint="write more digits")
    return Place(*rows[0])


_PLACE = (
    "SELECT s.session_id, s.n, s.hash, s.offset FROM sessions x"
    " JOIN steps s ON s.id >= x.first_id AND s.id < x.first_id + x.size"
)


def has_step(graph: Graph, session: str, n: int) -> bool:
    """Whether a step is in the index. Raises GraphError."""
    return graph.row("SELECT 1 FROM steps WHERE session_id = ? AND n = ?", (session, n)) is not None


def _with_hash(graph: Graph, prefix: str, session: str | None) -> list[Row]:
    if len(prefix) < _SHORTEST_PREFIX:
        return []
    sql = "SELECT session_id, n, hash, offset FROM steps WHERE hash >= ? AND hash < ?"
    values: list[object] = [*_prefix_range(prefix)]
    if session is not None:
        sql += " AND session_id = ?"
        values.append(session)
    return graph.rows(f"{sql} ORDER BY hash LIMIT {_CANDIDATES + 1}", values)


def known_step(graph: Graph, agent: str, source_id: str) -> Known | None:
    """The entry that first recorded the agent's event with this id, in whatever session. Raises GraphError."""
    row = graph.row(
        "SELECT session_id, n, hash FROM steps INDEXED BY steps_source WHERE source_id = ? AND agent_id = ?"
        " ORDER BY recorded, session_id, n LIMIT 1",
        (source_id, agent),
    )
    if row is None:
        return None
    return Known(*row)


def _prefix_range(prefix: str) -> tuple[str, str]:
    """The texts that begin with `prefix` are not below the first, and below the second."""
    return prefix, prefix + "\U0010ffff"


def _listed_names(names: Sequence[str], things: str) -> str:
    """Names for an error message, cut to a few."""
    shown = "; ".join(names[:_CANDIDATES])
    if len(names) > _CANDIDATES:
        count = f"more than {_CANDIDATES}"
    else:
        count = str(len(names))
    return f"{count} {things}: {shown}"

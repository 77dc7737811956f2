"""How sessions hang together, as the index has it, and what a set of them used.

Owns the walks up to roots and down to everything that belongs to them, in one statement each, of one session or of all.
What a tree is, and what to do about circles, is `sessions.tree`'s.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tallystick.graph.graph import Graph, Row
from tallystick.graph.queries import IN, PARENT, STATUS, id_list
from tallystick.graph.steps import Tokens
from tallystick.graph.tables import TOKENS


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """How a session hangs in the tree. `parent` is None for a root, and where a claimed parent is not recorded."""

    session: str
    parent: str | None
    kind: str
    claimed: bool
    claimed_session: str | None
    started: str | None


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """What one session comes to."""

    status: str
    steps: int
    tool_calls: int
    failures: int
    tokens: Tokens


class Use(msgspec.Struct, frozen=True):
    """What one model used on one day: in one session, or (`session` empty) in several.

    The empty model stands for steps that name none. `day` counts from 1970.
    """

    session: str
    model: str
    day: int
    tokens: Tokens
    cache_write_1h: int = 0
    """Of `tokens.cache_write`, those that stay in the cache for an hour."""


_LINK = f"SELECT s.session_id, {PARENT}, s.kind, s.claimed_session IS NOT NULL, s.claimed_session, s.started FROM sessions s"
_ORDER = " ORDER BY s.first_event_at, s.session_id"
# UNION leaves out what was reached before: that is what ends a walk round a circle.
_UP = (
    "up (id) AS (SELECT value FROM json_each(?) UNION"
    f" SELECT {PARENT} FROM up CROSS JOIN sessions s ON s.session_id = up.id"
    " WHERE s.parent_session IS NOT NULL OR s.claimed_session IS NOT NULL)"
)
_DOWN = (
    "family (id) AS (SELECT id FROM up WHERE id IS NOT NULL UNION"
    " SELECT s.session_id FROM family CROSS JOIN session_edges e ON e.parent_session = family.id AND e.n = 0"
    " CROSS JOIN sessions s ON s.session_id = e.session_id AND s.parent_session = family.id"
    " UNION SELECT s.session_id FROM family CROSS JOIN sessions q ON q.session_id = family.id"
    " CROSS JOIN session_edges e ON e.claimed_session = q.source_session AND e.n = 0"
    f" CROSS JOIN sessions s ON s.session_id = e.session_id AND s.agent_id = q.agent_id AND {PARENT} = q.session_id)"
)


def all_links(graph: Graph) -> tuple[Link, ...]:
    """How every session hangs in the tree, oldest first. Raises GraphError."""
    return _links(graph.rows(_LINK + _ORDER))


def ways_up(graph: Graph, sessions: Iterable[str]) -> tuple[Link, ...]:
    """Links of some sessions and of all that they belong to, up to their roots. Raises GraphError."""
    walk = f"WITH RECURSIVE {_UP} {_LINK} WHERE s.session_id IN (SELECT id FROM up)"
    return _links(graph.rows(walk + _ORDER, (id_list(sessions),)))


def whole_trees(graph: Graph, sessions: Iterable[str]) -> tuple[Link, ...]:
    """Links of all sessions of the trees that some sessions are in. Raises GraphError."""
    walk = f"WITH RECURSIVE {_UP}, {_DOWN} {_LINK} WHERE s.session_id IN (SELECT id FROM family)"
    return _links(graph.rows(walk + _ORDER, (id_list(sessions),)))


def _links(rows: list[Row]) -> tuple[Link, ...]:
    return tuple(
        Link(session=session, parent=parent, kind=kind, claimed=bool(claimed), claimed_session=claim, started=started)
        for session, parent, kind, claimed, claim, started in rows
    )


_TOKENS = ", ".join(f"s.tokens_{kind}" for kind in TOKENS)


def sums_of(graph: Graph, sessions: Iterable[str]) -> dict[str, Sums]:
    """What each of some sessions comes to. Raises GraphError."""
    rows = graph.rows(
        f"SELECT s.session_id, {STATUS}, s.steps, s.tool_calls, s.failures, {_TOKENS} FROM sessions s WHERE {IN}",
        (id_list(sessions),),
    )
    return {
        session: Sums(status=status, steps=steps, tool_calls=calls, failures=failures, tokens=Tokens(*tokens))
        for session, status, steps, calls, failures, *tokens in rows
    }


_USED = f"FROM usage u WHERE {IN.replace('s.', 'u.')}"
_KINDS = [f"u.tokens_{kind}" for kind in (*TOKENS, "cache_write_1h")]


def use_of(graph: Graph, sessions: Iterable[str]) -> tuple[Use, ...]:
    """What models used in each of some sessions. Raises GraphError."""
    select = f"SELECT u.session_id, u.model, u.day, {', '.join(_KINDS)} {_USED}"
    return _uses(graph.rows(f"{select} ORDER BY u.session_id, u.model, u.day", (id_list(sessions),)))


def use_by_day(graph: Graph, sessions: Iterable[str]) -> tuple[Use, ...]:
    """What models used in some sessions, summed up by day. Raises GraphError."""
    sums = ", ".join(f"sum({kind})" for kind in _KINDS)
    select = f"SELECT '', u.model, u.day, {sums} {_USED}"
    return _uses(graph.rows(f"{select} GROUP BY u.model, u.day ORDER BY u.model, u.day", (id_list(sessions),)))


def _uses(rows: list[Row]) -> tuple[Use, ...]:
    """Rows as values; what used no tokens is left out."""
    found = (Use(session, model, day, Tokens(*tokens), kept) for session, model, day, *tokens, kept in rows)
    return tuple(use for use in found if use.tokens.total)


def checkpoint_counts(graph: Graph, sessions: Iterable[str]) -> dict[str, int]:
    """How many checkpoints some sessions have, those left out that have none. Raises GraphError."""
    rows = graph.rows(
        f"SELECT s.session_id, count(*) FROM checkpoints s WHERE {IN} AND s.replaced_by IS NULL GROUP BY s.session_id",
        (id_list(sessions),),
    )
    return dict(rows)

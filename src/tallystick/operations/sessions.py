"""Sessions: which there are, one in detail, and how they hang together.

Owns joining what the index knows of a session with where its journal is and how far it is sealed.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from tallystick.journal.home import Home
from tallystick.operations.ledger import sealed_sizes
from tallystick.operations.project import Index
from tallystick.sessions.tree import Forest, Node, TreeRow
from tallystick.store.lookup import resolve_session
from tallystick.store.queries import (
    Link,
    RequestRow,
    SessionFilter,
    SessionRow,
    get_session,
    list_requests,
    session_links,
)
from tallystick.store.queries import list_sessions as list_in_index


class SessionDetail(msgspec.Struct, frozen=True):
    """A session, its requests, the sessions that hang on it, its journal, and how many entries a head covers."""

    session: SessionRow
    requests: tuple[RequestRow, ...]
    children: tuple[Link, ...]
    path: Path | None
    sealed_size: int


def list_sessions(index: Index, wanted: SessionFilter) -> tuple[SessionRow, ...]:
    """Sessions, the one with the newest step first."""
    return list_in_index(index.graph, wanted)


def session_detail(home: Home, index: Index, name: str) -> SessionDetail:
    """The session that a person named.

    Raises:
        NotFoundError, AmbiguousError: the name means none, or several.
    """
    row = resolve_session(index.graph, name)
    children = tuple(link for link in session_links(index.graph) if link.parent == row.session)
    sealed = sealed_sizes(home).get(row.session, 0)
    return SessionDetail(row, list_requests(index.graph, row.session), children, home.journal(row.session), sealed)


class Branch(msgspec.Struct, frozen=True):
    """A line of a drawn tree, and the session that it is about."""

    row: TreeRow
    session: SessionRow


def session_tree(index: Index, name: str | None, *, depth: int | None = None) -> tuple[Branch, ...]:
    """The path from the root down to a session, then what hangs on it to `depth` levels; no name: all trees.

    Raises:
        NotFoundError, AmbiguousError: the name means no session, or several.
    """
    forest = Forest(_node(link) for link in session_links(index.graph))
    if name is None:
        rows = list(forest.all_rows(depth=depth))
        known = {row.session: row for row in list_in_index(index.graph, SessionFilter(limit=None))}
    else:
        rows = list(forest.rows(resolve_session(index.graph, name).session, depth=depth))
        known = {row.session: found for row in rows if (found := get_session(index.graph, row.session)) is not None}
    return tuple(Branch(row, known[row.session]) for row in rows if row.session in known)


def _node(link: Link) -> Node:
    return Node(
        session=link.session,
        parent=link.parent,
        kind=link.kind,
        claimed=link.claimed,
        claimed_session=link.claimed_session,
        started=link.started,
    )

"""Sessions: which there are, one in detail, and how they hang together.

Owns joining what the index knows of a session with where its journal is, how far it is sealed, what it cost, and what
belongs to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import add
from pathlib import Path

import msgspec

from tallystick.agents.headless.transcript import NAME as HEADLESS
from tallystick.ask.session_costs import NOTHING, Cost, SessionCosts
from tallystick.graph.family import Link, Sums, all_links, checkpoint_counts, sums_of, ways_up, whole_trees
from tallystick.graph.lookup import resolve_session
from tallystick.graph.queries import (
    RequestRow,
    SessionFilter,
    SessionRow,
    frame_offsets,
    list_requests,
    moments_of,
    sessions_of,
)
from tallystick.graph.queries import list_sessions as list_in_index
from tallystick.graph.steps import Tokens
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.model.step import Json
from tallystick.recording.freshness import began_after
from tallystick.recording.run_config.recorded import Under, session_under
from tallystick.sessions.states import Life, Status, life_of
from tallystick.sessions.tree import Forest, Node, TreeRow
from tallystick.workspace.index import Index
from tallystick.workspace.ledger import sealed_sizes

_WORKFLOW = ("title", "inputs", "outputs")


class About(msgspec.Struct, frozen=True):
    """What a list says of a session besides its row: how deep it hangs, what it cost, how many checkpoints it has."""

    depth: int
    cost: Cost
    checkpoints: int


class Total(msgspec.Struct, frozen=True, kw_only=True):
    """What some sessions come to."""

    sessions: int
    by_status: dict[str, int]
    steps: int
    tool_calls: int
    failures: int
    checkpoints: int
    tokens: Tokens
    cost: Cost


class Child(Link, frozen=True, kw_only=True):
    """A session that belongs to another. `left_open`: a sub-agent that did not end though that one has."""

    status: str
    left_open: bool


class Workflow(msgspec.Struct, frozen=True):
    """The workflow that a session runs: its name, what it was given, and what came out of it."""

    name: str
    inputs: Mapping[str, Json]
    outputs: Mapping[str, Json]


class SessionDetail(msgspec.Struct, frozen=True):
    """A session, its requests, the sessions that belong to it, its journal, and how many entries a head covers.

    `life` has the changes of its status that were not followed.
    """

    session: SessionRow
    requests: tuple[RequestRow, ...]
    children: tuple[Child, ...]
    path: Path | None
    sealed_size: int
    about: About
    total: Total
    root: str
    life: Life
    under: Under | None
    """What it ran under, as it began, and what changed of that; None: its journal does not tell."""
    after: dict[str, Json] = {}
    """The newest word from outside that its first entry names: it did not begin before that (lower_bound)."""
    workflow: Workflow | None = None
    """Of a session of the headless agent; None: of any other, and where its journal is gone."""


class Branch(msgspec.Struct, frozen=True):
    """A line of a drawn tree, and the session that it is about.

    `left_open` says that it is a sub-agent that did not end though the session that it belongs to has.
    """

    row: TreeRow
    session: SessionRow
    about: About
    left_open: bool


class Tree(msgspec.Struct, frozen=True):
    """A drawn tree, or all of them.

    `total` is that of the session that was asked for, with what is not drawn below it. `left_out` counts the sessions that
    come after the last one that is drawn.
    """

    branches: tuple[Branch, ...]
    total: Total
    left_out: int
    asked: str | None = None


def list_sessions(index: Index, wanted: SessionFilter) -> tuple[SessionRow, ...]:
    """Sessions, the one with the newest step first. `parents` of the filter are names as people write them.

    Raises:
        NotFoundError, AmbiguousError: a parent's name means none, or several.
    """
    parents = tuple(resolve_session(index.graph, name).session for name in wanted.parents)
    return list_in_index(index.graph, msgspec.structs.replace(wanted, parents=parents))


def describe(home: Home, index: Index, sessions: Iterable[str]) -> dict[str, About]:
    """What a list says of some sessions besides their rows."""
    ids = tuple(sessions)
    forest = Forest(map(_node, ways_up(index.graph, ids)))
    about = _about(home, index, forest, ids, sessions_of(index.graph, ids))
    return {session: about.of(session) for session in ids if session in forest}


def session_detail(home: Home, index: Index, name: str) -> SessionDetail:
    """The session that a person named.

    Raises:
        NotFoundError, AmbiguousError: the name means none, or several.
    """
    graph = index.graph
    row = resolve_session(graph, name)
    links = whole_trees(graph, [row.session])
    forest = Forest(map(_node, links))
    below = list(forest.subtree(row.session))
    about = _about(home, index, forest, below, {row.session: row})
    hanging = (link for link in links if link.parent == row.session and not forest.is_cut(link.session))
    return SessionDetail(
        session=row,
        requests=list_requests(graph, row.session),
        children=tuple(about.child(link) for link in hanging),
        path=home.journal(row.session),
        sealed_size=sealed_sizes(home).get(row.session, 0),
        about=about.of(row.session),
        total=about.total(below),
        root=forest.path(row.session)[0],
        life=life_of(moments_of(graph, row.session)),
        under=session_under(home, graph, row),
        after=began_after(home, row.session),
        workflow=workflow_of(home, index, row),
    )


def workflow_of(home: Home, index: Index, row: SessionRow) -> Workflow | None:
    """The workflow of a session, of what its entries say of how it began, stood and ended; the last word counts."""
    path = home.journal(row.session)
    if row.agent != HEADLESS or path is None:
        return None
    found: dict[str, Json] = {}
    for offset in frame_offsets(index.graph, row.session):
        step = read_at(home, path, offset, load_blobs=True)
        if step is not None:
            found |= {name: step.values[f"content.{name}"] for name in _WORKFLOW if f"content.{name}" in step.values}
    return Workflow(str(found.get("title") or ""), _members(found.get("inputs")), _members(found.get("outputs")))


def _members(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def session_tree(
    home: Home, index: Index, name: str | None, *, depth: int | None = None, limit: int | None = None
) -> Tree:
    """The path from the root down to a session, then what belongs to it to `depth` levels; no name: all trees.

    Args:
        limit: at most so many sessions.

    Raises:
        NotFoundError, AmbiguousError: the name means no session, or several.
    """
    graph = index.graph
    asked = None
    if name is not None:
        asked = resolve_session(graph, name).session
    forest = Forest(map(_node, all_links(graph) if asked is None else whole_trees(graph, [asked])))
    if asked is None:
        drawn = forest.all_rows(depth=depth)
    else:
        drawn = forest.rows(asked, depth=depth, most_above=limit)
    rows = list(islice(drawn, limit))
    below = list(forest.subtree(asked))
    shown = [row.session for row in rows]
    known = sessions_of(graph, shown)
    about = _about(home, index, forest, below, known)
    branches = tuple(
        Branch(row, known[row.session], about.of(row.session), about.is_left_open(row.session))
        for row in rows
        if row.session in known
    )
    return Tree(branches, about.total(below), left_out=sum(1 for _ in drawn), asked=asked)


def _about(
    home: Home, index: Index, forest: Forest, sessions: Iterable[str], shown: Mapping[str, SessionRow]
) -> _About:
    """What some sessions of a forest come to. Of those that are `shown` more is reported."""
    others = [session for session in sessions if session not in shown]
    sums: dict[str, Sums | SessionRow] = {**shown, **sums_of(index.graph, others)}
    prices = SessionCosts(home, index)
    return _About(forest, sums, prices, prices.each(shown), checkpoint_counts(index.graph, sums))


@dataclass(frozen=True)
class _About:
    """What some sessions of a forest come to, asked of the index at once."""

    _forest: Forest
    _sums: Mapping[str, Sums | SessionRow]
    _prices: SessionCosts
    _costs: Mapping[str, Cost]
    _checkpoints: Mapping[str, int]

    def of(self, session: str) -> About:
        return About(self._forest.depth(session), self._costs.get(session, NOTHING), self._checkpoints.get(session, 0))

    def is_left_open(self, session: str) -> bool:
        """Whether it is a sub-agent that is active though the session that it belongs to has ended."""
        parent = self._forest.parent(session)
        if parent is None or self._forest.kind(session) != "child" or parent not in self._sums:
            return False
        return self._status(session) == Status.ACTIVE != self._status(parent)

    def child(self, link: Link) -> Child:
        """A link with what its session is."""
        session = link.session
        return Child(**msgspec.structs.asdict(link), status=self._status(session), left_open=self.is_left_open(session))

    def _status(self, session: str) -> str:
        return self._sums[session].status

    def total(self, sessions: Iterable[str]) -> Total:
        """What some of the sessions come to."""
        below = [found for found in sessions if found in self._sums]
        sums = [self._sums[found] for found in below]
        return Total(
            sessions=len(below),
            by_status=_count_statuses(sums),
            steps=sum(one.steps for one in sums),
            tool_calls=sum(one.tool_calls for one in sums),
            failures=sum(one.failures for one in sums),
            checkpoints=sum(self._checkpoints.get(found, 0) for found in below),
            tokens=_tokens(sums),
            cost=self._prices.all(below),
        )


def _count_statuses(sums: list[Sums | SessionRow]) -> dict[str, int]:
    counts: Mapping[str, int] = Counter(one.status for one in sums)
    return {status.value: counts[status.value] for status in Status if status.value in counts}


def _tokens(sums: list[Sums | SessionRow]) -> Tokens:
    counts = [0] * len(Tokens.__struct_fields__)
    for one in sums:
        counts = list(map(add, counts, msgspec.structs.astuple(one.tokens)))
    return Tokens(*counts)


def _node(link: Link) -> Node:
    return Node(
        session=link.session,
        parent=link.parent,
        kind=link.kind,
        claimed=link.claimed,
        claimed_session=link.claimed_session,
        started=link.started,
    )

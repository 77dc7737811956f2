"""The tree of sessions: what hangs on what, and the rows that draw it.

Owns the order of sessions in a tree, what is shown of it to a given depth, and what to do with parents that are not
there and with claims that go round in a circle. Must not know where sessions are kept.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Iterator, Mapping

import msgspec


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A session and the session it hangs on.

    `claimed` says that the parent is what the agent says, not what the session's first entry seals; `claimed_session` is
    then the agent's own id of it, and `parent` None if no such session is recorded. Sessions with one parent are ordered
    by `started`.
    """

    session: str
    parent: str | None = None
    kind: str = "root"
    claimed: bool = False
    claimed_session: str | None = None
    started: str | None = None


class Standing(enum.Enum):
    """How a row stands to the session that was asked for."""

    ABOVE = "above"
    """It is on the path from that session up to its root."""
    ASKED = "asked"
    """It is that session, or a root where all trees are drawn."""
    BELOW = "below"


class TreeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a drawn tree.

    `depth` counts from the root of the tree, 0. `lines` is what is drawn before the session's name. `missing_parent` names
    a parent that is not among the sessions. `in_circle` says that the parent was passed over, because following parents
    from there leads back to this session. `hidden` counts the sessions below this one that are not drawn.
    """

    session: str
    depth: int
    standing: Standing
    lines: str
    kind: str
    claimed: bool
    missing_parent: str | None
    in_circle: bool
    hidden: int


class Forest:
    """All sessions as trees. Every session is in it once, whatever the nodes say."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        """Build the trees. Of several nodes for one session the oldest counts."""
        self._nodes: dict[str, Node] = {}
        for node in sorted(nodes, key=_age):
            self._nodes.setdefault(node.session, node)
        self._parents = {
            session: node.parent if node.parent in self._nodes else None for session, node in self._nodes.items()
        }
        self._cut = frozenset(_cuts(self._parents, self._nodes))
        for session in self._cut:
            self._parents[session] = None
        self._children: dict[str | None, list[str]] = {}
        for session, parent in self._parents.items():
            self._children.setdefault(parent, []).append(session)
        self._sizes = self._count()

    def _count(self) -> dict[str, int]:
        """How many sessions hang on each, at whatever depth."""
        sizes = dict.fromkeys(self._nodes, 0)
        for session in reversed(list(self._downwards())):
            parent = self._parents[session]
            if parent is not None:
                sizes[parent] += sizes[session] + 1
        return sizes

    def _downwards(self) -> Iterator[str]:
        """Every session after the one it hangs on."""
        waiting = list(self._children.get(None, ()))
        while waiting:
            session = waiting.pop()
            waiting += self._children.get(session, ())
            yield session

    def __contains__(self, session: str) -> bool:
        return session in self._nodes

    @property
    def roots(self) -> tuple[str, ...]:
        """The sessions that hang on none, oldest first."""
        return tuple(self._children.get(None, ()))

    def children(self, session: str) -> tuple[str, ...]:
        """The sessions that hang on this one, oldest first."""
        return tuple(self._children.get(session, ()))

    def path(self, session: str) -> tuple[str, ...]:
        """The sessions from the root down to this one, itself included. Raises KeyError if it is not in the forest."""
        path = [session]
        while (parent := self._parents[path[-1]]) is not None:
            path.append(parent)
        return tuple(reversed(path))

    def size(self, session: str) -> int:
        """How many sessions hang on this one, at whatever depth."""
        return self._sizes[session]

    def rows(self, session: str, *, depth: int | None = None) -> Iterator[TreeRow]:
        """The path from the root down to a session, then what hangs on it to `depth` levels; None: all of it.

        Raises KeyError if the session is not in the forest.
        """
        path = self.path(session)
        for level, (above, below) in enumerate(itertools.pairwise(path)):
            hidden = self._sizes[above] - self._sizes[below] - 1
            yield self._row(above, level, Standing.ABOVE, _last_of(level), hidden=hidden)
        yield from self._subtree(session, len(path) - 1, depth)

    def all_rows(self, *, depth: int | None = None) -> Iterator[TreeRow]:
        """Every tree to `depth` levels below its root, the oldest root first."""
        for root in self.roots:
            yield from self._subtree(root, 0, depth)

    def _subtree(self, top: str, level: int, depth: int | None) -> Iterator[TreeRow]:
        waiting = [(top, level, _last_of(level))]
        while waiting:
            session, at, lines = waiting.pop()
            is_drawn = depth is None or at - level < depth
            standing = Standing.ASKED if session == top else Standing.BELOW
            yield self._row(session, at, standing, lines, hidden=0 if is_drawn else self._sizes[session])
            children = self._children.get(session, []) if is_drawn else []
            beside = lines.replace("├─ ", "│  ").replace("└─ ", "   ")
            for child in reversed(children):
                waiting.append((child, at + 1, beside + ("└─ " if child == children[-1] else "├─ ")))

    def _row(self, session: str, depth: int, standing: Standing, lines: str, *, hidden: int) -> TreeRow:
        node = self._nodes[session]
        wanted = node.parent if node.parent is not None else node.claimed_session
        has_parent = self._parents[session] is not None or session in self._cut
        return TreeRow(
            session=session,
            depth=depth,
            standing=standing,
            lines=lines,
            kind=node.kind,
            claimed=node.claimed,
            missing_parent=None if has_parent else wanted,
            in_circle=session in self._cut,
            hidden=hidden,
        )


def _last_of(level: int) -> str:
    """What is drawn before the only session shown at a level."""
    return "   " * (level - 1) + "└─ " if level else ""


def _age(node: Node) -> tuple[bool, str, str]:
    """Oldest first; those without a time last."""
    return node.started is None, node.started or "", node.session


def _cuts(parents: Mapping[str, str | None], nodes: Mapping[str, Node]) -> Iterator[str]:
    """One session of each circle: the oldest whose parent is only a claim, else the oldest."""
    seen: set[str] = set()
    for start in parents:
        way: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in seen and at not in way:
            way[at] = None
            at = parents[at]
        if at is not None and at in way:
            steps = list(way)
            circle = [nodes[session] for session in steps[steps.index(at) :]]
            yield min(circle, key=lambda node: (not node.claimed, _age(node))).session
        seen.update(way)

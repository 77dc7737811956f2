"""The tree of sessions: what belongs to what, and the rows that draw it.

Owns the order of sessions in a tree, what is shown of it to a given depth, and what to do with parents that are not
there and with claims that form a cycle. Must not know where sessions are kept.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A session and the session it belongs to.

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
    from there leads back to this session. `skipped` counts the sessions on the path that are left out before this one,
    `hidden` those below this one that are not drawn.
    """

    session: str
    depth: int
    standing: Standing
    lines: str
    kind: str
    claimed: bool
    missing_parent: str | None
    in_circle: bool
    skipped: int = 0
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
        self._depths = self._levels()

    def _levels(self) -> dict[str, int]:
        depths: dict[str, int] = {}
        for session in self._downwards():
            parent = self._parents[session]
            depths[session] = 0 if parent is None else depths[parent] + 1
        return depths

    def _count(self) -> dict[str, int]:
        """How many sessions belong to each, at whatever depth."""
        sizes = dict.fromkeys(self._nodes, 0)
        for session in reversed(list(self._downwards())):
            parent = self._parents[session]
            if parent is not None:
                sizes[parent] += sizes[session] + 1
        return sizes

    def _downwards(self, top: str | None = None) -> Iterator[str]:
        """Every session after the one it belongs to; with `top` that session and what belongs to it."""
        if top is None:
            waiting = list(self._children.get(None, ()))
        else:
            waiting = [top]
        while waiting:
            session = waiting.pop()
            waiting += self._children.get(session, ())
            yield session

    def __contains__(self, session: str) -> bool:
        return session in self._nodes

    @property
    def roots(self) -> tuple[str, ...]:
        """The sessions that belong to none, oldest first."""
        return tuple(self._children.get(None, ()))

    def children(self, session: str) -> tuple[str, ...]:
        """The sessions that belong to this one, oldest first."""
        return tuple(self._children.get(session, ()))

    def parent(self, session: str) -> str | None:
        """The session that it belongs to here; None for a root. Raises KeyError if it is not in the forest."""
        return self._parents[session]

    def kind(self, session: str) -> str:
        """How it hangs. Raises KeyError if it is not in the forest."""
        return self._nodes[session].kind

    def path(self, session: str) -> tuple[str, ...]:
        """The sessions from the root down to this one, itself included. Raises KeyError if it is not in the forest."""
        path = [session]
        while (parent := self._parents[path[-1]]) is not None:
            path.append(parent)
        return tuple(reversed(path))

    def size(self, session: str) -> int:
        """How many sessions belong to this one, at whatever depth."""
        return self._sizes[session]

    def depth(self, session: str) -> int:
        """How many sessions it hangs below: 0 for a root. Raises KeyError if it is not in the forest."""
        return self._depths[session]

    def subtree(self, session: str | None) -> Iterator[str]:
        """A session and all that belong to it, at whatever depth; None: all sessions."""
        return self._downwards(session)

    def is_cut(self, session: str) -> bool:
        """Whether its parent was passed over, because its parents form a cycle."""
        return session in self._cut

    def rows(self, session: str, *, depth: int | None = None, most_above: int | None = None) -> Iterator[TreeRow]:
        """The path from the root down to a session, then what belongs to it to `depth` levels; None: all of it.

        Of a path of more sessions than that, or than `most_above`, the root is drawn and the nearest of them, and those
        between are counted. Raises KeyError if the session is not in the forest.
        """
        path = self.path(session)
        levels = [each for each in (depth, None if most_above is None else max(most_above - 2, 0)) if each is not None]
        drawn = path
        if levels:
            drawn = _ends_of(path, min(levels) + 1)
        skipped = len(path) - len(drawn)
        for level, (above, below) in enumerate(itertools.pairwise(drawn)):
            hidden = self._sizes[above] - self._sizes[below] - 1
            row = self._row(above, _last_of(level), Standing.ABOVE, hidden=hidden)
            if level == 1:
                row = replace(row, skipped=skipped)
            yield row
        yield from self._subtree(session, len(drawn) - 1, depth, skipped if len(drawn) == 2 else 0)

    def all_rows(self, *, depth: int | None = None) -> Iterator[TreeRow]:
        """Every tree to `depth` levels below its root, the oldest root first."""
        for root in self.roots:
            yield from self._subtree(root, 0, depth)

    def _subtree(self, top: str, level: int, depth: int | None, skipped: int = 0) -> Iterator[TreeRow]:
        waiting = [(top, 0, _last_of(level))]
        while waiting:
            session, below, lines = waiting.pop()
            is_drawn = depth is None or below < depth
            hidden = 0
            if not is_drawn:
                hidden = self._sizes[session]
            if session == top:
                yield replace(self._row(session, lines, Standing.ASKED, hidden=hidden), skipped=skipped)
            else:
                yield self._row(session, lines, Standing.BELOW, hidden=hidden)
            if is_drawn:
                children = self._children.get(session, [])
            else:
                children = []
            beside = _shortened(lines.replace("├─ ", "│  ").replace("└─ ", "   "))
            for child in reversed(children):
                waiting.append((child, below + 1, beside + ("└─ " if child == children[-1] else "├─ ")))

    def _row(self, session: str, lines: str, standing: Standing, *, hidden: int) -> TreeRow:
        node = self._nodes[session]
        wanted = node.parent
        if wanted is None:
            wanted = node.claimed_session
        has_parent = self._parents[session] is not None or session in self._cut
        return TreeRow(
            session=session,
            depth=self._depths[session],
            standing=standing,
            lines=lines,
            kind=node.kind,
            claimed=node.claimed,
            missing_parent=None if has_parent else wanted,
            in_circle=session in self._cut,
            hidden=hidden,
        )


_MOST_LEVELS = 24
"""So many levels are indented. Of deeper ones the nearest are: a chain of 10,000 sessions would be 150 MB of spaces."""


def _last_of(level: int) -> str:
    """What is drawn before the only session shown at a level."""
    if level:
        return _shortened("   " * min(level - 1, _MOST_LEVELS + 1)) + "└─ "
    return ""


def _shortened(lines: str) -> str:
    """What is drawn of the levels above, the farthest left out."""
    most = 3 * _MOST_LEVELS
    if len(lines) <= most:
        return lines
    return "…  " + lines[3 - most :]


def _ends_of(path: tuple[str, ...], nearest: int) -> tuple[str, ...]:
    """The root, and so many of the sessions at the other end."""
    if len(path) <= nearest + 1:
        return path
    return (path[0], *path[-nearest:])


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

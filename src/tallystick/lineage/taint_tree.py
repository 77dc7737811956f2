"""The tree of a taint: its nodes, and the trees that agents themselves write.

Owns the form of a node, and reading `taint_lineage` of the headless agent (docs/agents/headless.md). Must not know where
trees are kept, nor how they are drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from tallystick.lineage.taint import Trust, Via
from tallystick.model.step import Json

_MOST_NODES = 200
_DEEPEST = 12
_MOST_TEXT, _MOST_FOUND = 200, 300
_STEP = re.compile(r"\s\(([0-9a-f]{4,32}):([0-9]{1,9})\)\Z")


class TaintNode(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the tree: something, and how far it is trusted.

    `block` is the id of what came in with a step: `b` and the step's number in its session, so that it is the same in every
    index. `via` says how it went into what stands above. Of one that `is_repeat` the sources stand further up.
    """

    block: str | None
    step: str | None
    """`session:n` of the step that made it, or took it in."""
    session: str | None = None
    n: int | None = None
    kind: str
    source: str
    """A path, a URL, an MCP server, or the tool of a call."""
    trust: Trust
    is_sensitive: bool = False
    depth: int = 0
    via: Via | None = None
    confidence: float = 1.0
    is_repeat: bool = False
    children: tuple[TaintNode, ...] = ()
    left_out: int = 0
    """So many sources are not shown: the tree is bounded."""
    declared: Trust | None = None
    """Of a step about which the agent's own log says something: the level by that log. `trust` is the lower of both."""
    found: Trust | None = None
    """Of the same: the level by all else that is on record."""

    @property
    def differs(self) -> bool:
        """Whether the agent's log and the rest of the record disagree."""
        return self.declared is not self.found

    def levels(self) -> Iterator[Trust]:
        """Its level, and those of all that it was made of, but not behind what a model put in its own words."""
        yield self.trust
        for child in self.children if self.via is not Via.MODEL else ():
            yield from child.levels()


def each_once(nodes: Iterable[TaintNode]) -> Iterator[TaintNode]:
    """One node for each thing and step: a file that was read three times for one write is one source."""
    seen: set[tuple[str, str | None]] = set()
    for node in nodes:
        key = (node.source, node.step)
        if key not in seen:
            seen.add(key)
            yield node


def said_tree(said: Json, session: str, places: Mapping[str, int], *, depth: int = 1) -> tuple[TaintNode, ...]:
    """The nodes of a `taint_lineage`, as an agent wrote it; what has another form is left out.

    Args:
        places: which entry each block came in with, by the agent's own id of the block.
    """
    return tuple(_block_nodes(said, session, places, depth, [_MOST_NODES]))


def _block_nodes(
    said: Json, session: str, places: Mapping[str, int], depth: int, room: list[int]
) -> Iterator[TaintNode]:
    for item in said if isinstance(said, list) and depth <= _DEEPEST else ():
        if not isinstance(item, dict) or room[0] <= 0:
            continue
        room[0] -= 1
        block, source = item.get("block_id"), item.get("source")
        n = step = where = name = None
        if isinstance(block, str):
            n, name = places.get(block), block[:_MOST_TEXT]
        if n is not None:
            step, where = f"{session[:12]}:{n}", session
        yield TaintNode(
            block=name,
            step=step,
            session=where,
            n=n,
            kind="block",
            source=source[:_MOST_TEXT] if isinstance(source, str) else "?",
            trust=trust_said(item.get("trust")),
            depth=depth,
            via=Via.QUOTE,
            children=tuple(_block_nodes(item.get("tainted_by"), session, places, depth + 1, room)),
        )


def found_tree(found: str, sessions: Callable[[str], str | None], *, depth: int = 1) -> TaintNode:
    """What policy found about a call, with the way that it tells: `“x” is in a.md (4a5b:7) < https://y (9c0d:2)`.

    Args:
        sessions: the whole id of a session, by its beginning.
    """
    head, *rest = found.split(" < ")
    told = _STEP.search(head)
    session = None
    if told is not None:
        session = sessions(told[1])
    n = block = step = None
    if told is not None and session is not None:
        n = int(told[2])
        block, step = f"b{n:04}", f"{session[:12]}:{n}"
    return TaintNode(
        block=block,
        step=step,
        session=session,
        n=n,
        kind="finding",
        source=_STEP.sub("", head).strip()[:_MOST_FOUND],
        trust=Trust.UNTRUSTED,
        depth=depth,
        via=None if depth == 1 else Via.QUOTE,
        children=(found_tree(" < ".join(rest), sessions, depth=depth + 1),) if rest and depth < _DEEPEST else (),
    )


def trust_said(said: Json) -> Trust:
    """A level as it is written; what is none is not trusted."""
    return next((level for level in Trust if level.value == said), Trust.UNTRUSTED)

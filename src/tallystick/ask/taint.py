"""The taint of a step, a file or any other thing in the graph, as a tree: what it came from, down to what came from outside.

Owns where such a question begins, and the tree's nodes. The walk is `store.taint`'s, its rules `lineage.taint`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from tallystick.ask.declared_taint import Declared, Handed
from tallystick.ask.known_taint import taints_of
from tallystick.ask.node_resolver import absolute, find_start
from tallystick.ask.recorded_taint import agents_block, findings_in, first_reader, told_of, tree_of
from tallystick.errors import NotFoundError
from tallystick.graph.graph import Graph
from tallystick.graph.steps import StepEntry
from tallystick.graph.taint import (
    Input,
    Place,
    VersionAt,
    folder_made,
    inputs_of,
    made_by,
    place_of,
    taken_by,
    version_at,
)
from tallystick.graph.upstream import call_of
from tallystick.journal.home import Home
from tallystick.lineage.taint import Taint, Trust, Via, lowest
from tallystick.lineage.taint_tree import TaintNode, each_once
from tallystick.lineage.walk import NodeKind
from tallystick.workspace.index import Index

_BLOCK = "block"
_MOST_NODES = 400
_DEEPEST = 12


def _type_of(graph: Graph, id_: int) -> str:
    row = graph.row("SELECT type FROM steps WHERE id = ?", (id_,))
    return str(row[0]) if row is not None else "?"


class TaintTree(msgspec.Struct, frozen=True, kw_only=True):
    """The answer about what `start` names."""

    start: str
    trust: Trust
    is_sensitive: bool
    roots: tuple[TaintNode, ...]


def taint_tree(home: Home, index: Index, text: str, *, folder: str) -> TaintTree:
    """The taint of the step, path or URL that `text` names.

    Args:
        folder: from which relative paths count.

    Raises:
        NotFoundError, AmbiguousError, UsageError: it names nothing, or several things.
    """
    builder = _Builder(home, index.graph)
    try:
        start = find_start(index, text, folder=folder)
    except NotFoundError:
        below = builder.of_path(absolute(text, folder))
        if below is None:
            raise
        return TaintTree(start=text, trust=below.trust, is_sensitive=below.is_sensitive, roots=(below,))
    if start.step is not None:
        roots = tuple(builder.of_step(_call_of(index.graph, start.step, start.nodes[0].id), start.step.type))
    elif start.thing is not None and start.nodes:
        version = version_at(index.graph, start.nodes[0].id)
        if version is not None:
            roots = (builder.of_version(version),)
        else:
            roots = ()
    else:
        roots = tuple(builder.of_sessions(node.id for node in start.nodes if node.kind is NodeKind.SESSION))
    return TaintTree(
        start=start.text,
        trust=lowest(node.trust for node in roots),
        is_sensitive=any(node.is_sensitive for node in roots),
        roots=roots,
    )


def _call_of(graph: Graph, step: StepEntry, id_: int) -> int:
    """The call that a step gives the result of; the step itself where it is not a result."""
    if step.type != "tool_result" or step.corr is None:
        return id_
    found = call_of(graph, step.corr, first_id=id_ - step.n, before=id_)
    if found is None:
        return id_
    return found


def _step_node(place: Place, source: str, own: Sequence[TaintNode], said: Sequence[TaintNode]) -> TaintNode:
    """A step with what was found about it and what its agent declares; where both name one block alike, it is there once."""
    found = lowest(node.trust for node in own)
    inner = tuple(each_once([*(_with_parents(node, said) for node in own), *_not_in(said, own)]))
    declared = None
    if said:
        declared = lowest(level for node in said for level in node.levels())
    return TaintNode(
        block=None,
        step=place.name,
        session=place.session,
        n=place.n,
        kind="step",
        source=source,
        trust=lowest((found, declared or Trust.TRUSTED)),
        is_sensitive=any(node.is_sensitive for node in inner),
        children=inner,
        declared=declared,
        found=found if said else None,
    )


def _with_parents(node: TaintNode, said: Sequence[TaintNode]) -> TaintNode:
    """What came in, with the blocks that the agent says it was made of; those that stand beside it are not said again."""
    beside = {one.block for one in said}
    own = (one for one in said if _is_same(one, node))
    more = tuple(child for one in own for child in one.children if child.block not in beside)
    return msgspec.structs.replace(node, children=(*node.children, *more))


def _not_in(said: Sequence[TaintNode], own: Sequence[TaintNode]) -> Iterator[TaintNode]:
    return (one for one in said if not any(_is_same(one, node) for node in own))


def _is_same(one: TaintNode, other: TaintNode) -> bool:
    return one.block is not None and (one.block, one.trust) == (other.block, other.trust)


class _Branch(msgspec.Struct, frozen=True):
    """How a node hangs in the tree."""

    depth: int
    via: Via | None = None
    confidence: float = 1.0


class _Builder:
    """Builds the nodes of one tree, each thing's sources once."""

    def __init__(self, home: Home, graph: Graph) -> None:
        self._home = home
        self._graph = graph
        self._taints = taints_of(home, graph)
        self._seen: set[tuple[int, int]] = set()
        self._count = 0
        self._declarations: dict[str, Declared] = {}

    def of_step(self, step: int, type_: str) -> Iterator[TaintNode]:
        """A step: what it took, and what it made of that."""
        place = place_of(self._graph, step)
        if place is None:
            return
        self._seen.add((0, step))
        made = [self.of_version(version, depth=1) for version in made_by(self._graph, step)]
        told = list(told_of(self._home, self._graph, step, place))
        declared = self._declared(place.session)
        others = [step, *self._brought_by(declared, place, step)]
        taken = [node for one in others for node in self._taken(one)]
        said = [*(node for node in told if node.kind == _BLOCK), *declared.of(place.n)]
        handed = list(self._handed(declared, place, step))
        own = [*made, *taken, *(node for node in told if node.kind != _BLOCK), *handed]
        yield _step_node(place, place.tool or type_, own, said)

    def _declared(self, session: str) -> Declared:
        known = self._declarations.get(session)
        if known is None:
            known = self._declarations[session] = Declared(self._home, self._graph, session)
        return known

    def _taken(self, step: int) -> Iterator[TaintNode]:
        return (node for item in taken_by(self._graph, step) if (node := self._source(item, 1, None)) is not None)

    def _brought_by(self, declared: Declared, place: Place, step: int) -> Iterator[int]:
        """The call behind a block that the agent registers."""
        call = declared.block_call(place.n)
        if call is not None:
            yield step - place.n + call

    def _handed(self, declared: Declared, place: Place, step: int) -> Iterator[TaintNode]:
        """What went to a sub-agent, or came back from one, with the step."""
        waiting = [place.n, declared.result_of(place.n)]
        for n in waiting:
            handed = declared.handed(n) if n is not None else None
            if handed is None:
                continue
            yield from self._passed_on(declared, handed, step - place.n)
            if handed.start is not None and handed.start not in waiting:
                waiting.append(handed.start)

    def _passed_on(self, declared: Declared, handed: Handed, first: int) -> Iterator[TaintNode]:
        for call in handed.calls:
            via = handed.via(call)
            own, said = [*self._taken(first + call.n)], declared.of(call.n)
            for node in (*(_with_parents(one, said) for one in own), *_not_in(said, own)):
                trust = node.trust
                if via is Via.MODEL and trust is Trust.UNTRUSTED:
                    trust = Trust.VETTED
                if trust is not Trust.TRUSTED or node.is_sensitive:
                    yield msgspec.structs.replace(node, trust=trust, via=via)

    def of_sessions(self, first_steps: Iterable[int]) -> Iterator[TaintNode]:
        """The calls of sessions about which something is found or declared, each with it."""
        for first in first_steps:
            place = place_of(self._graph, first)
            if place is None:
                continue
            found: dict[int, list[TaintNode]] = {}
            for finding in findings_in(self._home, self._graph, place.session):
                found.setdefault(finding.call.n, []).append(tree_of(self._graph, finding.text))
            declared = self._declared(place.session)
            for n in sorted({*found, *declared.tainted()}):
                at = place_of(self._graph, first + n)
                if at is not None:
                    source = at.tool or _type_of(self._graph, first + n)
                    own, said = found.get(n, []), declared.of(n)
                    if said:
                        own = [*own, *self._taken(first + n)]
                    yield _step_node(at, source, own, said)

    def of_path(self, path: str) -> TaintNode | None:
        """A file that no step has named, by the folder that it came with."""
        made = folder_made(self._graph, path)
        if made is None:
            return None
        folder = msgspec.structs.replace(self.of_version(made, depth=1), via=Via.COMMAND)
        return TaintNode(
            block=None,
            step=None,
            kind="file",
            source=path,
            trust=folder.trust,
            is_sensitive=folder.is_sensitive,
            children=(folder,),
        )

    def of_version(self, version: VersionAt, *, depth: int = 0) -> TaintNode:
        """A version of a thing, made by anyone who made it."""
        step = version.made_by
        if step is None:
            step = first_reader(self._graph, version.id)
        place = None
        if step is not None and (version.kind != "file" or version.made_by):
            place = place_of(self._graph, step)
        return self._node(version, self._taints.of_version(version), place, _Branch(depth))

    def _source(self, taken: Input, depth: int, above: VersionAt | None) -> TaintNode | None:
        """What went into something, if it is tainted."""
        taint = self._taints.of_input(taken)
        if taint.is_clean:
            return None
        via = taken.via
        if above is not None:
            via = self._taints.via(above, taken, taint)
        branch = _Branch(depth, via, taken.confidence)
        return self._node(taken.version, taint, place_of(self._graph, taken.step), branch)

    def _node(self, version: VersionAt, taint: Taint, place: Place | None, branch: _Branch) -> TaintNode:
        depth = branch.depth
        is_remote = version.kind != "file"
        if is_remote or version.made_by is None:
            maker = place
        else:
            maker = place_of(self._graph, version.made_by)
        key = (version.id, maker.n if is_remote and maker is not None else 0)
        is_repeat = key in self._seen
        self._seen.add(key)
        self._count += 1
        children: tuple[TaintNode, ...] = ()
        left_out = 0
        if not is_repeat and not is_remote:
            inputs = list(inputs_of(self._graph, version))
            is_full = depth >= _DEEPEST or self._count >= _MOST_NODES
            if is_full:
                left_out = sum(not self._taints.of_input(item).is_clean for item in inputs)
            else:
                found = (self._source(item, depth + 1, version) for item in inputs)
                children = tuple(each_once(node for node in found if node is not None))
            folder = None
            if version.made_by is None and version.path:
                folder = folder_made(self._graph, version.path)
            if folder is not None and not taint.is_clean:
                children = (msgspec.structs.replace(self.of_version(folder, depth=depth + 1), via=Via.COMMAND),)
        block = step = session = n = None
        if maker is not None:
            block, step, session, n = self._block(maker, is_remote=is_remote), maker.name, maker.session, maker.n
        return TaintNode(
            block=block,
            step=step,
            session=session,
            n=n,
            kind=version.kind,
            source=version.path or version.uri,
            trust=taint.trust,
            is_sensitive=taint.is_sensitive,
            depth=depth,
            via=branch.via,
            confidence=branch.confidence,
            is_repeat=is_repeat and not is_remote,
            children=children,
            left_out=left_out,
        )

    def _block(self, place: Place, *, is_remote: bool) -> str:
        """The id of what came in with a step: the agent's own, where it keeps blocks itself."""
        own = None
        if is_remote:
            own = agents_block(self._graph, place)
        if own is not None:
            return own
        return f"b{place.n:04}"

"""Answers about the graph: what a walk found, with what is known of each node, and the name of each in a few words.

Owns joining the walk with the rows and, where the index has no words for a step, with the journals; and which of a node's
values says most about it. The words are the agents' own: anyone who shows them makes them safe first. Must not know who
asks.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import msgspec
import orjson

from tallystick.ask.node_resolver import Start
from tallystick.graph.downstream import Downstream
from tallystick.graph.nodes import ArtifactNode, Node, RequestNode, SessionNode, StepNode, describe
from tallystick.graph.resources import Named, shown_name
from tallystick.graph.upstream import Upstream
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.lineage.walk import Cut, CutReason, Edge, Limits, NodeId, NodeKind, Walked, walk, without
from tallystick.model.pattern import pattern_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.sessions.wording import ERASED
from tallystick.workspace.index import Index

_TELLING = ("command", "path", "url", "uri", "query", "pattern", "prompt", "description", "resource")
_SAID = ("content.text", "content.label", "content.goal", "content.reason", "content.error", "content.args")
_CALLS = ("tool_call", "tool_result")
_DECIDING = ("decision", "action", "verdict", "decided_by", "check_path", "check", "decision_reason", "skip_reason")
_LONGEST = 500
_JSON_TEXT = pattern_of(r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*')
"""The text of a JSON string as far as it is there, without its end."""


def title_of(node: Node | None, said: str | None = None) -> str:
    """What a node is called: a path, a tool and what it was asked, a prompt, a session's title.

    Args:
        said: what its step says in the journal, where the index has no words for it.
    """
    match node:
        case ArtifactNode():
            return shown_name(Named(node.kind, node.uri))
        case StepNode():
            words = said or _input_text(node.asked) or _input_text(node.effect)
            return " ".join(word for word in (_kind(node), words) if word)
        case RequestNode():
            if node.is_erased:
                return ERASED
            return node.prompt or node.title or "(no prompt of a human)"
        case SessionNode():
            return node.title or "(no prompt)"
        case None:
            return "not recorded"


def _kind(node: StepNode) -> str:
    """The tool of a call, else the type of the step."""
    if node.type == "file_effect":
        return "effect"
    if node.type in _CALLS:
        return node.tool or node.type
    return node.type


def _input_text(text: str | None) -> str:
    """What a call was asked, from its input as the index keeps it; the input may be cut."""
    if not text:
        return ""
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        return _of_cut_input(text) or text[:_LONGEST]
    if isinstance(said, dict):
        return telling(said)
    return str(said)[:_LONGEST]


def _of_cut_input(text: str) -> str:
    """The telling value of an input that was cut somewhere after it began."""
    for name in _TELLING:
        _, mark, rest = text.partition(f'"{name}":"')
        if mark:
            value = _JSON_TEXT.match(rest)
            assert value is not None, "it matches nothing at least"
            return str(orjson.loads(f'"{value[0]}"'))[:_LONGEST]
    return ""


def telling(said: dict[str, Json]) -> str:
    """The value that says most about what was asked."""
    for name in _TELLING:
        value = said.get(name)
        if isinstance(value, str) and value:
            return value[:_LONGEST]
    changes = said.get("changes")
    if isinstance(changes, list):
        paths = [str(change.get("path", "")) for change in changes[:5] if isinstance(change, dict)]
        return ", ".join(paths)[:_LONGEST] + (" …" if len(changes) > 5 else "")
    return ""


def said_by(step: Recorded) -> str:
    """What a step says, where it is not a call: its text, or why it was decided so."""
    words = [word for name in _DECIDING if isinstance(word := step.member(name), str)]
    for name in _SAID:
        value = step.values.get(name)
        if isinstance(value, str) and value:
            words.append(value)
            break
        if isinstance(value, dict) and telling(value):
            words.append(telling(value))
            break
    return ": ".join(words)[:_LONGEST]


_MOST_READ = 60
"""Steps whose line in the journal is read for the words in it."""


class Direction(enum.StrEnum):
    """Which way a walk goes."""

    UP = "up"
    """To what it came from."""
    DOWN = "down"
    """To what came of it."""
    BOTH = "both"


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A node of an answer: its distance from the start, its row (None if it is not recorded), and what it is called.

    `step` names the step that it is or that made it, as `SESSION:n`; `at_ms` is when it happened or was made.
    """

    node: NodeId
    distance: int
    about: Node | None
    title: str
    step: str | None
    agent: str | None
    at_ms: int | None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known around a start. `nodes` are in the order in which they were found, the start first."""

    start: Start
    direction: Direction
    limits: Limits
    nodes: tuple[Known, ...]
    edges: tuple[Edge, ...]
    cuts: tuple[Cut, ...]

    def known(self) -> dict[NodeId, Known]:
        """The nodes by id."""
        return {known.node: known for known in self.nodes}


def answer(home: Home, index: Index, start: Start, direction: Direction, limits: Limits) -> Answer:
    """Walk from a start, and tell what was found. Raises GraphError."""
    walked = _walked(index, start, direction, limits)
    rows = describe(index.graph, walked.nodes)
    if direction is Direction.UP:
        later = _later_causes(walked, rows, start.nodes)
        walked = without(walked, start.nodes, later)
        rows = {node: row for node, row in rows.items() if node in walked.nodes}
        rows |= {edge.target: _untitled(rows[edge.target]) for edge in later if edge.target in rows}
    makers = _makers(index, rows)
    said = _step_words(home, rows)
    nodes = tuple(
        _known_node(node, distance, rows.get(node), makers, said.get(node)) for node, distance in walked.nodes.items()
    )
    return Answer(
        start=start, direction=direction, limits=limits, nodes=nodes, edges=walked.edges, cuts=_cuts(start, walked)
    )


def _walked(index: Index, start: Start, direction: Direction, limits: Limits) -> Walked:
    """One walk, or one up and one down, each with half of the nodes: nothing is reached by turning round on the way."""
    if direction is not Direction.BOTH:
        ways: type[Upstream | Downstream] = Downstream
        if direction is Direction.UP:
            ways = Upstream
        return walk(start.nodes, ways(index.graph, start.nodes), limits)
    half = msgspec.structs.replace(limits, nodes=max(limits.nodes // 2, len(start.nodes)))
    up = walk(start.nodes, Upstream(index.graph, start.nodes), half)
    down = walk(start.nodes, Downstream(index.graph, start.nodes), half)
    edges = {(edge.source, edge.target, edge.relation): edge for edge in (*down.edges, *up.edges)}
    return Walked({**down.nodes, **up.nodes}, tuple(edges.values()), tuple(dict.fromkeys((*up.cuts, *down.cuts))))


def _later_causes(walked: Walked, rows: dict[NodeId, Node], start: Sequence[NodeId]) -> list[Edge]:
    """The first prompts of sessions of which the answer holds only steps before that prompt: it began none of them."""
    held: dict[NodeId, list[StepNode | RequestNode]] = {}
    for edge in walked.edges:
        if edge.relation == "held" and isinstance(step := rows.get(edge.target), StepNode | RequestNode):
            held.setdefault(edge.source, []).append(step)
    return [
        edge
        for edge in walked.edges
        if edge.relation == "began"
        and edge.target not in start
        and isinstance(prompt := rows.get(edge.source), RequestNode)
        and _all_before(prompt, held.get(edge.target, []))
    ]


def _untitled(session: Node) -> Node:
    """A session without its title, which is that of a later prompt."""
    if isinstance(session, SessionNode):
        return msgspec.structs.replace(session, title=None)
    return session


def _all_before(prompt: RequestNode, held: Sequence[StepNode | RequestNode]) -> bool:
    """Whether all that is held beside a prompt came before it."""
    others = [step.n for step in held if step.id != prompt.id]
    return bool(others) and max(others) < prompt.n


def _cuts(start: Start, walked: Walked) -> tuple[Cut, ...]:
    """The cuts of the walk, and the versions of the start that it did not begin with."""
    if not start.more_versions or len(start.nodes) < 2:
        return walked.cuts
    shown = len(start.nodes)
    more = Cut(node=start.nodes[-1], why=CutReason.FAN_OUT, shown=shown, total=shown + start.more_versions)
    return (more, *walked.cuts)


def _makers(index: Index, rows: dict[NodeId, Node]) -> dict[int, StepNode]:
    """The steps that made the versions among some nodes, by id."""
    made = [row.made_by for row in rows.values() if isinstance(row, ArtifactNode) and row.made_by is not None]
    found = describe(index.graph, [NodeId(NodeKind.STEP, id_) for id_ in made])
    return {row.id: row for row in found.values() if isinstance(row, StepNode)}


def _step_words(home: Home, rows: dict[NodeId, Node]) -> dict[NodeId, str]:
    """What the journal says of steps for which the index has no words."""
    wordless = [row for row in rows.values() if isinstance(row, StepNode) and not (row.asked or row.effect)]
    found = {NodeId(NodeKind.STEP, row.id): words_of(home, row) for row in wordless[:_MOST_READ]}
    return {node: words for node, words in found.items() if words}


def words_of(home: Home, row: StepNode) -> str:
    """What a step says in the journal; nothing where that cannot be read."""
    path = home.journal(row.session)
    step = None
    if path is not None:
        step = read_at(home, path, row.offset)
    if step is None or step.hash != row.hash:
        return ""
    return said_by(step)


def _known_node(
    node: NodeId, distance: int, about: Node | None, makers: dict[int, StepNode], said: str | None
) -> Known:
    step, agent, at_ms = _place(about, makers)
    return Known(
        node=node,
        distance=distance,
        about=about,
        title=title_of(about, said),
        step=step,
        agent=agent,
        at_ms=at_ms,
    )


def _place(about: Node | None, makers: dict[int, StepNode]) -> tuple[str | None, str | None, int | None]:
    """Which step a node is or was made by, whose it is, and when."""
    match about:
        case ArtifactNode():
            maker = None
            if about.made_by is not None:
                maker = makers.get(about.made_by)
            if maker is None:
                return None, None, about.created_at_ms
            return f"{maker.session}:{maker.n}", maker.agent, about.created_at_ms
        case StepNode():
            return f"{about.session}:{about.n}", about.agent, about.at_us // 1000
        case RequestNode():
            return f"{about.session}:{about.n}", about.agent, about.created_at_ms
        case SessionNode():
            return f"{about.session}:0", about.agent, about.began_at_ms
        case None:
            return None, None, None

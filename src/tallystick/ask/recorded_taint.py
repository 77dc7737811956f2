"""What the record itself says of a step's taint: the blocks that an agent keeps, and what policy found before the call.

Owns where in the record that stands, and finding it again where nothing was decided. Must not know the graph's own walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import orjson

from tallystick.ask.known_taint import Memory, has_secret_shown, is_secret_by_name, read_recorded
from tallystick.errors import TallystickError
from tallystick.graph.graph import Graph
from tallystick.graph.taint import Place
from tallystick.journal.home import Home
from tallystick.journal.read import read_at, read_session
from tallystick.lineage.taint import Trust
from tallystick.lineage.taint_tree import TaintNode, found_tree, said_tree
from tallystick.model.plain_text import plain_text
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.taint.flows import RISKS, findings, ways
from tallystick.policy.taint.untrusted_input import Done, Hearing, UntrustedInput
from tallystick.policy.world import Provenance, Tracking

_NEAR = 256
"""A call is decided about within so many steps: agents use the ids of calls again."""
_SOON = 4
"""So many steps after a result the agent registers it as a block."""
_MOST_BLOCKS = 2_000
_MOST_TEXT = 300
_FLOWS = "flows."

_BLOCK_OF = (
    "SELECT b.meta FROM steps c JOIN steps r ON r.id > c.id AND r.id < c.id + 256 AND r.corr = c.corr"
    " AND r.type = 'tool_result' JOIN steps b ON b.id > r.id AND b.id <= r.id + ? AND b.type = 'security_block'"
    " WHERE c.id = (SELECT x.first_id + ? FROM sessions x WHERE x.session_id = ?) AND c.corr IS NOT NULL"
    " ORDER BY r.id, b.id LIMIT 1"
)
_BLOCKS = (
    "SELECT s.n, s.meta FROM sessions x CROSS JOIN steps s ON s.id >= x.first_id AND s.id < x.first_id + x.size"
    " WHERE x.session_id = ? AND s.type = 'security_block' ORDER BY s.n LIMIT ?"
)
_DECIDED = (
    "SELECT d.n, d.offset, d.hash FROM steps c JOIN steps d ON d.id > c.id - ? AND d.id < c.id + ? AND d.corr = c.corr"
    " AND d.type IN ('decision', 'security_static') AND d.session_id = c.session_id"
    " WHERE c.id = ? AND c.corr IS NOT NULL ORDER BY d.n LIMIT 4"
)
_PARENT = (
    "SELECT p.session_id, p.n FROM sessions c JOIN steps p ON p.hash = c.parent_step AND p.session_id = c.parent_session"
    " WHERE c.session_id = ? AND c.kind = 'child'"
)
_MOST_GENERATIONS = 4
_READER = (
    "SELECT dst_id FROM relations WHERE src_kind = 'artifact' AND src_id = ? AND dst_kind = 'agent_event'"
    " AND relation_type = 'consumed_by' ORDER BY created_at, dst_id LIMIT 1"
)


class Finding(NamedTuple):
    """What was found about a call, with its way."""

    call: Recorded
    text: str


def first_reader(graph: Graph, version: int) -> int | None:
    """The step that took a version first."""
    row = graph.row(_READER, (version,))
    if row is None:
        return None
    return int(row[0])


def agents_block(graph: Graph, place: Place) -> str | None:
    """The agent's own id of the block that a call brought in; None where it keeps none."""
    row = graph.row(_BLOCK_OF, (_SOON, place.n, place.session))
    if row is None:
        return None
    return _block_id(row[0])


def told_of(home: Home, graph: Graph, step: int, place: Place) -> Iterator[TaintNode]:
    """What the record says of a step: the lineage that the agent wrote down, and what policy found."""
    own = _step_at(home, place.session, place.offset, place.hash)
    if own is not None:
        about = [own]
    else:
        about = []
    decided = graph.rows(_DECIDED, (_NEAR, _NEAR, step))
    about += [found for _, at, digest in decided if (found := _step_at(home, place.session, at, digest)) is not None]
    for found in about:
        said = found.values.get("content.taint_lineage")
        if said:
            blocks = ((_block_id(meta), n) for n, meta in graph.rows(_BLOCKS, (place.session, _MOST_BLOCKS)))
            yield from said_tree(said, place.session, {block: n for block, n in blocks if block is not None})
    decided_on = [text for found in about for text in _taint_reasons(found)]
    if not decided_on and own is not None and own.type == "tool_call":
        decided_on = [finding.text for finding in findings_in(home, graph, place.session, up_to=place.n)]
    for text in decided_on:
        yield tree_of(graph, text)


def tree_of(graph: Graph, found: str) -> TaintNode:
    """What was found, as a tree of the steps on its way."""
    return found_tree(found, lambda beginning: _session(graph, beginning))


def _session(graph: Graph, beginning: str) -> str | None:
    row = graph.row(
        "SELECT session_id FROM sessions WHERE session_id >= ? AND session_id < ? LIMIT 1",
        (beginning, f"{beginning}g"),
    )
    if row is None:
        return None
    return str(row[0])


# What policy would have found -----------------------------------------------------------------------------------------


def findings_in(home: Home, graph: Graph, session: str, *, up_to: int | None = None) -> Iterator[Finding]:
    """What is found about the calls of a session, whether anything was decided on them or not.

    Args:
        up_to: only about the call at this entry.
    """
    yield from _Retelling(home, graph).findings(session, up_to)


class _Retelling:
    """Tells sessions again from their journals, with what was handed from one to the other."""

    def __init__(self, home: Home, graph: Graph) -> None:
        self._home = home
        self._graph = graph
        self._memory = Memory(home, graph)

    def findings(self, session: str, up_to: int | None) -> Iterator[Finding]:
        """The findings about the calls of a session, or about the call at one entry."""
        hearing = Hearing(self._memory, is_secret_by_name)
        for step, reading in self._tell(session, up_to, hearing, 0):
            found = findings(reading, _Known(hearing), hearing) if up_to in (None, step.n) else ()
            for text in ways(risk.target for risk in found):
                yield Finding(step, text)

    def _tell(
        self, session: str, up_to: int | None, hearing: Hearing, depth: int
    ) -> Iterator[tuple[Recorded, CallReading]]:
        """Each call before it was made; what it gave is heard after that."""
        folder = None
        waiting: dict[str, Recorded] = {}
        gave: dict[str, tuple[str, str]] = {}
        above = self._heard_above(session, depth)
        for step in islice(read_session(self._home, session, load_blobs=True), None if up_to is None else up_to + 1):
            folder = step.text("personal.cwd") or folder
            corr = str(step.member("corr"))
            if step.type == "user":
                self._prompted(step, hearing, above)
            elif step.type == "tool_call":
                waiting[corr] = step
                yield step, read_recorded(step, folder)
            elif step.type == "decision" and step.meta.get("effect") == "deny":
                waiting.pop(corr, None)
            elif step.type == "tool_result" and (called := waiting.pop(corr, None)) is not None:
                done = _done(called, step, folder)
                hearing.done(done)
                gave[corr] = done.step, done.output or ""
            elif step.type == "security_block" and step.member("trust") == Trust.UNTRUSTED and corr in gave:
                name, output = gave[corr]
                hearing.declared(step.text("content.source") or "a block of the agent", output, name)

    def _prompted(self, step: Recorded, hearing: Hearing, above: tuple[UntrustedInput, ...]) -> None:
        """A prompt: of a person, or the task that the agent above gave."""
        text = step.text("content.text") or ""
        if above:
            hearing.handed(text, above)
        elif "origin" not in step.meta:
            hearing.asked(text)

    def _heard_above(self, session: str, depth: int) -> tuple[UntrustedInput, ...]:
        """What the session that started this one had heard until then."""
        row = self._graph.row(_PARENT, (session,))
        if row is None or depth >= _MOST_GENERATIONS:
            return ()
        hearing = Hearing(self._memory, is_secret_by_name)
        for _ in self._tell(str(row[0]), int(row[1]), hearing, depth + 1):
            pass
        return hearing.texts


def _done(called: Recorded, result: Recorded, folder: str | None) -> Done:
    reading = read_recorded(called, folder)
    output = result.values.get("content.output")
    return Done(
        step=f"{called.session[:12]}:{called.n}",
        tool=reading.call.tool,
        effects=reading.effects,
        texts=reading.texts,
        output=plain_text(output) if output is not None else "",
        folder=reading.folder or "",
        is_sensitive=has_secret_shown(called),
    )


class _Known:
    """What the record knows of paths; what version control says now is not what it said then."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing

    def provenance(self, path: str) -> Provenance:
        taint = self._hearing.taint(path)
        return Provenance(trust=taint.trust, is_sensitive=taint.is_sensitive, evidence=taint.sources)

    def tracking(self, path: str) -> Tracking:
        return Tracking()


# In journals ----------------------------------------------------------------------------------------------------------


def _step_at(home: Home, session: str, offset: int, digest: str) -> Recorded | None:
    path = home.journal(session)
    if path is None:
        return None
    try:
        step = read_at(home, path, offset, load_blobs=True)
    except TallystickError:
        return None
    if step is not None and step.hash == digest:
        return step
    return None


def _block_id(meta: str | None) -> str | None:
    try:
        if meta:
            found = orjson.loads(meta)
        else:
            found = {}
    except orjson.JSONDecodeError:
        return None
    block = None
    if isinstance(found, dict):
        block = found.get("block_id")
    if isinstance(block, str):
        return block
    return None


def _taint_reasons(decision: Recorded) -> list[str]:
    """What a decision says about flows, as its evidence has it."""
    said: Json = decision.values.get("content.evidence")
    if isinstance(said, str):
        try:
            said = orjson.loads(said)
        except orjson.JSONDecodeError:
            return []
    lines: list[str] = []
    for one in said if isinstance(said, list) else ():
        rule = None
        if isinstance(one, dict):
            rule = one.get("rule")
        because = None
        if isinstance(rule, str) and rule.startswith(_FLOWS):
            because = one.get("because")
        for text in because if isinstance(because, list) and not lines else ():
            name, _, told = str(text)[:_MOST_TEXT].partition(": ")
            if name in RISKS:
                lines += [told]
    return ways(lines)

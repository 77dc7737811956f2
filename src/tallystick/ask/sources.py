"""What a change was made from: what a command says, what it ran, and which texts that the model had been shown are in it.

Owns the difference between these. That a model had been shown a file before it wrote another one proves nothing: it is a
source only where both share lines that are hardly the same by chance. The others are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from tallystick.graph.changes import Change, version_at, version_before
from tallystick.graph.graph import Graph
from tallystick.graph.inflows import Inflow, into
from tallystick.graph.resources import Named
from tallystick.graph.running import run_for
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.lineage.access import DEEDS, Deed
from tallystick.lineage.overlap import brought_in, hardly_chance, lines_in
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

_MOST_COMPARED = 24
_MOST_BYTES = 1 << 20
_LARGEST_VALUE = 256 << 10
_EVERYWHERE = 3
"""So many files of one answer share a line that says nothing."""
_SHARED = 0.8
"""How sure it is that lines which two texts share come from the one that was read first."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Something that went into a change, or what a thing went into.

    `how` is `before` (its own version before), `command`, `run` or `lines`, of which both share so many. `step` is the call
    that wrote.
    """

    kind: str
    uri: str
    how: str
    confidence: float
    version: int | None = None
    lines: int = 0
    step: str | None = None
    agent: str | None = None
    at_ms: int | None = None


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """What is known to have gone into something; and how many other things a model had only been shown before it wrote.

    `compared` counts those among the latter whose words were looked at and share nothing.
    """

    known: tuple[Source, ...] = ()
    only_shown: int = 0
    compared: int = 0


def sources_of(home: Home, graph: Graph, change: Change, thing: Named) -> Sources:
    """What a change of a thing was made from. Raises GraphError."""
    flows = into(graph, change.step, change.k)
    told = told_flows(home, flows)
    first = (*_before(graph, change, thing), *_ran(graph, change))
    names = {(source.kind, source.uri) for source in first}
    rest = tuple(source for source in told.known if (source.kind, source.uri) not in names)
    return Sources(known=(*first, *rest), only_shown=told.only_shown, compared=told.compared)


def told_flows(home: Home, flows: Sequence[Inflow]) -> Sources:
    """Which flows are known, and how many are not."""
    found: dict[tuple[str, str], Source] = {}
    for flow in flows:
        if flow.is_seen:
            found.setdefault((flow.kind, flow.uri), _source(flow, "command", flow.confidence))
    reader = _Reader(home)
    guesses = [flow for flow in flows if not flow.is_seen and (flow.kind, flow.uri) not in found]
    held = {index: reader.shared_lines(flow) for index, flow in enumerate(guesses)}
    common = _common(guesses, held)
    rest: dict[tuple[str, str], bool] = {}
    for index, flow in enumerate(guesses):
        key, lines = (flow.kind, flow.uri), held[index]
        rare = [line for line in lines or () if line not in common]
        if hardly_chance(rare) and key not in found:
            found[key] = _source(flow, "lines", _SHARED, lines=len(rare))
        rest[key] = rest.get(key, False) or lines is not None
    only = {key: compared for key, compared in rest.items() if key not in found}
    return Sources(known=tuple(found.values()), only_shown=len(only), compared=sum(only.values()))


def _common(flows: Sequence[Inflow], held: Mapping[int, Sequence[str] | None]) -> frozenset[str]:
    """The lines that several of the files share: what stands everywhere comes from nowhere in particular."""
    files: dict[str, set[str]] = {}
    for index, flow in enumerate(flows):
        for line in held[index] or ():
            files.setdefault(line, set()).add(flow.uri)
    return frozenset(line for line, uris in files.items() if len(uris) >= _EVERYWHERE)


def _source(flow: Inflow, how: str, confidence: float, *, lines: int = 0) -> Source:
    step = f"{flow.writer}:{flow.writer_n}"
    return Source(
        kind=flow.kind,
        uri=flow.uri,
        how=how,
        confidence=confidence,
        lines=lines,
        step=step,
        agent=flow.agent,
        at_ms=flow.at_ms,
    )


class _Reader:
    """Reads the words of both ends of flows, each once, so far as that is quick."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._written: dict[int, frozenset[str]] = {}
        self._shown: dict[tuple[str, int], tuple[Mapping[str, None], ...] | None] = {}
        self._paths: dict[str, Path | None] = {}
        self._left = _MOST_COMPARED
        self._bytes = _MOST_BYTES

    def shared_lines(self, flow: Inflow) -> tuple[str, ...] | None:
        """The lines that both ends of a flow share; None if they were not compared."""
        if self._left <= 0 or self._bytes <= 0 or flow.shown_at is None or flow.shown_hash is None:
            return None
        lines = self._lines_written(flow)
        if not lines:
            return None
        shown = self._lines_shown(flow.session, flow.shown_at, flow.shown_hash)
        if shown is None:
            return None
        self._left -= 1
        return tuple(line for there in shown for line in there if line in lines)

    def _lines_shown(self, session: str, offset: int, digest: str) -> tuple[Mapping[str, None], ...] | None:
        key = (session, offset)
        if key not in self._shown:
            step = self._read(session, offset, digest)
            texts = None if step is None else list(_outputs(step))
            self._bytes -= sum(map(len, texts or ()))
            self._shown[key] = None if texts is None else tuple(map(lines_in, texts))
        return self._shown[key]

    def _lines_written(self, flow: Inflow) -> frozenset[str]:
        if flow.written_step not in self._written:
            step = self._read(flow.writer, flow.written_at, flow.written_hash)
            self._written[flow.written_step] = frozenset() if step is None else brought_in(step)
        return self._written[flow.written_step]

    def _read(self, session: str, offset: int, digest: str) -> Recorded | None:
        if session not in self._paths:
            self._paths[session] = self._home.journal(session)
        path = self._paths[session]
        if path is None:
            return None
        step = read_at(self._home, path, offset, load_blobs=True, largest=_LARGEST_VALUE)
        if step is None or step.hash != digest:
            return None
        return step


def _outputs(step: Recorded) -> Iterator[str]:
    """The texts in what a call gave back."""
    waiting: list[Json] = [step.values.get("content.output")]
    for _ in range(1_000):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            waiting += value[:1_000]
        elif isinstance(value, dict):
            waiting += value.values()


def _before(graph: Graph, change: Change, thing: Named) -> Iterator[Source]:
    """The thing's own version before, where it was changed and not written whole."""
    if DEEDS.get(change.operation) is not Deed.CHANGE:
        return
    number = version_before(graph, change.version)
    if number is not None:
        yield Source(kind=thing.kind, uri=thing.uri, how="before", confidence=change.confidence, version=number)


def _ran(graph: Graph, change: Change) -> Iterator[Source]:
    """The program files that the same command ran."""
    for edge in run_for(graph, [change.version]):
        program = version_at(graph, edge.source.id)
        if program is not None and edge.evidence.get("step_id") == change.step:
            yield Source(**program._asdict(), how="run", confidence=edge.confidence)

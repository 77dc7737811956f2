"""The taint of a thing in the graph: where what it holds came from, across files and sessions.

Owns the queries and the walk, which is bounded: at most 24 versions, 6 steps deep. What is asked before a call has to be
answered in a fraction of a millisecond, so what was found of a version is remembered: what went into one does not change any
more. Must not know journals, nor which names are secrets: functions for that are given. The rules are `lineage.taint`'s.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

import msgspec
import orjson

from tallystick.graph.graph import Graph, Row
from tallystick.lineage.identity import thing_id
from tallystick.lineage.taint import (
    CLEAN,
    MOST_SOURCES,
    Taint,
    Trust,
    Via,
    changed,
    joined,
    passed,
    trust_of_thing,
    written_in,
)
from tallystick.model.intent import Operation

_MOST_VERSIONS = 24
_MOST_INPUTS = 20
_DEEPEST = 6
_MOST_FOLDERS = 12
_MOST_BELOW = 12
_MOST_REMEMBERED = 4096
_CHANGES = (Operation.APPEND, Operation.EDIT, "modify")

_NEWEST = (
    "SELECT a.artifact_id, a.kind, a.uri, a.version, a.made_by, a.thing, a.deleted_at"
    " FROM json_each(?) i CROSS JOIN artifacts a ON a.thing = i.value"
    " AND a.version = (SELECT max(b.version) FROM artifacts b WHERE b.thing = i.value) ORDER BY i.key"
)
_BY_ID = (
    "SELECT a.artifact_id, a.kind, a.uri, a.version, a.made_by, a.thing, a.deleted_at FROM artifacts a"
    " WHERE a.artifact_id = ?"
)
_INPUTS = (
    "SELECT f.via, f.confidence, s.step_id, s.result, a.artifact_id, a.kind, a.uri, a.version, a.made_by, a.thing,"
    " a.deleted_at FROM accesses t INDEXED BY accesses_step"
    " CROSS JOIN flows f ON f.target_step = t.step_id AND f.target_k = t.k"
    " CROSS JOIN accesses s INDEXED BY accesses_step ON s.step_id = f.source_step AND s.k = f.source_k"
    " CROSS JOIN artifacts a ON a.artifact_id = s.artifact_id"
    f" WHERE t.step_id = ? AND t.artifact_id = ? LIMIT {_MOST_INPUTS}"
)
_BEFORE = (
    "SELECT t.confidence, t.step_id, t.result, a.artifact_id, a.kind, a.uri, a.version, a.made_by, a.thing, a.deleted_at"
    " FROM accesses t INDEXED BY accesses_step CROSS JOIN artifacts a ON a.thing = t.thing AND a.version = ?"
    " WHERE t.step_id = ? AND t.artifact_id = ? AND t.operation IN ('append', 'edit', 'modify') LIMIT 1"
)
_TAKEN = (
    "SELECT DISTINCT s.confidence, s.step_id, s.result, a.artifact_id, a.kind, a.uri, a.version, a.made_by, a.thing,"
    " a.deleted_at FROM accesses s INDEXED BY accesses_step CROSS JOIN artifacts a ON a.artifact_id = s.artifact_id"
    f" WHERE s.step_id = ? AND s.operation IN ('read', 'copy_source', 'execute', 'fetch', 'rename') LIMIT {_MOST_INPUTS}"
)
_MADE = (
    "SELECT a.artifact_id, a.kind, a.uri, a.version, a.made_by, a.thing, a.deleted_at"
    " FROM accesses t INDEXED BY accesses_step CROSS JOIN artifacts a ON a.artifact_id = t.artifact_id"
    f" WHERE t.step_id = ? AND a.made_by = t.step_id LIMIT {_MOST_INPUTS}"
)
_BELOW = (
    "SELECT a.artifact_id, a.kind, a.uri, a.version, a.made_by, a.thing, a.deleted_at FROM"
    " (SELECT * FROM artifacts WHERE kind = 'file' AND uri > ? AND uri < ? LIMIT 500) a"
    " WHERE a.made_by IS NOT NULL AND a.deleted_at IS NULL AND NOT EXISTS"
    " (SELECT 1 FROM artifacts b WHERE b.thing = a.thing AND b.version = a.version + 1)"
    f" ORDER BY a.created_at DESC LIMIT {_MOST_BELOW}"
)
_PLACE = "SELECT s.session_id, s.n, s.tool, s.offset, s.hash FROM steps s WHERE s.id = ?"
_FOLDER = "SELECT cwd FROM agent_events WHERE event_id = ?"


class VersionAt(msgspec.Struct, frozen=True):
    """A version of a thing."""

    id: int
    kind: str
    uri: str
    number: int
    made_by: int | None
    thing: int
    deleted_at_ms: int | None

    @property
    def path(self) -> str | None:
        """The absolute path of a file; None for all else."""
        if self.kind == "file" and self.uri.startswith("file:///"):
            return self.uri.removeprefix("file://")
        return None


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """Something that went into a version, or that a step took."""

    via: Via
    confidence: float
    step: int
    """The step that took it."""
    result: int | None
    """n of the step that gave what it took."""
    version: VersionAt


class Place(msgspec.Struct, frozen=True):
    """Where a step is in the record."""

    session: str
    n: int
    tool: str | None
    offset: int
    hash: str

    @property
    def name(self) -> str:
        """`session:n`, as people write it."""
        return f"{self.session[:12]}:{self.n}"


Quotes = Callable[[VersionAt, Input], bool]
"""Whether what the model wrote into a version holds a telling piece of what it had been shown."""


class Taints:
    """Answers for one open index, and remembers. For one thread, as the index is."""

    def __init__(
        self,
        graph: Graph,
        *,
        is_secret: Callable[[str], bool] = lambda _: False,
        quotes: Quotes = lambda _version, _input: False,
        gives_secret: Callable[[int], bool] = lambda _: False,
    ) -> None:
        """Ask of `graph`.

        Args:
            is_secret: whether a path is one that holds secrets.
            quotes: by default nothing that the model wrote is taken for a quote.
            gives_secret: whether what a step took from elsewhere was a secret.
        """
        self._graph = graph
        self._is_secret = is_secret
        self._quotes = quotes
        self._gives_secret = gives_secret
        self._known: dict[int, Taint] = {}
        self._asked = 0

    def of_thing(self, kind: str, uri: str) -> Taint:
        """The taint of what a thing holds now, as far as the index goes. Raises GraphError."""
        self._asked = 0
        version = newest_version(self._graph, kind, uri)
        if version is None:
            return CLEAN
        return self._of(version, 0, frozenset())

    def of_version(self, version: VersionAt) -> Taint:
        """The taint of one version. Raises GraphError."""
        self._asked = 0
        return self._of(version, 0, frozenset())

    def via(self, version: VersionAt, taken: Input, taint: Taint) -> Via:
        """How something went into a version: what the model wrote may be a quote."""
        if taken.via is not Via.MODEL or taint.is_clean:
            return taken.via
        if self._quotes(version, taken):
            return Via.QUOTE
        return Via.MODEL

    def of_input(self, taken: Input, depth: int = 0, above: frozenset[int] = frozenset()) -> Taint:
        """The taint of what was taken, before it went anywhere."""
        version = taken.version
        taint = self._of(version, depth, above)
        if version.kind != "file" and taken.via is Via.COMMAND and self._gives_secret(taken.step):
            taint = msgspec.structs.replace(taint, is_sensitive=True)
        if taint.is_clean:
            return taint
        source = f"{_version_name(version)} ({self._name(taken.step)})"
        way = dict.fromkeys((source, *(one for one in taint.sources if one != _version_name(version))))
        return msgspec.structs.replace(taint, sources=tuple(way)[:MOST_SOURCES])

    def _of(self, version: VersionAt, depth: int, above: frozenset[int]) -> Taint:
        known = self._known.get(version.id)
        if known is not None:
            return known
        self._asked += 1
        if self._asked > _MOST_VERSIONS or depth > _DEEPEST or version.id in above:
            return CLEAN
        found = self._found(version, depth, above | {version.id})
        if depth == 0 or self._asked <= _MOST_VERSIONS:
            if len(self._known) >= _MOST_REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[version.id] = found
        return found

    def _found(self, version: VersionAt, depth: int, above: frozenset[int]) -> Taint:
        path = version.path
        if path is not None and self._is_secret(path):
            return Taint(is_sensitive=True, sources=(path,))
        if version.kind != "file":
            return Taint(trust=trust_of_thing(version.kind, version.uri))
        if version.made_by is None:
            return self._of_folder(version, depth, above)
        base: Taint | None = None
        taints = []
        # What ends the walk comes first: the walk is bounded, and a page must not be lost behind many files.
        for taken in sorted(inputs_of(self._graph, version), key=lambda taken: taken.version.made_by is not None):
            taint = self.of_input(taken, depth + 1, above)
            if taken.via is Via.CHANGE:
                base = taint
            else:
                taints.append(passed(taint, self.via(version, taken, taint)))
        taints.sort(key=lambda taint: taint.trust is not Trust.UNTRUSTED)
        if base is None:
            taint = joined(taints)
        else:
            taint = changed(base, taints)
        if taint.is_clean:
            return taint
        return written_in(taint, _version_name(version), self._name(version.made_by))

    def _of_folder(self, version: VersionAt, depth: int, above: frozenset[int]) -> Taint:
        """The taint of a file that no one was seen making: of the folder with which it came."""
        path = version.path
        folder = None
        if path is not None:
            folder = folder_made(self._graph, path)
        if folder is None:
            return CLEAN
        return self._of(folder, depth + 1, above)

    def _name(self, step: int) -> str:
        place = place_of(self._graph, step)
        if place is None:
            return "?"
        return place.name


# Rows -----------------------------------------------------------------------------------------------------------------


def newest_version(graph: Graph, kind: str, uri: str) -> VersionAt | None:
    """The newest version of a thing; of a file that is in no row, the one of the folder that it came with."""
    rows = graph.rows(_NEWEST, (orjson.dumps([thing_id(kind, uri)]).decode(),))
    if rows:
        version = VersionAt(*rows[0])
        if version.deleted_at_ms is not None or _is_around(graph, version):
            return None
        return version
    if kind == "file" and uri.startswith("file:///"):
        return folder_made(graph, uri.removeprefix("file://"))
    return None


def folder_made(graph: Graph, path: str) -> VersionAt | None:
    """The nearest folder above a path that someone was seen making with all that is in it."""
    folders: list[int] = []
    while len(folders) < _MOST_FOLDERS and (path := posixpath.dirname(path)) not in ("/", ""):
        folders.append(thing_id("file", f"file://{path}"))
    for row in graph.rows(_NEWEST, (orjson.dumps(folders).decode(),)) if folders else ():
        version = VersionAt(*row)
        if version.made_by is not None and version.deleted_at_ms is None and not _is_around(graph, version):
            return version
    return None


def newest_below(graph: Graph, path: str) -> tuple[VersionAt, ...]:
    """The newest versions of files below a folder that someone was seen making; of many files only some are looked at."""
    beginning = f"file://{path.rstrip('/')}"
    return tuple(VersionAt(*row) for row in graph.rows(_BELOW, (f"{beginning}/", f"{beginning}0")))


def _is_around(graph: Graph, version: VersionAt) -> bool:
    """Whether the step that made a folder ran in it: what it unpacked lies among files that were there before."""
    row = None
    if version.made_by is not None:
        row = graph.row(_FOLDER, (version.made_by,))
    return row is not None and bool(row[0]) and f"{row[0]}/".startswith(f"{version.path}/")


def inputs_of(graph: Graph, version: VersionAt) -> Iterator[Input]:
    """What went into a version."""
    if version.made_by is None:
        return
    for via, confidence, step, result, *rest in graph.rows(_INPUTS, (version.made_by, version.id)):
        if via == "command":
            how = Via.COMMAND
        else:
            how = Via.MODEL
        yield Input(via=how, confidence=confidence, step=step, result=result, version=VersionAt(*rest))
    row = graph.row(_BEFORE, (version.number - 1, version.made_by, version.id))
    if row is not None:
        yield _input(Via.CHANGE, row)


def taken_by(graph: Graph, step: int) -> Iterator[Input]:
    """What a step read, ran, copied or fetched."""
    return (_input(Via.COMMAND, row) for row in graph.rows(_TAKEN, (step,)))


def made_by(graph: Graph, step: int) -> tuple[VersionAt, ...]:
    """The versions that a step made."""
    return tuple(dict.fromkeys(VersionAt(*row) for row in graph.rows(_MADE, (step,))))


def version_at(graph: Graph, id_: int) -> VersionAt | None:
    """A version by its id."""
    row = graph.row(_BY_ID, (id_,))
    if row is None:
        return None
    return VersionAt(*row)


def place_of(graph: Graph, step: int) -> Place | None:
    """Where a step is in the record."""
    row = graph.row(_PLACE, (step,))
    if row is None:
        return None
    return Place(*row)


def _input(via: Via, row: Row) -> Input:
    confidence, step, result, *rest = row
    return Input(via=via, confidence=confidence, step=step, result=result, version=VersionAt(*rest))


def _version_name(version: VersionAt) -> str:
    return (version.path or version.uri)[:200]

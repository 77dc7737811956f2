"""Who changed a thing: every call, and every effect that was observed, which left or removed a version of it.

Owns those queries, and that an effect which shows what a call did is not told beside the call. Must not know who asked for
a change, nor what it wrote.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from tallystick.graph.graph import Graph, Row
from tallystick.graph.relating import batches
from tallystick.graph.resources import Named
from tallystick.lineage.access import AGENT, DEEDS, Deed

MOST_READ = 2_000
"""Changes of one thing that are read, the newest first."""

_MOST_COUNTED = 100_000

_CHANGING = tuple(sorted(name for name, deed in DEEDS.items() if deed not in (Deed.READ, Deed.REACH)))
_TOUCHING = frozenset(name for name, deed in DEEDS.items() if deed is Deed.TOUCH)
_REMOVING = frozenset(name for name, deed in DEEDS.items() if deed in (Deed.REMOVE, Deed.TAKE))
_NAMES = ", ".join(f"'{name}'" for name in _CHANGING)
_WHERE = f"x.thing = ? AND x.operation IN ({_NAMES}) AND x.artifact_id IS NOT NULL"
_CHANGES = (
    "SELECT x.step_id, x.operation, x.at_us, x.confidence, x.artifact_id, x.k, x.result, x.actor, x.cause,"
    " x.cause_confidence, a.made_by"
    f" FROM (SELECT * FROM accesses x WHERE {_WHERE} ORDER BY x.at_us DESC, x.step_id DESC, x.k DESC LIMIT ?) x"
    " LEFT JOIN artifacts a ON a.artifact_id = x.artifact_id ORDER BY x.at_us DESC, x.step_id DESC, x.k DESC"
)
_STEPS = (
    "SELECT s.id, s.session_id, s.n, s.hash, s.agent_id, s.type, s.tool, s.at_us / 1000, s.request, s.offset"
    " FROM json_each(?) i CROSS JOIN steps s ON s.id = i.value"
)


class _Access(NamedTuple):
    step: int
    operation: str
    at_us: int
    confidence: float
    version: int
    k: int
    result: int | None
    actor: str
    cause: int | None
    cause_confidence: float | None
    made_by: int | None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What one step did to a thing. `at_ms` is when the call began, `done_ms` when the thing was changed.

    `result` is n of the step that says how it ended. `is_observed`: an effect that no call is known to have caused.
    """

    step: int
    session: str
    n: int
    hash: str
    agent: str
    type: str
    tool: str | None
    at_ms: int
    request: int | None
    offset: int
    operation: str
    done_ms: int
    confidence: float
    version: int
    k: int
    result: int | None
    is_observed: bool = False

    @property
    def first_id(self) -> int:
        """The id of the first step of its session."""
        return self.step - self.n

    @property
    def removes(self) -> bool:
        """Whether the thing was gone afterwards."""
        return self.operation in _REMOVING


class Changes(msgspec.Struct, frozen=True):
    """The changes of a thing, newest first, one a step; `total` counts those that were not read too."""

    newest: tuple[Change, ...] = ()
    total: int = 0


def thing_id(graph: Graph, thing: Named) -> int | None:
    """The number of a thing in the index; None where no record of it exists."""
    row = graph.row("SELECT thing FROM artifacts WHERE kind = ? AND uri = ? LIMIT 1", (thing.kind, thing.uri))
    return None if row is None else int(row[0])


def changes_of(graph: Graph, thing: int, *, most: int = MOST_READ) -> Changes:
    """The changes of a thing, also those of which nothing is left; those of its mode only where there are no others.

    Raises GraphError.
    """
    rows = [_Access(*row) for row in graph.rows(_CHANGES, (thing, most))]
    told = _told([row for row in rows if not _only_touches(row)]) or _told(rows)
    steps = {row[0]: row for batch in batches(step for step, _ in told) for row in graph.rows(_STEPS, (batch,))}
    newest = tuple(_change(steps[step], access) for step, access in told if step in steps)
    total = len(newest)
    if len(rows) == most:
        total = max(total, _count(graph, thing))
    return Changes(newest, total)


def _told(rows: list[_Access]) -> list[tuple[int, _Access]]:
    """One access of each step that changed the thing, newest first; of an effect with a known cause, that call's."""
    calls = {row.step for row in rows if row.actor == AGENT}
    removed = {row.version for row in rows if row.actor == AGENT and row.operation in _REMOVING}
    found: dict[int, _Access] = {}
    for row in rows:
        if row.actor == AGENT:
            found.setdefault(row.step, row)
        elif not _shows_call(row, calls, removed):
            found.setdefault(row.cause or row.step, row)
    return list(found.items())


def _only_touches(row: _Access) -> bool:
    """Whether it left what the thing holds as it was: a change of its mode, `touch` on a file that was there."""
    return row.operation in _TOUCHING and row.made_by != row.step


def _shows_call(effect: _Access, calls: set[int], removed: set[int]) -> bool:
    """Whether an effect is what a call did that is in the list itself."""
    if effect.cause in calls:
        return True
    if effect.operation in _REMOVING:
        return effect.version in removed
    return effect.made_by in calls


def _change(step: Row, access: _Access) -> Change:
    is_observed = access.actor != AGENT
    confidence = access.confidence
    if is_observed and access.cause:
        confidence = access.cause_confidence or 0.0
    return Change(
        **dict(zip(Change.__struct_fields__, step, strict=False)),
        operation=access.operation,
        done_ms=access.at_us // 1000,
        confidence=confidence,
        version=access.version,
        k=access.k,
        result=access.result,
        is_observed=is_observed and not access.cause,
    )


def _count(graph: Graph, thing: int) -> int:
    row = graph.row(
        f"SELECT count(DISTINCT step_id) FROM (SELECT x.step_id FROM accesses x WHERE {_WHERE} LIMIT {_MOST_COUNTED})",
        (thing,),
    )
    return 0 if row is None else int(row[0])


class VersionOf(NamedTuple):
    """Which version of which thing a row is."""

    kind: str
    uri: str
    version: int


def version_at(graph: Graph, artifact: int) -> VersionOf | None:
    """The version with an id."""
    row = graph.row("SELECT kind, uri, version FROM artifacts WHERE artifact_id = ?", (artifact,))
    return None if row is None else VersionOf(*row)


def version_before(graph: Graph, artifact: int) -> int | None:
    """The number of the version that came before another one of the same thing; None where it is the first."""
    row = graph.row(
        "SELECT p.version FROM artifacts a JOIN artifacts p ON p.thing = a.thing AND p.version = a.version - 1"
        " WHERE a.artifact_id = ?",
        (artifact,),
    )
    return None if row is None else int(row[0])


def changed_by(graph: Graph, first: int, last: int, *, most: int) -> tuple[int, ...]:
    """The things that the steps with ids from `first` to `last` changed, each once."""
    sql = f"SELECT DISTINCT x.thing FROM accesses x WHERE x.step_id BETWEEN ? AND ? AND x.actor = {AGENT!r}"
    rows = graph.rows(f"{sql} AND x.operation IN ({_NAMES}) AND x.artifact_id IS NOT NULL LIMIT ?", (first, last, most))
    return tuple(row[0] for row in rows)


def thing_at(graph: Graph, thing: int) -> Named | None:
    """The name of a thing."""
    row = graph.row("SELECT kind, uri FROM things WHERE thing = ?", (thing,))
    return None if row is None else Named(*row)

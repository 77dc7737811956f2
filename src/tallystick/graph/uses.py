"""Who used a thing without changing it: read, ran, copied, fetched it, or sent something there.

Owns those queries, in numbers and the newest ones. Must not know what was made of it.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.graph import Graph
from tallystick.graph.relating import batches
from tallystick.lineage.access import DEEDS, Deed

_MOST_READ = 3_000
_MOST_STEPS = 300

_USING = tuple(sorted(name for name, deed in DEEDS.items() if deed in (Deed.READ, Deed.REACH, Deed.TAKE)))
_NAMES = ", ".join(f"'{name}'" for name in _USING)
_USES = (
    "SELECT x.step_id, x.operation, x.confidence, x.request_id, x.at_us / 1000 FROM accesses x"
    f" WHERE x.thing = ? AND x.operation IN ({_NAMES}) AND x.artifact_id IS NOT NULL AND x.actor = 'agent_event'"
    " ORDER BY x.at_us DESC, x.step_id DESC, x.k DESC LIMIT ?"
)
_STEPS = (
    "SELECT s.id, s.session_id, s.n, s.agent_id, s.tool, s.at_us / 1000, s.request"
    " FROM json_each(?) i CROSS JOIN steps s ON s.id = i.value"
)


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """One call that used a thing."""

    step: int
    session: str
    n: int
    agent: str
    tool: str | None
    at_ms: int
    request: int | None
    operation: str
    confidence: float


class Uses(msgspec.Struct, frozen=True, kw_only=True):
    """How often a thing was used: `calls`, for how many `requests`; the `newest` of them. `is_cut`: there are more."""

    calls: int = 0
    requests: int = 0
    sessions: int = 0
    newest: tuple[Use, ...] = ()
    is_cut: bool = False

    @property
    def last(self) -> Use | None:
        """The newest use."""
        return self.newest[0] if self.newest else None


def uses_of(graph: Graph, thing: int) -> Uses:
    """Who used a thing. Raises GraphError."""
    rows = graph.rows(_USES, (thing, _MOST_READ))
    by_step = {row[0]: row for row in reversed(rows)}
    ids = sorted(by_step, key=lambda step: (by_step[step][4], step), reverse=True)
    steps = {row[0]: row for batch in batches(ids[:_MOST_STEPS]) for row in graph.rows(_STEPS, (batch,))}
    newest = tuple(_use(steps[id_], by_step[id_]) for id_ in ids if id_ in steps)
    return Uses(
        calls=len(ids),
        requests=len({row[3] for row in rows}),
        sessions=len({use.session for use in newest}),
        newest=newest,
        is_cut=len(rows) == _MOST_READ,
    )


def _use(step: tuple[object, ...], access: tuple[object, ...]) -> Use:
    names = Use.__struct_fields__
    return Use(**dict(zip(names, (*step, access[1], access[2]), strict=True)))  # type: ignore[arg-type]

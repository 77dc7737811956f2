"""The rows of one session that wait to be written.

Owns these lists. Must not know how rows are made, nor SQL: the projections fill them, and who writes them empties them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tallystick.graph.tables import (
    CheckpointRow,
    EdgeRow,
    EventRow,
    FlowRow,
    IntentRow,
    ObservationRow,
    RequestState,
    ScriptRow,
    StepRow,
    SystemRow,
    UsageState,
)
from tallystick.lineage.access import Access
from tallystick.lineage.things import Thing


@dataclass
class LineageRows:
    """Rows of calls and of what they touched."""

    events: list[EventRow] = field(default_factory=list)
    system: list[SystemRow] = field(default_factory=list)
    intents: dict[int, list[IntentRow]] = field(default_factory=dict)
    """By step."""
    outcomes: list[tuple[str, int, int, int]] = field(default_factory=list)
    """(outcome, step, first k, last k) of intents that were written before they were decided."""
    accesses: list[Access] = field(default_factory=list)
    flows: list[FlowRow] = field(default_factory=list)
    observations: list[ObservationRow] = field(default_factory=list)
    scripts: list[ScriptRow] = field(default_factory=list)
    things: dict[int, Thing] = field(default_factory=dict)


@dataclass
class SessionRows:
    """Rows of a session, its requests and its steps, with those of its calls."""

    steps: list[StepRow] = field(default_factory=list)
    edges: list[EdgeRow] = field(default_factory=list)
    revised: list[tuple[int, int]] = field(default_factory=list)
    """(n of the newer, id of the older) of steps that were revised."""
    requests: dict[int, RequestState] = field(default_factory=dict)
    """Requests that changed, by the number of their prompt; 0 stands for what no human asked."""
    usage: dict[tuple[str, int], UsageState] = field(default_factory=dict)
    """What models used on a day, of those that changed."""
    checkpoints: list[CheckpointRow] = field(default_factory=list)
    replaced: list[tuple[int, str]] = field(default_factory=list)
    """(n of the newer, hash of the older) of checkpoints that took another one's place."""
    lineage: LineageRows = field(default_factory=LineageRows)

"""What one session did, in order: its prompts and calls, and what it left in files.

Owns those questions. Where the words stand is in the journal, at the offsets that rows give.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.graph import Graph
from tallystick.lineage.access import CHANGING, DEEDS, Deed

GONE = "gone"
"""Instead of a digest: the file is not there any more."""
UNKNOWN = "unknown"
"""Instead of a digest: it changed, and what it holds now was not seen."""

_CHANGES = tuple(sorted(str(operation) for operation, deed in DEEDS.items() if deed in CHANGING))
_REMOVES = frozenset(str(operation) for operation, deed in DEEDS.items() if deed in (Deed.REMOVE, Deed.TAKE))
_OF_SESSION = "s.id >= x.first_id AND s.id < x.first_id + x.size"
_ACTS = (
    "SELECT s.n, s.type, s.tool, s.corr, s.success, s.offset"
    f" FROM sessions x JOIN steps s ON {_OF_SESSION} WHERE x.session_id = ? AND s.corroborates IS NULL"
    " AND s.revised_by IS NULL AND (s.type IN ('tool_call', 'tool_result')"
    " OR (s.type = 'user' AND (s.request = s.n OR json_extract(s.meta, '$.origin') = 'parent'))) ORDER BY s.id"
)
_LEFT = (
    "SELECT a.step_id - x.first_id, t.uri, a.operation, coalesce(nullif(v.digest, ''), a.digest)"
    " FROM sessions x JOIN accesses a ON a.step_id >= x.first_id AND a.step_id < x.first_id + x.size"
    " JOIN things t ON t.thing = a.thing LEFT JOIN artifacts v ON v.artifact_id = a.artifact_id"
    f" WHERE x.session_id = ? AND t.kind = 'file' AND a.operation IN ({', '.join('?' * len(_CHANGES))})"
    " ORDER BY a.step_id, a.k"
)
_CONFIGURED = (
    "SELECT s.offset FROM sessions x JOIN checkpoints c ON c.session_id = x.session_id"
    " JOIN steps s ON s.id = c.checkpoint_id WHERE x.session_id = ? AND c.config_fingerprint IS NOT NULL ORDER BY c.n LIMIT 1"
)
_DURATION = "SELECT CAST(max(s.at_us) - min(s.at_us) AS INTEGER) FROM sessions x JOIN steps s ON " + (
    f"{_OF_SESSION} WHERE x.session_id = ? AND s.ts IS NOT NULL"
)


class Act(msgspec.Struct, frozen=True):
    """A prompt or call, where its line begins, and whether its result says that it succeeded."""

    n: int
    type: str
    tool: str | None
    offset: int
    success: bool | None


class Left(msgspec.Struct, frozen=True):
    """What step `n` left in a file: `sha256:…`, GONE or UNKNOWN."""

    n: int
    uri: str
    content: str


def acts_of(graph: Graph, session: str) -> list[Act]:
    """The prompts that humans or parents gave, and the calls of a session, in order. Raises GraphError."""
    rows = graph.rows(_ACTS, (session,))
    outcomes = {corr: success for _, kind, _, corr, success, _ in rows if kind == "tool_result" and corr is not None}
    return [
        Act(n, kind, tool, offset, None if outcomes.get(corr) is None else bool(outcomes[corr]))
        for n, kind, tool, corr, _, offset in rows
        if kind != "tool_result"
    ]


def left_by(graph: Graph, session: str) -> list[Left]:
    """What the calls of a session, and effects that were observed in it, did to files, in order. Raises GraphError."""
    rows = graph.rows(_LEFT, (session, *_CHANGES))
    return [Left(n, uri, GONE if operation in _REMOVES else digest or UNKNOWN) for n, uri, operation, digest in rows]


def configured_at(graph: Graph, session: str) -> int | None:
    """Where the line begins that says under which configuration a session began; None if none does. Raises GraphError."""
    row = graph.row(_CONFIGURED, (session,))
    return None if row is None else row[0]


def duration_us(graph: Graph, session: str) -> int | None:
    """From the first step with a time of its source to the last; None if no step has one. Raises GraphError."""
    row = graph.row(_DURATION, (session,))
    return None if row is None else row[0]

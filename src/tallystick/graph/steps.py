"""A step as lists of steps show it.

Owns that value and the columns it is made of, for every query that gives steps.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.graph import Graph, Row
from tallystick.graph.tables import TOKENS
from tallystick.model.recorded import Recorded


class Tokens(msgspec.Struct, frozen=True):
    """Tokens by kind. Those of reasoning are among those of the output."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """All of them, none twice."""
        return self.input + self.output + self.cache_read + self.cache_write


class StepEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A step as the log shows it. Its content is in the journal, in the line that begins at `offset`.

    `ts` is when it happened as its source says; `request` the number of the prompt that it belongs to, its own if it is
    one; `revised_by` the number of the entry whose value replaces this one's.
    """

    session: str
    n: int
    hash: str
    type: str
    agent: str
    ts: str | None
    recorded: str | None
    source: str | None
    source_id: str | None
    corr: str | None
    parent: int | None
    request: int | None
    tool: str | None
    success: bool | None
    duration_ms: int | None
    model: str | None
    tokens: Tokens | None
    agent_role: str | None
    revises: int | None
    revised_by: int | None
    corroborates: int | None
    offset: int


def from_index(entry: StepEntry) -> Recorded:
    """What the index knows of a step, as a step: for one whose journal cannot be read."""
    names = ("type", "ts", "recorded", "tool", "success")
    meta = {name: value for name in names if (value := getattr(entry, name)) is not None}
    return Recorded(session=entry.session, n=entry.n, hash=entry.hash, prev="", parents=(), meta=meta)


_PLAIN = StepEntry.__struct_fields__[: StepEntry.__struct_fields__.index("tokens")]
_REST = StepEntry.__struct_fields__[StepEntry.__struct_fields__.index("tokens") + 1 :]
_NAMES = {"session": "session_id", "agent": "agent_id"}

STEP_COLUMNS = ", ".join(
    f"s.{column}"
    for column in (*(_NAMES.get(name, name) for name in _PLAIN + _REST), *(f"tokens_{kind}" for kind in TOKENS))
)
"""What a query of `steps s` selects for `step_entry`."""

STEP_WIDTH = len(_PLAIN) + len(_REST) + len(TOKENS)
"""How many columns that is."""


def step_entry(row: Row) -> StepEntry:
    """The step in a row of STEP_COLUMNS."""
    values = dict(zip(_PLAIN + _REST, row, strict=False))
    counts = row[STEP_WIDTH - len(TOKENS) : STEP_WIDTH]
    values["tokens"] = Tokens(*(count or 0 for count in counts)) if any(c is not None for c in counts) else None
    values["success"] = None if values["success"] is None else bool(values["success"])
    return StepEntry(**values)


_SAID_NO = "('deny', 'block', 'denied', 'rejected', 'reject', 'refused')"
DENIED = (
    "{0}.type IN ('tool_result', 'permission', 'decision', 'bash_security', 'security_decision') AND {0}.meta IS NOT NULL"
    " AND (json_extract({0}.meta, '$.decision') IN "
    + _SAID_NO
    + " OR json_extract({0}.meta, '$.action') IN "
    + _SAID_NO
    + " OR ({0}.type = 'decision' AND"
    " coalesce(json_extract({0}.meta, '$.told'), json_extract({0}.meta, '$.effect')) = 'deny'))"
)
"""The condition that a step `{0}` says no to a call; `display.acts.refuses` says the same of a step."""


def get_step(graph: Graph, session: str, n: int) -> StepEntry | None:
    """Step `n` of a session, given by its full id; None if the index does not have it. Raises GraphError."""
    row = graph.row(
        f"SELECT {STEP_COLUMNS} FROM sessions x JOIN steps s ON s.id = x.first_id + ? AND s.session_id = x.session_id"
        " WHERE x.session_id = ?",
        (n, session),
    )
    if row is None:
        return None
    return step_entry(row)

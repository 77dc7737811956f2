"""Events of a session log, of every type and with every member, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tallystick.sessions.session_log import Event, EventMeta, Log, TaintNode, safe_members
from tallystick.sessions.session_spelling import as_read
from tallystick.sessions.session_words import EventType

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
WORDS = st.sampled_from(("", "b0001", "main", "static→triage", "a b", "<&>\u2028", "#4", "x/result"))
NUMBERS = st.integers(0, 2**53 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
MAPS = st.dictionaries(TEXTS, JSON, max_size=3)
NODES = st.recursive(
    st.builds(
        TaintNode, block_id=WORDS, trust=WORDS, source=TEXTS, event_seq=st.integers(0, 99), depth=st.integers(0, 9)
    ),
    lambda inner: st.builds(TaintNode, block_id=WORDS, tainted_by=st.lists(inner, max_size=2).map(tuple)),
    max_leaves=4,
)
_TUPLES = st.lists(WORDS, max_size=3).map(tuple)
METAS = st.builds(
    EventMeta,
    **dict.fromkeys(
        ("phase", "verdict", "block_id", "trust", "action", "check", "model", "check_path", "tiers"), WORDS
    ),
    **dict.fromkeys(
        ("commitment", "reason", "source", "xml", "prompt", "response", "thinking", "subagent_output"), TEXTS
    ),
    **dict.fromkeys(("escalate", "human", "pass_", "suspicious"), st.booleans()),
    **dict.fromkeys(("tokens_in", "tokens_out", "latency_ms", "tier"), NUMBERS),
    **dict.fromkeys(("triggers", "flags", "related_blocks"), _TUPLES),
    entropy=st.sampled_from((0.0, 4.4904848204340695, 8.0)),
    subagent_inputs=st.dictionaries(TEXTS, TEXTS, max_size=3),
    taint_lineage=st.lists(NODES, max_size=2).map(tuple),
)
TIMES = st.sampled_from(
    (
        "2026-03-25T09:00:00Z",
        "2026-03-25T09:00:00.00534492Z",
        "2026-03-25T10:00:00.5+01:00",
        "2026-03-25T09:00:01.000001Z",
    )
)


def _as_read(**members: Any) -> Event:
    """As a file may have it: with types that no one knows yet."""
    return as_read(Event, members)


EVENTS = st.builds(
    _as_read,
    type=st.sampled_from((*sorted(EventType), "observation", "Not A Type", "session_end", "session_update", "fork")),
    timestamp=TIMES,
    **dict.fromkeys(("corr_id", "agent", "agent_role", "tool"), WORDS),
    **dict.fromkeys(("goal", "step", "content", "error"), TEXTS),
    parent=st.integers(0, 3),
    args=MAPS,
    success=st.none() | st.booleans(),
    duration_ms=NUMBERS,
    meta=st.none() | METAS,
)

RUNNING = Log(
    id="s", workflow_name="w", status="running", created_at="2026-03-25T09:00:00Z", updated_at="2026-03-25T09:00:00Z"
)


def said(content: str = "x") -> dict[str, object]:
    """The members of one user event, as a log takes them."""
    return safe_members(Event(type="user", timestamp="2026-03-25T09:00:00Z", content=content))

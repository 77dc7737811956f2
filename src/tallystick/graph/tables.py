"""The rows of the index's tables, columns in the order of schema.sql.

Owns the columns' names and types, and nothing of what they mean.
"""

from __future__ import annotations

import msgspec

TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")
"""The kinds of tokens, in the order of the columns."""


class StepRow(msgspec.Struct, array_like=True):
    """One row of `steps`, columns in the order of the table."""

    id: int
    session_id: str
    n: int
    hash: str
    type: str
    agent_id: str
    at_us: int
    ts: str | None
    recorded: str | None
    source: str | None
    source_id: str | None
    corr: str | None
    parent: int | None
    request: int | None
    tool: str | None
    success: int | None
    duration_ms: int | None
    model: str | None
    tokens_input: int | None
    tokens_output: int | None
    tokens_cache_read: int | None
    tokens_cache_write: int | None
    tokens_reasoning: int | None
    agent_role: str | None
    revises: int | None
    revised_by: int | None
    corroborates: int | None
    offset: int
    meta: str | None


class EdgeRow(msgspec.Struct, array_like=True):
    """One row of `session_edges`."""

    session_id: str
    n: int
    position: int
    kind: str
    parent_session: str | None
    parent_step: str | None
    claimed_session: str | None
    claimed_step: str | None


class SessionState(msgspec.Struct, array_like=True):
    """One row of `sessions`, columns in the order of the table. Holds what the next step's projection needs to know."""

    session_id: str
    agent_id: str = ""
    root_pid: int = 0
    first_event_at: int = 0
    last_event_at: int | None = None
    flagged: int = 0
    source_session: str | None = None
    kind: str = "root"
    parent_session: str | None = None
    parent_step: str | None = None
    claimed_session: str | None = None
    claimed_step: str | None = None
    started: str | None = None
    last: str | None = None
    model: str | None = None
    cwd: str | None = None
    title: str | None = None
    title_rank: int = 0
    status: str = "active"
    goal: str | None = None
    run_id: str | None = None
    workspace: str | None = None
    closed_at: int | None = None
    request: int | None = None
    folder: str | None = None
    model_call: int | None = None
    steps: int = 0
    requests: int = 0
    tool_calls: int = 0
    failures: int = 0
    tokens_input: int = 0
    tokens_output: int = 0
    tokens_cache_read: int = 0
    tokens_cache_write: int = 0
    tokens_reasoning: int = 0
    size: int = 0
    last_hash: str | None = None
    read_to: int = 0
    text_size: int = 0
    inode: int = 0
    rules: str = ""
    first_id: int = 0


class UsageState(msgspec.Struct, array_like=True):
    """One row of `usage`."""

    session_id: str
    model: str
    day: int
    calls: int = 0
    tokens_input: int = 0
    tokens_output: int = 0
    tokens_cache_read: int = 0
    tokens_cache_write: int = 0
    tokens_reasoning: int = 0
    tokens_cache_write_1h: int = 0


class CheckpointRow(msgspec.Struct, array_like=True):
    """One row of `checkpoints`, columns in the order of the table."""

    checkpoint_id: int
    session_id: str
    n: int
    hash: str
    trigger: str
    label: str | None
    position: int
    position_hash: str
    run_id: str | None
    at_us: int
    git: str | None
    tokens: str | None
    config_fingerprint: str | None
    metadata: str | None
    replaced_by: int | None
    is_pruned: int


class RequestState(msgspec.Struct, array_like=True):
    """One row of `requests`, columns in the order of the table."""

    request_id: int
    session_id: str
    original_user_prompt: str | None = None
    final_response: str | None = None
    events: str | None = None
    file_accessed_rate: float = 0
    network_rate: float = 0
    created_at: int = 0
    completed_at: int | None = None
    total_tokens: int = 0
    n: int = 0
    hash: str = ""
    last_at: int = 0
    steps: int = 0
    tool_calls: int = 0
    failures: int = 0
    file_intents: int = 0
    network_intents: int = 0
    kind: str | None = None
    is_erased: int = 0


class EventRow(msgspec.Struct, array_like=True):
    """One row of `agent_events`, columns in the order of the table."""

    event_id: int
    pid: int
    request_id: int
    ts: int
    source: str
    type: str
    cwd: str
    permission_mode: str | None
    tool_name: str | None
    tool_input: str | None
    tool_response: str | None
    tool_use_id: str | None
    step_id: int


class SystemRow(msgspec.Struct, array_like=True):
    """One row of `system_events`, columns in the order of the table."""

    event_id: int
    pid: int
    request_id: int
    ts: int
    source: str
    type: str
    cwd: str
    args: str | None


class IntentRow(msgspec.Struct, array_like=True):
    """One row of `intents`, columns in the order of the table."""

    step_id: int
    k: int
    domain: str
    operation: str
    target: str
    is_known: int
    command: int
    words: str | None
    confidence: float
    outcome: str


class ScriptRow(msgspec.Struct, array_like=True):
    """One row of `scripts`, columns in the order of the table."""

    step_id: int
    path: str
    source_step: int


class FlowRow(msgspec.Struct, array_like=True):
    """One row of `flows`, columns in the order of the table."""

    target_step: int
    target_k: int
    source_step: int
    source_k: int
    confidence: float
    via: str


class ObservationRow(msgspec.Struct, array_like=True):
    """One row of `artifact_observations`, columns in the order of the table."""

    observation_id: int
    artifact_id: int
    request_id: int | None
    agent_event_id: int | None
    session_id: str | None
    digest: str
    size_bytes: int
    content_prefix: str | None
    content_truncated: int
    observed_at: int
    evidence: str | None

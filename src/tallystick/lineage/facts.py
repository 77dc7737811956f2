"""What is known of one file over all its versions, in one row: what is asked before a call touches it.

Owns how the row follows from the file's history (specs/gensee.md 1.2 and 1.3). Must not read a clock: what is recent is so
at the newest access.
"""

from __future__ import annotations

from itertools import pairwise

import msgspec

from tallystick.lineage.access import AGENT, CHANGING, SYSTEM
from tallystick.lineage.registry import membership
from tallystick.lineage.things import Thing
from tallystick.lineage.versions import History, Use

_RECENT_US = 24 * 3600 * 1_000_000


class FactRow(msgspec.Struct, array_like=True):
    """One row of `artifact_facts`, columns in the order of the table. Times are milliseconds since 1970."""

    kind: str
    uri: str
    current_artifact_id: int | None
    current_digest: str | None
    last_seen_at: int
    last_modified_at: int | None = None
    last_modified_source: str | None = None
    last_modified_request_id: int | None = None
    last_modified_session_id: str | None = None
    last_system_event_id: int | None = None
    last_agent_event_id: int | None = None
    recent_unmatched_effect_count: int = 0
    recent_cross_session_write_count: int = 0
    is_agent_authored: int = 0
    is_unmatched_modified: int = 0
    is_executable: int = 0
    is_memory_artifact: int = 0
    is_persistent_target: int = 0
    is_control_plane: int = 0
    dashboard_visible: int = 1
    risk_level: str | None = None
    risk_rule_id: str | None = None
    risk_digest: str | None = None
    risk_updated_at: int | None = None
    metadata: str | None = None


def facts_of(thing: Thing, told: History, sessions: dict[int, str]) -> FactRow:
    """The facts of a file.

    Args:
        sessions: the session of each step that touched it.
    """
    newest = told.uses[-1].access.at_us
    current = None
    if told.versions:
        current = told.versions[-1]
    row = FactRow(
        thing.kind,
        thing.uri,
        current.id if current is not None else None,
        current.digest if current is not None else None,
        newest // 1000,
    )
    changes = [use for use in told.uses if use.access.deed in CHANGING]
    if changes:
        _last_change(row, changes[-1], sessions)
    row.last_system_event_id = _last_step(told, SYSTEM)
    row.last_agent_event_id = _last_step(told, AGENT)
    row.is_agent_authored = int(any(use.access.actor == AGENT for use in changes))
    recent = [use for use in changes if newest - use.access.at_us <= _RECENT_US]
    row.recent_unmatched_effect_count = sum(map(_is_unmatched, recent))
    row.is_unmatched_modified = int(row.recent_unmatched_effect_count > 0)
    row.recent_cross_session_write_count = _crossings(recent, sessions)
    belongs = membership(thing.uri)
    row.is_executable, row.is_memory_artifact = int(belongs.is_executable), int(belongs.is_memory)
    row.is_persistent_target, row.is_control_plane = int(belongs.is_persistent), int(belongs.is_control_plane)
    return row


def _is_unmatched(use: Use) -> bool:
    """Whether it is an observed effect that no call explains."""
    return use.access.actor == SYSTEM and use.cause is None and use.access.cause is None


def _last_change(row: FactRow, use: Use, sessions: dict[int, str]) -> None:
    access = use.cause or use.access
    row.last_modified_at = use.access.at_us // 1000
    if _is_unmatched(use):
        row.last_modified_source = "outside"
    else:
        row.last_modified_source = "agent"
    if row.last_modified_source == "agent":
        row.last_modified_request_id = access.request_id
        row.last_modified_session_id = sessions.get(access.step_id if access.cause is None else access.cause)


def _last_step(told: History, actor: str) -> int | None:
    return next((use.access.step_id for use in reversed(told.uses) if use.access.actor == actor), None)


def _crossings(changes: list[Use], sessions: dict[int, str]) -> int:
    """How often another session wrote than the one before."""
    wrote = [sessions.get(use.access.step_id) for use in changes if use.access.actor == AGENT]
    return sum(before != after for before, after in pairwise(wrote))

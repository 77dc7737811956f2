"""What Hermes means by `parent_session_id`: one column, four relations.

Owns distinguishing them, markers before guesses. Must not know messages.
"""

from __future__ import annotations

import enum

from tallystick.agents.hermes.rows import SessionRow
from tallystick.model.step import SessionKind

_ROLLOVERS = ("turn_boundary_rollover", "turn_boundary_rollover_recovered")
_ORPHANED = "__orphaned__"


class Relation(enum.StrEnum):
    """How a session came from another."""

    COMPRESSION = "compression"
    """The context of the other was compacted, and the conversation goes on under a new id."""
    ROLLOVER = "rollover"
    """It goes on under a new id without a compaction."""
    BRANCH = "branch"
    """A copy of the conversation goes its own way."""
    DELEGATE = "delegate"
    """A sub-agent works on a goal that the other gave it."""
    TOOL = "tool"
    OTHER = "other"


KINDS = {
    Relation.COMPRESSION: SessionKind.CONTINUATION,
    Relation.ROLLOVER: SessionKind.CONTINUATION,
    Relation.BRANCH: SessionKind.FORK,
    Relation.DELEGATE: SessionKind.CHILD,
    Relation.TOOL: SessionKind.CHILD,
    Relation.OTHER: SessionKind.CHILD,
}


def parent_id(session: SessionRow) -> str | None:
    """The session that this one came from. A marker outlives the column, which is cleared with a deleted parent."""
    named = session.parent or session.delegate_from or session.branched_from
    if named not in (session.id, _ORPHANED):
        return named
    return None


def relation(session: SessionRow, parent: SessionRow | None) -> Relation | None:
    """How a session came from `parent`, the row that `parent_id` names (None: that row is missing)."""
    named = parent_id(session)
    if session.delegate_from is not None and session.delegate_from in (named, _ORPHANED):
        return Relation.DELEGATE
    if named is None:
        return None
    if session.branched_from == named:
        return Relation.BRANCH
    if session.surface == "tool":
        return Relation.TOOL
    reason = None
    if parent is not None:
        reason = parent.end_reason
    if reason == "compression":
        return Relation.COMPRESSION
    if reason in _ROLLOVERS:
        return Relation.ROLLOVER
    if parent is not None and _is_untagged_branch(session, parent):
        return Relation.BRANCH
    return Relation.OTHER


def _is_untagged_branch(session: SessionRow, parent: SessionRow) -> bool:
    """Forks over HTTP have no marker: their parent ended `branched`, and they began after that."""
    if parent.end_reason != "branched":
        return False
    return parent.ended is None or session.started is None or session.started >= parent.ended

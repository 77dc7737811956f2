"""Hermes' `sessionProvenance`: what an editor is told of where a session comes from, exactly as Hermes' clients know it.

Owns the payload as a function of the rows of a store that is given. Must not know how rows are kept, nor the protocol that
the payload travels in. Source: hermes-agent 0.19.0, `acp_adapter/provenance.py`, as observed; the later rule is that of a
later revision.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Protocol, cast

from tallystick.model.step import Json

AGENT = "hermes"
"""Whose clients read it."""
COMPRESSION = "compression"
ROLLOVERS = ("turn_boundary_rollover", "turn_boundary_rollover_recovered")
_MOST_ANCESTORS = 100  # Hermes looks no further, and its clients count on the numbers that come of it


class Sessions(Protocol):
    """A store of sessions, Hermes' own among them. `SessionRows` is one of rows in memory."""

    def get_session(self, session_id: str, /) -> Any:
        """The row of a session, a mapping with `parent_session_id` and `end_reason`, or None. It may raise."""
        ...


class Rule(enum.Enum):
    """Whose idea of a continuation holds."""

    RELEASED = "0.19.0"
    """Only a compression continues a session; any change of id within a turn is called one."""
    LATER = "later"
    """Rollovers continue one too, and a change of id is called what the parent's row says."""


def session_provenance_meta(
    db: Sessions,
    acp_session_id: str,
    current_hermes_session_id: str,
    *,
    previous_hermes_session_id: str | None = None,
    rule: Rule | str = Rule.RELEASED,
) -> dict[str, Json] | None:
    """The whole `_meta` that carries `build_session_provenance`; None where that has nothing to say."""
    found = build_session_provenance(
        db,
        acp_session_id,
        current_hermes_session_id,
        previous_hermes_session_id=previous_hermes_session_id,
        rule=rule,
    )
    if found is None:
        return None
    return {AGENT: {"sessionProvenance": found}}


def build_session_provenance(
    db: Sessions,
    acp_session_id: str,
    current_hermes_session_id: str,
    *,
    previous_hermes_session_id: str | None = None,
    rule: Rule | str = Rule.RELEASED,
) -> dict[str, Json] | None:
    """What Hermes says of a session; None if its row is missing, empty or cannot be read. Nothing is written.

    Names of the function and of its parameters are Hermes'. Ids of other kinds than text are taken as they are, as there.

    Args: db: gives the rows. acp_session_id: the id that the editor uses. It is reported as it is.
    current_hermes_session_id: the id of the row that is live now. previous_hermes_session_id: the id of the row that was
    live before the turn, if that is known. rule: `0.19.0` or `later`, by name or as a Rule; ours.

    Raises:
        ValueError: there is no such rule.
    """
    rule, current = Rule(rule), current_hermes_session_id
    row = row_of(db, current)
    if row is None:
        return None
    root, depth = _walk(current, row, db)
    parent = row.get("parent_session_id")
    reason = end_reason(db, parent)
    continues = reason == COMPRESSION or (rule is Rule.LATER and reason in ROLLOVERS)
    return {
        "acpSessionId": acp_session_id,
        "currentHermesSessionId": current,
        "rootHermesSessionId": root,
        "parentHermesSessionId": parent,
        "sessionKind": "continuation" if continues else "root",
        "compressionDepth": depth,
        **_rotation(current, previous_hermes_session_id, reason, rule),
    }


def row_of(db: Sessions, session: Json) -> Mapping[str, Json] | None:
    """A row, None also where it is empty or cannot be read: Hermes takes all three for a missing one."""
    if not session:
        return None
    try:
        found = db.get_session(cast("str", session))
        return dict(found) if found else None
    except Exception:
        return None


def end_reason(db: Sessions, session: Json) -> Json:
    """Why a session ended; None also for one that is not there."""
    row = row_of(db, session)
    if row is None:
        return None
    return row.get("end_reason")


def _walk(current: str, row: Mapping[str, Json], db: Sessions) -> tuple[Json, int]:
    """The last ancestor that can be reached, and how many on the way ended by compression."""
    root: Json = current
    depth, seen = 0, [root]  # an id may be of a kind that no set takes
    cursor = row.get("parent_session_id")
    for _ in range(_MOST_ANCESTORS):
        if not cursor or cursor in seen:
            break
        seen.append(cursor)
        found = row_of(db, cursor)
        if found is None:
            break
        root = cursor
        depth += found.get("end_reason") == COMPRESSION
        cursor = found.get("parent_session_id")
    return root, depth


def _rotation(current: str, previous: str | None, reason: Json, rule: Rule) -> dict[str, Json]:
    if not previous:
        return {}
    said: dict[str, Json] = {"previousHermesSessionId": previous}
    if previous == current:
        return said
    if rule is Rule.RELEASED or reason == COMPRESSION:
        return {**said, "reason": COMPRESSION, "creatorKind": COMPRESSION}
    if reason in ROLLOVERS:
        return {**said, "reason": reason, "creatorKind": "rollover"}
    return said


class SessionRows:
    """Rows in memory, by id, as a store of sessions."""

    def __init__(self, rows: Mapping[str, Mapping[str, Json]]) -> None:
        self._rows = rows

    def get_session(self, session_id: str, /) -> Mapping[str, Json] | None:
        """The row of a session, None if not found."""
        return self._rows.get(session_id)

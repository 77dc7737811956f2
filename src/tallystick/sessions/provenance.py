"""Where a conversation comes from: Hermes' `sessionProvenance`, exactly as its clients know it, and our own account.

Owns both payloads as functions of rows that are given. Must not know where rows are kept, nor the protocol they travel in.
Source: hermes-agent 0.19.0, `acp_adapter/provenance.py`, as observed; the later rule is that of a later revision.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from tallystick.model.step import Json

KEY = "tallystick.dev/provenance"
"""The member of `_meta` that is ours."""
VERSION = 1

Rows: TypeAlias = Callable[[str], Mapping[str, Json] | None]
"""A row of Hermes' `sessions` by its id: at least `parent_session_id` and `end_reason`. None: there is none."""

_MOST_ANCESTORS = 100  # Hermes looks no further, and its clients count on the numbers that come of it
_COMPRESSION = "compression"
_ROLLOVERS = ("turn_boundary_rollover", "turn_boundary_rollover_recovered")


class Rule(enum.Enum):
    """Whose idea of a continuation holds."""

    RELEASED = "0.19.0"
    """Only a compression continues a session; any change of id within a turn is called one."""
    LATER = "later"
    """Rollovers continue one too, and a change of id is called what the parent's row says."""


# Hermes' own ---------------------------------------------------------------------------------------------------------


def hermes_meta(
    acp_id: str, current: str, rows: Rows, *, previous: str | None = None, rule: Rule = Rule.RELEASED
) -> dict[str, Json] | None:
    """The whole `_meta` that carries `session_provenance`; None where that has nothing to say."""
    found = session_provenance(acp_id, current, rows, previous=previous, rule=rule)
    return None if found is None else {"hermes": {"sessionProvenance": found}}


def session_provenance(
    acp_id: str, current: str, rows: Rows, *, previous: str | None = None, rule: Rule = Rule.RELEASED
) -> dict[str, Json] | None:
    """What Hermes says of a session; None if it has no row of it.

    Args:
        acp_id: the id that the editor uses.
        current: the id of the row that is live now.
        previous: the id of the row that was live before the turn, if that is known.
    """
    row = _row(rows, current)
    if row is None:
        return None
    root, depth = _walk(current, row, rows)
    parent = row.get("parent_session_id")
    reason = _end_reason(rows, parent)
    continues = reason == _COMPRESSION or (rule is Rule.LATER and reason in _ROLLOVERS)
    return {
        "acpSessionId": acp_id,
        "currentHermesSessionId": current,
        "rootHermesSessionId": root,
        "parentHermesSessionId": parent,
        "sessionKind": "continuation" if continues else "root",
        "compressionDepth": depth,
        **_rotation(current, previous, reason, rule),
    }


def _row(rows: Rows, session: Json) -> Mapping[str, Json] | None:
    """A row, None also where it cannot be read: Hermes takes both for a missing one."""
    if not isinstance(session, str) or not session:
        return None
    try:
        return rows(session)
    except Exception:
        return None


def _end_reason(rows: Rows, session: Json) -> Json:
    row = _row(rows, session)
    return row.get("end_reason") if row is not None else None


def _walk(current: str, row: Mapping[str, Json], rows: Rows) -> tuple[str, int]:
    """The last ancestor that can be reached, and how many on the way ended by compression."""
    root, depth, seen = current, 0, {current}
    cursor = row.get("parent_session_id")
    for _ in range(_MOST_ANCESTORS):
        if not isinstance(cursor, str) or not cursor or cursor in seen:
            break
        seen.add(cursor)
        found = _row(rows, cursor)
        if found is None:
            break
        root = cursor
        depth += found.get("end_reason") == _COMPRESSION
        cursor = found.get("parent_session_id")
    return root, depth


def _rotation(current: str, previous: str | None, reason: Json, rule: Rule) -> dict[str, Json]:
    if not previous:
        return {}
    said: dict[str, Json] = {"previousHermesSessionId": previous}
    if previous == current:
        return said
    if rule is Rule.RELEASED or reason == _COMPRESSION:
        return {**said, "reason": _COMPRESSION, "creatorKind": _COMPRESSION}
    return {**said, "reason": reason, "creatorKind": "rollover"} if reason in _ROLLOVERS else said


# Our own -------------------------------------------------------------------------------------------------------------


class Kind(enum.StrEnum):
    """How a session came to be. What the session says of itself outweighs how its parent ended."""

    ROOT = "root"
    CONTINUATION = "continuation"
    BRANCH = "branch"
    FORK = "fork"
    DELEGATE = "delegate"
    TOOL = "tool"
    OTHER = "other"


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """One session: what it hangs on and how. `claimed`: the agent says so, no recorded entry seals it."""

    kind: Kind = Kind.ROOT
    parent: str | None = None
    reason: str | None = None
    """Why it began, in its agent's word."""
    call: str | None = None
    """The tool call that began it."""
    claimed: bool = False


class Rotation(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the live session within a turn. `reason` is read from the rows, never assumed."""

    before: str
    after: str
    reason: str | None = None


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """Where the session is recorded: the journal, and the entry it had reached."""

    session: str
    size: int
    head: str
    """Hash of the last entry, 64 hex."""


Links: TypeAlias = Callable[[str], Link | None]


def provenance(
    agent: str,
    acp_id: str,
    current: str,
    links: Links,
    *,
    rotations: Sequence[Rotation] = (),
    sealed: Sealed | None = None,
) -> dict[str, Json] | None:
    """Our account of where a session of any agent comes from; None if nothing is known of it.

    `depth` counts the continuations of this session alone, from `continuationRoot` to it; `lineageRoot` is the last
    ancestor of any kind. What ended the walk is said: `cycle` (parents go round), `missing` (the parent that is not there).
    There is no limit to it: a walk ends, because it meets no session twice.
    """
    link = links(current)
    if link is None:
        return None
    said: dict[str, Json] = {
        "version": VERSION,
        "agent": agent,
        "acpSessionId": acp_id,
        "currentSessionId": current,
        "parentSessionId": link.parent,
        "kind": link.kind.value,
        **_ancestry(current, link, links),
    }
    if link.reason is not None:
        said["reason"] = link.reason
    if link.call is not None:
        said["toolCallId"] = link.call
    if link.claimed:
        said["claimed"] = True
    if rotations:
        said["rotations"] = [_said(rotation) for rotation in rotations]
    if sealed is not None:
        said["sealed"] = {"session": sealed.session, "size": sealed.size, "head": sealed.head}
    return said


def _said(rotation: Rotation) -> dict[str, Json]:
    said: dict[str, Json] = {"from": rotation.before, "to": rotation.after}
    return {**said, "reason": rotation.reason} if rotation.reason is not None else said


def _ancestry(current: str, link: Link, links: Links) -> dict[str, Json]:
    root = continuation_root = current
    depth, is_continuing, seen = 0, True, {current}
    said: dict[str, Json] = {}
    while link.parent is not None:
        if link.parent in seen:
            said["cycle"] = True
            break
        is_continuing = is_continuing and link.kind is Kind.CONTINUATION
        depth += is_continuing
        parent = links(link.parent)
        if parent is None:
            said["missing"] = link.parent
            break
        root = link.parent
        continuation_root = root if is_continuing else continuation_root
        seen.add(root)
        link = parent
    return {"depth": depth, "continuationRoot": continuation_root, "lineageRoot": root, **said}


def hermes_links(rows: Rows) -> Links:
    """Hermes' rows as links: its markers first, then the way the parent ended."""

    def find(session: str) -> Link | None:
        row = _row(rows, session)
        return None if row is None else _hermes_link(row, rows)

    return find


def rows_of(links: Links, current: str) -> Rows:
    """The way up from a session as rows of Hermes, so that any agent's sessions can be told in its words."""
    rows: dict[str, dict[str, Json]] = {}
    cursor: str | None = current
    reason: str | None = None
    while cursor is not None and cursor not in rows:
        link = links(cursor)
        if link is None:
            break
        rows[cursor] = {"parent_session_id": link.parent, "end_reason": reason}
        cursor, reason = link.parent, _COMPRESSION if link.kind is Kind.CONTINUATION else None
    return rows.get


def _hermes_link(row: Mapping[str, Json], rows: Rows) -> Link:
    config = _config(row.get("model_config"))
    delegated, branched = config.get("_delegate_from"), config.get("_branched_from")
    named = row.get("parent_session_id") or delegated or branched
    if not isinstance(named, str):
        return Link()
    reason = _end_reason(rows, named)
    told = reason if isinstance(reason, str) else None
    return Link(kind=_kind(named, delegated, branched, row.get("source"), reason), parent=named, reason=told)


def _kind(parent: str, delegated: Json, branched: Json, source: Json, reason: Json) -> Kind:
    if delegated:
        return Kind.DELEGATE
    if branched == parent:
        return Kind.BRANCH
    if source == "tool":
        return Kind.TOOL
    if reason == _COMPRESSION or reason in _ROLLOVERS:
        return Kind.CONTINUATION
    return Kind.BRANCH if reason == "branched" else Kind.OTHER


def _config(value: Json) -> Mapping[str, Json]:
    """`model_config`: JSON text in Hermes' store."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            return {}
    return value if isinstance(value, dict) else {}

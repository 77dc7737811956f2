"""Between Hermes' rows and the links of sessions: the one reported in the words of the other, both ways.

Owns what a row means, markers before the way its parent ended, and how sessions of any agent look as rows. Must not know
what is then said of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from tallystick.model.step import Json
from tallystick.sessions.compactions import base_of
from tallystick.sessions.hermes_provenance import (
    AGENT,
    COMPRESSION,
    ROLLOVERS,
    SessionRows,
    Sessions,
    end_reason,
    row_of,
)
from tallystick.sessions.provenance import Kind, Link, Links, Way

_ORPHANED = "__orphaned__"
_SCHEDULED = ("cron", "webhook")


def hermes_links(db: Sessions) -> Links:
    """Hermes' rows as links."""

    def find(session: str) -> Link | None:
        row = row_of(db, session)
        if row is None:
            return None
        return _link(row, db)

    return find


def _link(row: Mapping[str, Json], db: Sessions) -> Link:
    config = _config(row.get("model_config"))
    delegated, branched = config.get("_delegate_from"), config.get("_branched_from")
    named = row.get("parent_session_id") or delegated or branched
    if not isinstance(named, str) or named == _ORPHANED:
        return Link(kind=Kind.SCHEDULED if row.get("source") in _SCHEDULED else Kind.ROOT)
    reason = end_reason(db, named)
    told = None
    if isinstance(reason, str):
        told = reason
    return Link(kind=_kind(named, delegated, branched, row.get("source"), reason), parent=named, reason=told)


def _kind(parent: str, delegated: Json, branched: Json, source: Json, reason: Json) -> Kind:
    if delegated:
        return Kind.DELEGATE
    if branched == parent:
        return Kind.BRANCH
    if source == "tool":
        return Kind.TOOL
    if reason == COMPRESSION or reason in ROLLOVERS:
        return Kind.CONTINUATION
    if reason == "branched":
        return Kind.BRANCH
    return Kind.OTHER


def _config(value: Json) -> Mapping[str, Json]:
    """`model_config`: JSON text in Hermes' store."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            return {}
    if isinstance(value, dict):
        return value
    return {}


def rows_of(way: Way, *, in_place: bool = True) -> SessionRows:
    """The way up from a session as rows of Hermes, so that any agent's sessions can be reported in its words.

    Args:
        in_place: a compaction under the same id makes a row of its own; Hermes makes none.
    """
    rows: dict[str, dict[str, Json]] = {}
    reason: str | None = None
    for name, link, parent in _named(way) if in_place else _rotated(way):
        rows.setdefault(name, {"parent_session_id": parent, "end_reason": reason})
        reason = None
        if link.kind is Kind.CONTINUATION:
            reason = COMPRESSION
    return SessionRows(rows)


_Hop: TypeAlias = tuple[str, Link, str | None]


def _named(way: Way) -> Iterator[_Hop]:
    """Each session by the agent's own id, with its link and what its parent is called."""
    names = {key: link.name or key for key, link in way.hops}
    for key, link in way.hops:
        yield names[key], link, names.get(link.parent, link.parent) if link.parent is not None else None


def _rotated(way: Way) -> Iterator[_Hop]:
    """The same without the sessions that a compaction in place began: to Hermes they are the session before."""
    for name, link, parent in _named(way):
        base = base_of(name)
        if parent is None or base_of(parent) != base:
            yield base, link, base_of(parent) if parent is not None else None


def differences(way: Way, now: Links) -> list[dict[str, Json]]:
    """Where a store says otherwise by now than was recorded: a session that is gone, or that hangs elsewhere.

    What was recognised by copies, and what belongs to another agent's session, Hermes never knew: that is no
    difference.
    """
    found: list[dict[str, Json]] = []
    others = {key for key, link in way.hops if link.agent not in (None, AGENT)}
    for name, link, parent in _rotated(way):
        if link.agent not in (None, AGENT) or link.parent in others:
            continue
        told = now(name)
        if told is None:
            found.append({"session": name, "now": "missing"})
        elif link.kind is not Kind.FORK and (told.parent, told.kind) != (parent, link.kind):
            recorded = {"parent": parent, "kind": link.kind.value}
            found.append(
                {"session": name, "recorded": recorded, "now": {"parent": told.parent, "kind": told.kind.value}}
            )
    return found

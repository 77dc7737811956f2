"""One event of the headless agent, parsed once: what its members are, and of which kind.

Owns the vocabulary of the log's events (specification: the agent's session package, 2026-03). Must not know how events
become steps, nor how files are framed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from tallystick.agents.kit.spelling import names
from tallystick.model.step import Json

Kind: TypeAlias = type | tuple[type, ...]
_KINDS: dict[str, Kind] = {
    "text": str,
    "whole": int,
    "flag": bool,
    "list": list,
    "object": dict,
    "number": (int, float),
}
_EVENT_KINDS = {name: _KINDS[kind] for name, kind in names("headless", "event").items()}
_META_KINDS = {name: _KINDS[kind] for name, kind in names("headless", "meta").items()}
SPOKEN = frozenset(names("headless", "spoken"))
"""Members of an event's `meta` that hold text, paths, commands or names that someone chose."""
OPERATIONAL = frozenset(_META_KINDS) - SPOKEN - {"tokens_in", "tokens_out"}
"""Members of an event's `meta` that are numbers, ids and words of the program."""


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """One event. Members of another kind than they should be, and unknown ones, are in `extra` and `extra_meta`."""

    seq: int | None = None
    type: str
    timestamp: str | None = None
    corr_id: str | None = None
    parent: int | None = None
    agent: str | None = None
    agent_role: str | None = None
    goal: str | None = None
    step: str | None = None
    content: str | None = None
    tool: str | None = None
    args: Mapping[str, Json] | None = None
    success: bool | None = None
    error: str | None = None
    duration_ms: int | None = None
    meta: Mapping[str, Json] = {}
    extra: Mapping[str, Json] = {}
    extra_meta: Mapping[str, Json] = {}
    place: int
    """Which event of the file it is, counted from 0."""
    copy: int = 1
    """2 for the second, different event that bears the same `seq`, and so on."""

    @property
    def source_id(self) -> str:
        """What identifies the event in its session: `#seq`, where there is none its place."""
        if self.seq:
            own = f"#{self.seq}"
        else:
            own = f"@{self.place}"
        if self.copy == 1:
            return own
        return f"{own}~{self.copy}"

    @property
    def lane(self) -> str:
        """Who acts: the role of a sub-agent, else `main`."""
        return self.agent_role or "main"


_FRAME = frozenset(("_type", "id", "workflow_name", "inputs", "created_at", "status", "outputs", "state", "updated_at"))
"""Members of a record that frame it; on an event record they are empty or say nothing."""


def happening(record: Mapping[str, Json], place: int) -> Happening | None:
    """The event in a record; None if it holds none. Keys count in any case, as with the agent's own reader."""
    members, extra = _parted(record, _EVENT_KINDS)
    extra = {key: value for key, value in extra.items() if key.lower() not in _FRAME}
    if not members and not extra:
        return None
    meta, extra_meta = _parted(members.pop("meta", {}), _META_KINDS)
    members.setdefault("type", "unknown")
    return Happening(**members, meta=meta, extra=extra, extra_meta=extra_meta, place=place)


def _parted(members: Mapping[str, Json], kinds: Mapping[str, Kind]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Members of the kind they should be, and the others."""
    known: dict[str, Json] = {}
    others: dict[str, Json] = {}
    for key, value in members.items():
        if key in kinds:
            name = key
        else:
            name = key.lower()
        kind = kinds.get(name)
        fits = kind is not None and isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if fits and name not in known:
            known[name] = value
        elif value is not None or kind is None:
            others[key] = value
    return known, others

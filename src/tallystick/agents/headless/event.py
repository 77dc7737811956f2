"""One event of the headless agent, parsed once: what its members are, and of which kind.

Owns the vocabulary of the log's events (specification: the agent's session package, 2026-03). Must not know how events
become steps, nor how files are framed.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.model.step import Json

_EVENT_KINDS: dict[str, type | tuple[type, ...]] = {
    "seq": int,
    "type": str,
    "timestamp": str,
    "corr_id": str,
    "parent": int,
    "agent": str,
    "agent_role": str,
    "goal": str,
    "step": str,
    "content": str,
    "tool": str,
    "args": dict,
    "success": bool,
    "error": str,
    "duration_ms": int,
    "meta": dict,
}
OPERATIONAL: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("phase", "result", "confidence", "verdict", "supervisor_type", "block_id", "trust"), str),
    **dict.fromkeys(("block_type", "check", "action", "check_path", "skip_reason", "ckpt_type"), str),
    **dict.fromkeys(("subagent_name", "subagent_role", "subagent_model", "model", "tiers", "tier_path"), str),
    **dict.fromkeys(("escalate", "human", "human_required", "pass", "suspicious"), bool),
    **dict.fromkeys(("triggers", "related_blocks", "flags"), list),
    **dict.fromkeys(("latency_ms", "tier"), int),
    "entropy": (int, float),
}
"""Members of an event's `meta` that are numbers, ids and words of the program, and the kind of each."""
_TOKENS: dict[str, type | tuple[type, ...]] = {"tokens_in": int, "tokens_out": int}
SPOKEN: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("commitment", "correction", "guidance", "reason", "source", "xml", "ckpt_id"), str),
    **dict.fromkeys(("subagent_task", "subagent_output", "prompt", "response", "thinking"), str),
    "taint_lineage": list,
    "subagent_inputs": dict,
}
"""Members of an event's `meta` that hold text, paths, commands or names that someone chose."""
_META_KINDS = {**OPERATIONAL, **_TOKENS, **SPOKEN}


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


def _parted(
    members: Mapping[str, Json], kinds: Mapping[str, type | tuple[type, ...]]
) -> tuple[dict[str, Json], dict[str, Json]]:
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

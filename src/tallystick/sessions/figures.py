"""What counts of each step of a session: its figures, small enough to keep for every step.

Owns that value, and that each thing that happened is there once: a step that revises another takes its place, what a
second witness saw is left out. Must not know what is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.sessions.spending import KINDS
from tallystick.sessions.timeline import Roles

_LIVE = frozenset(("hook", "acp", "sdk", "watch", "otel"))
_MOST_TOKENS = 1 << 40
_MOST_MS = 1 << 52
_MOST_TEXT = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SAID = {
    "security_static": ("pass", "skip_reason"),
    "security_triage": ("suspicious", "skip_reason"),
    "security_supervisor": ("verdict",),
    "security_decision": ("action", "check_path"),
    "bash_security": ("check", "action", "pass"),
    "decision": ("effect", "would", "rules"),
    "permission": ("decision",),
    "phase_commit": ("confidence",),
    "phase_execute": ("result",),
    "phase_reconcile": ("escalate", "triggers"),
    "phase_supervise": ("verdict",),
    "checkpoint": ("trigger", "ckpt_type"),
    "session_start": ("agent", "kind", "resumed"),
    "gap": ("reason",),
}
"""Members that some count of their type goes by."""


class Figure(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What counts of one step."""

    session: str
    n: int
    hash: str
    type: str
    at_us: int | None
    """When it happened, microseconds since 1970; None where no one says."""
    agent: str
    """Who did it: the session's agent, and the role of a sub-agent that is none of its own: `headless/critic`."""
    tool: str | None
    corr: str | None
    parent: int | None
    seq: int | None
    goal: str | None
    request: int | None
    is_prompt: bool
    model: str
    duration_ms: int
    latency_ms: int
    tokens: Mapping[str, int] | None
    said_microusd: int | None
    is_partial: bool
    """Its tokens are a part of what was used."""
    is_failure: bool
    is_refusal: bool
    said: Mapping[str, Json]
    """The members that its type is counted by."""
    text: str
    """The beginning of a prompt; the first words of a bash check, which older logs are reported by."""

    @property
    def at_ms(self) -> int | None:
        """When it happened, milliseconds since 1970."""
        if self.at_us is None:
            return None
        return self.at_us // 1000

    @property
    def place(self) -> str:
        """The step as people name it: the beginning of its session's id, and its number."""
        return f"{self.session[:8]}:{self.n}"

    @property
    def took_ms(self) -> int:
        """Its duration, else its latency; 0: it says neither."""
        return self.duration_ms or self.latency_ms


def figures(steps: Iterable[Recorded]) -> list[Figure]:
    """The figures of a session's steps, in order, each at the place where it was first reported."""
    agent, roles = "?", Roles("?")
    kept: dict[int, Figure] = {}
    first_states: dict[int, int] = {}
    for step in steps:
        if step.type == "sighting" or "corroborates" in step.meta:
            continue
        if step.n == 0:
            agent = _session_agent(step)
            roles = Roles(_short(step.member("agent")) or "?")
        number, revised = step.n, step.meta.get("revises")
        if type(revised) is int:
            number = first_states[step.n] = first_states.get(revised, revised)
        role = roles.role(step)
        kept[number] = figure_of(step, agent if role is None else f"{agent}/{role[:_MOST_TEXT]}")
    return list(kept.values())


def _session_agent(start: Recorded) -> str:
    """Whose session it is. A sub-agent's name or role says which one."""
    agent = _short(start.member("agent")) or "?"
    if start.member("kind") != "child":
        return agent
    role = _short(start.member("agent_role")) or _short(start.member("subagent_name")) or "sub-agent"
    return f"{agent}/{role}"


def figure_of(step: Recorded, agent: str = "?") -> Figure:
    """The figures of one step, of an agent."""
    meta = step.meta
    return Figure(
        session=step.session,
        n=step.n,
        hash=step.hash,
        type=step.type,
        at_us=_time(step),
        agent=agent,
        tool=_short(step.member("tool")),
        corr=_short(step.member("corr")),
        parent=_whole(meta.get("parent")),
        seq=_whole(meta.get("seq")),
        goal=_short(step.text("content.goal")),
        request=_whole(meta.get("request")),
        is_prompt=step.type == "user" and "origin" not in meta,
        model=_short(step.member("model")) or "",
        duration_ms=_length(meta.get("duration_ms")),
        latency_ms=_length(meta.get("latency_ms")),
        tokens=_tokens(step),
        said_microusd=_count(meta.get("cost_microusd")),
        is_partial=meta.get("partial") is True,
        is_failure=meta.get("success") is False,
        is_refusal=meta.get("decision") == "deny",
        said={name: value for name in _SAID.get(step.type, ()) if (value := step.member(name)) is not None},
        text=(step.text("content.text") or "")[:_MOST_TEXT] if step.type in ("user", "bash_security") else "",
    )


def _tokens(step: Recorded) -> dict[str, int] | None:
    """The step's counts by kind; None where it has neither input nor output, as the index has it."""
    counts = step.meta.get("tokens")
    if not isinstance(counts, dict):
        return None
    found = {kind: count for kind in KINDS if (count := _count(counts.get(kind))) is not None}
    if not found.keys() & {"input", "output"}:
        return None
    kept = _count(step.meta.get("cache_write_1h_tokens"))
    if kept is None:
        return found
    return {**found, "cache_write_1h": kept}


def _count(value: Json) -> int | None:
    if type(value) is int and 0 <= value <= _MOST_TOKENS:
        return value
    return None


def _whole(value: Json) -> int | None:
    if type(value) is int:
        return value
    return None


def _length(value: Json) -> int:
    if type(value) is int and 0 < value <= _MOST_MS:
        return value
    return 0


def _short(value: Json) -> str | None:
    if isinstance(value, str):
        return value[:_MOST_TEXT]
    return None


def _time(step: Recorded) -> int | None:
    """What the source says; of a source that reports as things happen, else when it was recorded."""
    at_us = _microseconds(step.meta.get("ts"))
    if at_us is None and step.meta.get("source") in _LIVE:
        return _microseconds(step.meta.get("recorded"))
    return at_us


def _microseconds(text: Json) -> int | None:
    if not isinstance(text, str):
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)

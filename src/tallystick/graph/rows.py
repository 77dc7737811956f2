"""A recorded step as a row of `steps` and as rows of `session_edges`, and what its call means to do as rows of `intents`.

Owns the columns, and that nothing a journal may hold upsets them: journals are read here before they are verified, so a
member with another type than it should have counts as absent.
"""

from __future__ import annotations

import orjson

from tallystick.graph.extra_meta import other_members
from tallystick.graph.json_columns import plain
from tallystick.graph.tables import EdgeRow, IntentRow, SessionState, StepRow
from tallystick.graph.times import microseconds
from tallystick.model.intent import Chance, Intent
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

BY_TOOL, MAYBE = 0.9, 0.5
"""How sure it is that something happened which a tool is for, and which only may happen."""

_BY_COMMAND = 0.8
_MOST_PATH = 4096
_MOST_WORDS = 16
_SAFE_INTEGER = (1 << 53) - 1
_MOST_TOKENS = 1 << 40  # so that no sum of them leaves 64 bits
_FOR_AN_HOUR = "cache_write_1h_tokens"
_NO_TOKENS: dict[str, Json] = {}
_LIVE = frozenset(("hook", "acp", "sdk", "watch", "otel"))


def text_or_none(value: Json) -> str | None:
    """The value if it is text."""
    if type(value) is str:
        return value
    return None


def whole_or_none(value: Json) -> int | None:
    """The value if it is a whole number as the format allows them."""
    if type(value) is int and abs(value) <= _SAFE_INTEGER:
        return value
    return None


def _tokens_or_none(value: Json) -> int | None:
    if type(value) is int and 0 <= value <= _MOST_TOKENS:
        return value
    return None


def known_time(step: Recorded) -> tuple[int, str] | None:
    """When a step happened, in microseconds since 1970 and as text, as far as anyone knows.

    A source that reports what it sees as it happens is timed by the recorder; lines of a transcript are not: they may be
    years old.
    """
    members = ("ts", "recorded") if text_or_none(step.meta.get("source")) in _LIVE else ("ts",)
    for member in members:
        at_us = microseconds(step.meta.get(member))
        if at_us is not None:
            return at_us, step.meta[member]
    return None


def step_row(step: Recorded, session: SessionState, *, at_us: int, request: int | None, offset: int) -> StepRow:
    """The row of a step.

    Args:
        session: whose step it is.
        at_us: its time for ordering. request: n of the prompt it belongs to.
        offset: where its line begins in the journal.
    """
    meta = step.meta
    rest = step.values.get("content.meta")
    # Names that do not fit the format's `meta` are kept beside it: a tool called "Ask Joe".
    names = meta
    if isinstance(rest, dict):
        names = {**rest, **meta}
    tokens = meta.get("tokens")
    counts = _NO_TOKENS
    if isinstance(tokens, dict):
        counts = tokens
    success = meta.get("success")
    return StepRow(
        session.first_id + step.n,
        step.session,
        step.n,
        step.hash,
        step.type,
        session.agent_id,
        at_us,
        text_or_none(meta.get("ts")),
        text_or_none(meta.get("recorded")),
        text_or_none(meta.get("source")),
        text_or_none(names.get("source_id")),
        text_or_none(names.get("corr")),
        whole_or_none(meta.get("parent")),
        request,
        text_or_none(names.get("tool")),
        int(success) if isinstance(success, bool) else None,
        whole_or_none(meta.get("duration_ms")),
        text_or_none(names.get("model")),
        _tokens_or_none(counts.get("input")),
        _tokens_or_none(counts.get("output")),
        _tokens_or_none(counts.get("cache_read")),
        _tokens_or_none(counts.get("cache_write")),
        _tokens_or_none(counts.get("reasoning")),
        text_or_none(names.get("agent_role")),
        whole_or_none(meta.get("revises")),
        None,
        whole_or_none(meta.get("corroborates")),
        offset,
        other_members(names),
    )


def written_for_an_hour(row: StepRow) -> int:
    """Of the tokens that a step wrote to a cache, those that stay there for an hour: they cost more."""
    if row.meta is None or _FOR_AN_HOUR not in row.meta:
        return 0
    members = orjson.loads(row.meta)
    return min(_tokens_or_none(members.get(_FOR_AN_HOUR)) or 0, row.tokens_cache_write or 0)


def edge_rows(step: Recorded) -> list[EdgeRow]:
    """What a step says about other sessions: its parents there, or the parent that its session claims (format 7)."""
    if step.n == 0:
        kind = text_or_none(step.meta.get("kind")) or "root"
    else:
        kind = step.type
    edges = [
        EdgeRow(step.session, step.n, position, kind, sid, digest, None, None)
        for position, parent in enumerate(step.parents)
        for sid, mark, digest in [parent.partition("#")]
        if mark
    ]
    claim = None
    if step.n == 0 and not edges:
        claim = step.member("parent_source")
    if isinstance(claim, dict) and text_or_none(claim.get("session")):
        edges.append(EdgeRow(step.session, 0, 0, kind, None, None, claim["session"], text_or_none(claim.get("step"))))
    return edges


# Intents --------------------------------------------------------------------------------------------------------------


def intent_confidence(intent: Intent, *, is_own: bool) -> float:
    """That an intent happened if its call succeeded."""
    if intent.chance is Chance.MAYBE:
        return MAYBE
    if is_own:
        return BY_TOOL
    return _BY_COMMAND


def intent_row(step: int, k: int, intent: Intent, confidence: float) -> IntentRow:
    """The row of intent `k` of a call, while it is only intended."""
    words = None
    if intent.words not in ((), (intent.target,)):
        words = orjson.dumps(intent.words[:_MOST_WORDS]).decode()
    is_known = int(intent.is_known and not intent.is_pattern)
    target = plain(intent.target, _MOST_PATH)
    return IntentRow(
        step, k, intent.domain, intent.operation, target, is_known, intent.command, words, confidence, "intended"
    )


def intent_evidence(intent: Intent, tool: str, step: str, *, is_own: bool) -> str:
    """What matched, and which step: the same for every edge that an access gives."""
    said: dict[str, Json] = {"operation": str(intent.operation), "tool": tool, "step": step}
    if not is_own and intent.words:
        said["words"] = [plain(word, 80) for word in intent.words[:4]]
    if intent.chance is Chance.MAYBE:
        said["chance"] = "maybe"
    return orjson.dumps(said).decode()

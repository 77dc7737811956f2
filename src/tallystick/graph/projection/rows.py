"""A recorded step as rows: of `steps`, `session_edges` and `checkpoints`, and what its call means to do, of `intents`.

Owns the columns, which members of `meta` are kept as one JSON text because they have none, which steps mark a position,
and that nothing a journal may hold upsets them: journals are read here before they are verified, so a member with another
type than it should have counts as absent. Must not know SQL, nor what a member means.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from tallystick.graph.projection.json_columns import plain
from tallystick.graph.tables import CheckpointRow, EdgeRow, IntentRow, SessionState, StepRow
from tallystick.model.intent import Chance, Intent
from tallystick.model.moments import microseconds
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.sessions.checkpoints import Trigger

_TRIGGERS = frozenset(Trigger)
_MOST_LABEL = 1_000
_MOST_JSON = 65_536


def checkpoint_row(step: Recorded, row: StepRow) -> CheckpointRow:
    """The row of a step of type `checkpoint` or `compaction`."""
    trigger, position, digest = _marked_position(step)
    label = step.text("content.label") or step.text("content.ckpt_id")
    return CheckpointRow(
        row.id,
        step.session,
        step.n,
        step.hash,
        trigger,
        plain(label, _MOST_LABEL) if label is not None else None,
        position,
        digest,
        text_or_none(step.member("run")),
        row.at_us,
        _json(step.values.get("content.git")),
        _json(step.meta.get("tokens_used")),
        text_or_none(step.meta.get("config_fingerprint")),
        _json(step.values.get("content.metadata")),
        None,
        int("content.label" in step.withheld),
    )


def _marked_position(step: Recorded) -> tuple[str, int, str]:
    """What triggered it, and the number and hash of the entry that it marks, as it says them."""
    if step.type == "compaction":
        return "compaction", step.n, step.hash
    trigger = text_or_none(step.meta.get("trigger"))
    position, digest = whole_or_none(step.meta.get("position")), text_or_none(step.meta.get("position_hash"))
    if trigger not in _TRIGGERS or position is None or digest is None:
        return "phase", max(step.n - 1, 0), step.prev
    return trigger, position, digest


def replaced_checkpoints(step: Recorded) -> list[str]:
    """Hashes of the checkpoints of its session whose place this one takes."""
    found = step.meta.get("replaces")
    if isinstance(found, list):
        return [digest for digest in found if isinstance(digest, str)]
    return []


def _json(value: Json) -> str | None:
    if not isinstance(value, dict | list):
        return None
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, ValueError):
        return None
    if len(text) <= _MOST_JSON:
        return text
    return None


LONGEST = 1_024
"""Bytes of the text. The journal has all of it."""

LEFT_OUT = "left_out"
"""The member that says how many others were left out to keep to that."""

_IN_COLUMNS = frozenset(
    (
        *("type", "ts", "recorded", "source", "source_id", "corr", "parent", "request", "tool", "success"),
        *("duration_ms", "model", "tokens", "agent_role", "revises", "corroborates"),
    )
)


def other_members(names: Mapping[str, Json]) -> str | None:
    """The members that no column holds, as a JSON object; None if none exist. Shortest first where not all fit.

    Args:
        names: `meta`, and what went to `content.meta` because it does not fit there (docs/format.md 6.2).
    """
    others = {key: value for key, value in names.items() if key not in _IN_COLUMNS}
    if not others:
        return None
    try:
        text = orjson.dumps(others)
    except (TypeError, ValueError):
        return _cut(others)
    if len(text) <= LONGEST:
        return text.decode()
    return _cut(others)


def _cut(others: Mapping[str, Json]) -> str:
    """As many members as fit, and how many do not."""
    pieces = sorted(filter(None, (_piece(key, value) for key, value in others.items())), key=len)
    kept: list[str] = []
    left = LONGEST - len(f'{{"{LEFT_OUT}":{len(others)}}}')
    for piece in pieces:
        left -= len(piece.encode()) + 1
        if left < 0:
            break
        kept.append(piece)
    return "{" + ",".join([*kept, f'"{LEFT_OUT}":{len(others) - len(kept)}']) + "}"


def _piece(key: str, value: Json) -> str | None:
    """One member unchanged in an object, None if JSON has no words for it."""
    try:
        return orjson.dumps({key: value}).decode()[1:-1]
    except (TypeError, ValueError):  # a number beyond 64 bits, half a surrogate pair
        return None


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
    if isinstance(value, str):
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

"""The rows of Hermes' `state.db` as values.

Owns columns and their encodings. Columns that a version does not have are absent, never an error. Must not know what
becomes of a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tallystick.agents.kit.columns import micros, number, parsed, word
from tallystick.agents.kit.reading import BadJson, dict_of, int_of, loads_text, text_of
from tallystick.agents.kit.spelling import names
from tallystick.model.step import Json

_STRUCTURED = "\0json:"
_TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
    "reasoning": "reasoning_tokens",
}
_COUNTS = names("hermes", "counts")
_ORIGIN = ("user_id", "session_key", "chat_id", "chat_type", "thread_id", "display_name", "origin_json")
_HIDDEN_REASONING = ("reasoning_details", "codex_reasoning_items", "codex_message_items")


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `sessions`."""

    id: str
    surface: str | None = None
    """`cli`, `acp`, `subagent`, `cron`, a messaging platform…"""
    parent: str | None = None
    branched_from: str | None = None
    delegate_from: str | None = None
    started: float | None = None
    ended: float | None = None
    end_reason: str | None = None
    model: str | None = None
    title: str | None = None
    system_prompt: str | None = None
    cwd: str | None = None
    branch: str | None = None
    repository: str | None = None
    config: dict[str, Json] = {}
    origin: dict[str, Json] = {}
    """Who spoke, on a messaging platform."""
    tokens: dict[str, int] = {}
    counts: dict[str, int] = {}


class MessageRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `messages`."""

    id: str
    """`m<row id>`; `#<ordinal>` for a row without one."""
    session: str
    role: str
    content: Json = None
    """Text, or a list of parts."""
    calls: Json = None
    bad_calls: str | None = None
    """Why `tool_calls` cannot be read."""
    call_id: str | None = None
    tool: str | None = None
    effect: str | None = None
    time: float | None = None
    finish_reason: str | None = None
    thinking: str | None = None
    hidden: tuple[str, ...] = ()
    """Columns of provider-encoded reasoning that hold something."""
    sent: str | None = None
    """What went over the wire, where that is not `content`."""
    platform_message: str | None = None
    token_count: int | None = None
    is_observed: bool = False
    is_active: bool = True
    is_compacted: bool = False

    @property
    def is_rewound(self) -> bool:
        """Taken back by the user."""
        return not self.is_active and not self.is_compacted


class UsageRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `session_model_usage`, or what a session's own counters say."""

    model: str | None = None
    task: str = ""
    """Empty: the main loop."""
    tokens: dict[str, int] = {}
    calls: int | None = None
    cost_microusd: int | None = None
    provider: str | None = None
    url: str | None = None
    last: float | None = None
    meta: dict[str, Json] = {}


def session_row(row: dict[str, Json]) -> SessionRow | None:
    """The session of a row; None if it has no id."""
    found = word(row.get("id"))
    if found is None:
        return None
    config = dict_of(parsed(row.get("model_config")))
    return SessionRow(
        id=found,
        surface=word(row.get("source")),
        parent=word(row.get("parent_session_id")),
        branched_from=word(config.get("_branched_from")),
        delegate_from=word(config.get("_delegate_from")),
        started=number(row.get("started_at")),
        ended=number(row.get("ended_at")),
        end_reason=word(row.get("end_reason")),
        model=word(row.get("model")),
        title=word(row.get("title")),
        system_prompt=word(row.get("system_prompt")),
        cwd=word(row.get("cwd")) or word(config.get("cwd")),
        branch=word(row.get("git_branch")),
        repository=word(row.get("git_repo_root")),
        config={key: value for key, value in config.items() if key != "cwd" and value is not None},
        origin={key: row[key] for key in _ORIGIN if row.get(key) is not None},
        tokens=_numbers(row, _TOKENS),
        counts=_numbers(row, _COUNTS),
    )


def message_row(row: dict[str, Json], ordinal: int) -> MessageRow | None:
    """The message of a row; None if it belongs to no session or no one said it."""
    session, role = word(row.get("session_id")), word(row.get("role"))
    if session is None or role is None:
        return None
    key = int_of(row.get("id"))
    calls, why = _calls(row.get("tool_calls"))
    return MessageRow(
        id=f"m{key}" if key is not None else f"#{ordinal}",
        session=session,
        role=role,
        content=decoded(row.get("content")),
        calls=calls,
        bad_calls=why,
        call_id=word(row.get("tool_call_id")),
        tool=word(row.get("tool_name")),
        effect=word(row.get("effect_disposition")),
        time=number(row.get("timestamp")),
        finish_reason=word(row.get("finish_reason")),
        thinking=word(row.get("reasoning_content")) or word(row.get("reasoning")),
        hidden=tuple(name for name in _HIDDEN_REASONING if row.get(name) not in (None, "")),
        sent=word(row.get("api_content")),
        platform_message=word(row.get("platform_message_id")),
        token_count=int_of(row.get("token_count")),
        is_observed=row.get("observed") == 1,
        is_active=row.get("active", 1) != 0,
        is_compacted=row.get("compacted") == 1,
    )


def usage_row(row: dict[str, Json]) -> UsageRow:
    """The usage of a row. Where the actual cost is not known, the estimated one is taken."""
    actual, estimated = number(row.get("actual_cost_usd")), number(row.get("estimated_cost_usd"))
    meta = {"cost_status": row.get("cost_status"), "cost_source": row.get("cost_source")}
    return UsageRow(
        model=word(row.get("model")),
        task=word(row.get("task")) or "",
        tokens=_numbers(row, _TOKENS),
        calls=int_of(row.get("api_call_count")),
        cost_microusd=micros(actual or estimated),
        provider=word(row.get("billing_provider")),
        url=word(row.get("billing_base_url")),
        last=number(row.get("last_seen")),
        meta={key: value for key, value in meta.items() if text_of(value)},
    )


def uncounted(session: SessionRow, rows: list[UsageRow]) -> UsageRow | None:
    """What the session's counters hold beyond the main loop's rows: older schemas have the counters only."""
    main = [row.tokens for row in rows if not row.task]
    rest = {kind: count - sum(row.get(kind, 0) for row in main) for kind, count in session.tokens.items()}
    tokens = {kind: count for kind, count in rest.items() if count > 0}
    if tokens:
        return UsageRow(model=session.model, tokens=tokens, meta={"counter": "session"})
    return None


def decoded(value: Json) -> Json:
    """A content column: structured content is stored as a NUL, `json:` and the JSON text."""
    text = text_of(value)
    if text is None or not text.startswith(_STRUCTURED):
        return value
    try:
        return loads_text(text[len(_STRUCTURED) :]).value
    except BadJson:
        return value


def _calls(value: Json) -> tuple[Json, str | None]:
    if not isinstance(value, str) or not value:
        return None, None
    try:
        return loads_text(value).value, None
    except BadJson as error:
        return None, str(error)


def _numbers(row: dict[str, Any], names: Mapping[str, str]) -> dict[str, int]:
    found = {name: int_of(row.get(column)) for name, column in names.items()}
    return {name: value for name, value in found.items() if value}

"""What kinds of lines Claude Code writes, and what they say besides the conversation.

Owns the tables of line types, who wrote a prompt, and the members of system lines, attachments and model messages. Must
not know in what order steps are handed out.
"""

from __future__ import annotations

from tallystick.agents.claude_code.blocks import Parts
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import dict_of, int_of, list_of, text_of
from tallystick.agents.kit.spelling import names, words
from tallystick.model.request import ASKS
from tallystick.model.step import Json

BOOKKEEPING = frozenset(words("claude-code", "bookkeeping"))
"""Lines by which Claude Code keeps its own state; what they say of the conversation is in other lines too."""

TITLES = names("claude-code", "titles")
"""Lines that name a session, and the member that holds the name. They are written again whenever it is resumed."""

PULL_REQUESTS = names("claude-code", "pull_requests")
"""Lines that name a pull request that a session made or works on, and the member that holds its address."""

_ENVELOPE = frozenset(words("claude-code", "envelope"))

_BEGINNINGS = tuple(names("claude-code", "openings").items())
"""How prompts begin that no human typed, and where they come from."""

_QUEUED = tuple(names("claude-code", "queued").items())
"""How texts begin that waited in the queue, and no human typed."""

_ASKS = tuple(names("claude-code", "asks").items())
"""How requests begin that are of another kind than a prompt."""


def origin_of(line: dict[str, Json], text: str, *, in_child: bool) -> str | None:
    """Where a prompt comes from if no human gave it, None if one did."""
    if line.get("isCompactSummary") is True:
        return "summary"
    start = text[:120].lstrip()
    for beginning, origin in _BEGINNINGS:
        if start.startswith(beginning):
            return origin
    if line.get("repeatsCompactSummary") is True:
        return "summary"
    kind = text_of(dict_of(line.get("origin")).get("kind"))
    if line.get("isMeta") is True or line.get("isVisibleInTranscriptOnly") is True:
        return "injected"
    if kind not in (None, "human") or line.get("turnOrigin") in ("task_notification", "peer"):
        return "notification"
    if line.get("promptSource") == "system":
        return "injected"
    if in_child:
        return "parent"
    return None


def asks_of(text: str) -> str | None:
    """The kind of the request that a prompt is, None for one as it was typed and for what asks for nothing."""
    start = text[:120].lstrip()
    return next((kind for beginning, kind in _ASKS if start.startswith(beginning)), None)


def prompt_meta(line: dict[str, Json], origin: str | None, text: str) -> dict[str, Json]:
    """The members of a `user` step."""
    meta: dict[str, Json] = {
        "origin": origin,
        ASKS: None if origin == "summary" else asks_of(text),
        "run": text_of(line.get("promptId")),
        "permission_mode": text_of(line.get("permissionMode")),
        "prompt_source": text_of(line.get("promptSource")),
    }
    if text.startswith("[Request interrupted by user"):
        meta["interrupted"] = True
    return known(meta)


def queued_text_origin(text: str) -> str | None:
    """Where a text comes from that waited in the queue; None for a prompt that a human typed."""
    start = text[:120].lstrip()
    return next((origin for beginning, origin in (*_BEGINNINGS, *_QUEUED) if start.startswith(beginning)), None)


def queued_origin(attachment: dict[str, Json]) -> str | None:
    """Where a command comes from that was queued while the agent worked; None for a prompt that a human typed."""
    kind = dict_of(attachment.get("origin")).get("kind")
    if attachment.get("commandMode") in (None, "prompt") and kind in (None, "human") and not attachment.get("isMeta"):
        return None
    if attachment.get("commandMode") == "bash":
        return "command"
    return "notification"


def call_meta(line: dict[str, Json], message: dict[str, Json]) -> dict[str, Json] | None:
    """The members of a `model_call`, None if the line names neither a model nor what it used."""
    usage = message.get("usage")
    model = text_of(message.get("model"))
    if not isinstance(usage, dict) and model is None:
        return None
    used = dict_of(usage)
    written_for_1h = int_of(dict_of(used.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    asked = text_of(line.get("requestedModel"))
    meta: dict[str, Json] = {
        "model": model,
        "tokens": tokens_of(used) or None,
        "cache_write_1h_tokens": written_for_1h or None,
        "stop_reason": text_of(message.get("stop_reason")),
        "effort": text_of(line.get("effort")),
        "request_id": text_of(line.get("requestId")),
        "requested_model": asked if asked != model else None,
        "duration_ms": int_of(line.get("durationMs")),
    }
    cost = line.get("costUSD")
    if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e9:
        meta["cost_microusd"] = round(cost * 1_000_000)
    return known(meta)


def tokens_of(usage: dict[str, Json]) -> dict[str, int]:
    """The token counts that a message's usage says."""
    counts = (
        ("input", usage.get("input_tokens")),
        ("output", usage.get("output_tokens")),
        ("cache_read", usage.get("cache_read_input_tokens")),
        ("cache_write", usage.get("cache_creation_input_tokens")),
        ("reasoning", dict_of(usage.get("output_tokens_details")).get("thinking_tokens")),
    )
    return {name: count for name, said in counts if (count := int_of(said)) is not None}


def system_members(line: dict[str, Json]) -> tuple[str, dict[str, Json], dict[str, Json]]:
    """The type, members and values of a system line's step."""
    meta = {
        "subtype": text_of(line.get("subtype")),
        "level": text_of(line.get("level")),
        "duration_ms": int_of(line.get("durationMs")),
    }
    values: dict[str, Json] = {"content.text": text_of(line.get("content"))}
    is_error = meta["subtype"] == "api_error" or meta["level"] == "error"
    details = {key: value for key, value in line.items() if key not in _ENVELOPE and _says_something(value)}
    if is_error:
        values["content.error"] = details.pop("error", None)
    values["content.details"] = details or None
    return "warning" if is_error else "system", known(meta), known(values)


def pull_request(kind: str, url: str, line: dict[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """The members and values of a step that links a session with a pull request."""
    meta = {"subtype": kind, "number": int_of(line.get("prNumber"))}
    values: dict[str, Json] = {"content.pull_request": url, "content.repository": text_of(line.get("prRepository"))}
    return known(meta), known(values)


def _says_something(value: Json) -> bool:
    """Whether a member is worth a place: anything but null, no, and emptiness."""
    return bool(value) or (isinstance(value, int | float) and value is not False)


def compaction_members(line: dict[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """The members and values of a compaction."""
    said = dict_of(line.get("compactMetadata"))
    meta = {
        "trigger": text_of(said.get("trigger")),
        "tokens_before": int_of(said.get("preTokens")),
        "tokens_after": int_of(said.get("postTokens")),
        "duration_ms": int_of(said.get("durationMs")),
    }
    told = ("trigger", "preTokens", "postTokens", "durationMs")
    rest = {key: value for key, value in said.items() if key not in told}
    values = {"content.text": text_of(line.get("content")), "content.details": rest or None}
    return known(meta), known(values)


def _is_quoted(value: Json, text: str) -> bool:
    return isinstance(value, str) and value in text and (len(value) >= 24 or value == text)


def attachment_members(
    line: dict[str, Json], attachment: dict[str, Json], parts: Parts | None
) -> tuple[dict[str, Json], dict[str, Json]]:
    """The members and values of an attachment's step: what the model was shown, and what that was made of."""
    meta: dict[str, Json] = {"subtype": text_of(attachment.get("type")), "origin": "attachment"}
    shown = [text_of(dict_of(item).get("content")) for item in list_of(line.get("rendered"))]
    text = "\n\n".join(item for item in shown if item is not None)
    rest = {
        key: value
        for key, value in attachment.items()
        if key != "type" and _says_something(value) and not _is_quoted(value, text)
    }
    values = {"content.text": text or None, "content.attachment": rest or None}
    if parts is not None and rest:
        values["content.attachment"] = parts.out_of(rest)
    return known(meta), known(values)

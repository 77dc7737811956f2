"""What is said in Copilot CLI's log: prompts, instructions, answers, and the model calls behind them.

Owns where a prompt comes from, and usage. Must not know what tools, hooks and sub-agents do.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.copilot.session import Conversation, CopilotEvent
from tallystick.agents.copilot.tools import requested
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import dict_of, int_of, text_of
from tallystick.model.step import Event, Json, Loss


def user(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """A prompt, or what is in its place."""
    origin = _origin(line)
    if origin is None:
        talk.prompted(line)
    text, sent = line.data.get("content"), line.data.get("transformedContent")
    attached, raw = take_out(line.data.get("attachments") or None)
    values = {"content.text": text, "content.sent": None if sent == text else sent, "content.attachments": attached}
    meta = {"origin": origin, "run": line.text("interactionId")}
    step = talk.at(line, line.id).step("user", meta, values, raw)
    yield talk.trail.along(msgspec.structs.replace(step, opens_request=origin is None))


def _origin(line: CopilotEvent) -> str | None:
    source = line.text("source") or "user"
    if line.agent is not None:
        return "parent"
    if line.data.get("isAutopilotContinuation") is True:
        return "injected"
    if source == "user":
        return None
    return {"agent": "notification", "command": "command"}.get(source.partition("-")[0], "injected")


def system(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """Instructions for the model."""
    meta = {"role": line.text("role") or "system"}
    yield talk.trail.along(talk.at(line, line.id).step("system", meta, {"content.text": line.data.get("content")}))


def notification(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """News that the model is given while it works."""
    meta = {"origin": "notification", "subtype": text_of(dict_of(line.data.get("kind")).get("type"))}
    yield talk.trail.along(talk.at(line, line.id).step("user", meta, {"content.text": line.data.get("content")}))


def usage(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """What a model call used: told before the message it gave."""
    usage = dict_of(line.data.get("usage")) or line.data
    response = text_of(usage.get("apiCallId")) or line.id
    if talk.responses.get(response):
        yield Loss(kind="duplicate_event", detail=f"{line.type} {line.id}")
        return
    duration = usage.get("duration")
    meta = {
        "model": text_of(usage.get("model")),
        "tokens": _tokens(usage),
        "stop_reason": text_of(usage.get("finishReason")),
        "duration_ms": int(duration) if isinstance(duration, int | float) and 0 <= duration < 1e12 else None,
        "initiator": text_of(usage.get("initiator")),
    }
    yield from talk.model_call(line, response, meta)


def _tokens(usage: dict[str, Json]) -> dict[str, int]:
    """Copilot counts cached tokens as input, too; here `input` is what was neither read from nor written to a cache."""
    names = {
        "input": "inputTokens",
        "output": "outputTokens",
        "cache_read": "cacheReadTokens",
        "cache_write": "cacheWriteTokens",
        "reasoning": "reasoningTokens",
    }
    counts = {name: int_of(usage.get(member)) for name, member in names.items()}
    found = {name: count for name, count in counts.items() if count is not None and count >= 0}
    cached = found.get("cache_read", 0) + found.get("cache_write", 0)
    if found.get("input", 0) >= cached > 0:
        found["input"] -= cached
    return found


def assistant(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """An answer of the model. Its usage was reported before, by newer versions."""
    message = line.text("messageId") or line.id
    response = line.text("apiCallId") or message
    output = int_of(line.data.get("outputTokens"))
    if response not in talk.responses and (output is not None or line.text("model")):
        tokens = None
        if output is not None:
            tokens = {"output": output}
        yield from talk.model_call(line, response, {"model": line.text("model"), "tokens": tokens})
        talk.responses[response] = False
    if line.data.get("reasoningOpaque") or line.data.get("encryptedContent"):
        yield Loss(kind="encrypted_content", detail=line.id)
    yield from _blocks(talk, line, message)
    yield from requested(talk, line)


def _blocks(talk: Conversation, line: CopilotEvent, message: str) -> Iterator[Event]:
    thought = line.text("reasoningText")
    if thought and talk.thoughts.pop(talk.session(line), None) != thought:
        values = {"content.thinking": thought}
        yield talk.trail.along(talk.at(line, f"{message}/0").step("assistant", {}, values))
    if line.data.get("content"):
        values = {"content.text": line.data["content"]}
        step = talk.at(line, f"{message}/1").step("assistant", {"phase": line.text("phase")}, values)
        yield talk.trail.along(step)


def reasoning(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """Thinking that newer versions tell before the answer it belongs to."""
    thought = line.text("content")
    if thought is not None:
        talk.thoughts[talk.session(line)] = thought
    sid, values = line.text("reasoningId") or line.id, {"content.thinking": thought}
    yield talk.trail.along(talk.at(line, sid).step("assistant", {}, values))

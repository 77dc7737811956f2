"""Messages whose content is blocks as the Anthropic API has them, which many agents keep as they are.

Owns the types of blocks. Must not know where an agent keeps its messages.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.kit.conversation import Conversation
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.reading import dict_of, list_of
from tallystick.model.step import Event, Json, Loss, Step

_MEDIA = ("image", "image_url", "document", "file")


def events_of_blocks(
    talk: Conversation, source_id: str, role: Json, content: Json, *, ts: str | None = None
) -> Iterator[Event]:
    """The events of one message: text, or blocks of text, thinking, tool_use, tool_result and pictures."""
    if isinstance(content, str):
        blocks = [{"type": "text", "text": content}]
    else:
        blocks = list_of(content)
    if not blocks:
        yield Loss(kind="empty_message", detail=f"message {source_id}")
    is_first = True
    for place, item in enumerate(blocks):
        event = _event(talk, f"{source_id}/{place}", role, dict_of(item), ts)
        if isinstance(event, Step) and event.opens_request:
            event = msgspec.structs.replace(event, opens_request=is_first)  # one message is one request
            is_first = False
        yield event


def _event(talk: Conversation, source_id: str, role: Json, block: dict[str, Json], ts: str | None) -> Event:
    match block.get("type"):
        case "text":
            return talk.said(source_id, role, block.get("text"), ts=ts)
        case "thinking" | "redacted_thinking":
            return talk.thought(source_id, block.get("thinking"), ts=ts)
        case "tool_use":
            return talk.call(source_id, block.get("name"), block.get("input"), call_id=block.get("id"), ts=ts)
        case "tool_result":
            failed = block.get("is_error")
            success = None
            if isinstance(failed, bool):
                success = not failed
            call_id = block.get("tool_use_id")
            return talk.result(source_id, block.get("content"), call_id=call_id, success=success, ts=ts)
        case kind if kind in _MEDIA:
            return talk.attached(source_id, role, block, ts=ts)
        case kind:
            return unknown(kind, f"block {source_id}")

"""Messages whose content is blocks as the Anthropic API has them, which many agents keep as they are.

Owns the types of blocks. Must not know where an agent keeps its messages.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.kit.conversation import Conversation, Outcome
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import blocks_of, dict_of, opposite_of
from tallystick.model.step import Event, Json, Loss, Step

_MEDIA = ("image", "image_url", "document", "file")


def events_of_blocks(
    talk: Conversation, source_id: str, role: Json, content: Json, *, ts: str | None = None
) -> Iterator[Event]:
    """The events of one message: text, or blocks of text, thinking, tool_use, tool_result and pictures."""
    blocks = blocks_of(content)
    if not blocks:
        yield Loss(kind="empty_message", detail=f"message {source_id}")
    is_first = True
    for place, item in enumerate(blocks):
        event = _event(talk, talk.at(f"{source_id}/{place}", ts), role, dict_of(item))
        if isinstance(event, Step) and event.opens_request:
            event = msgspec.structs.replace(event, opens_request=is_first)  # one message is one request
            is_first = False
        yield event


def _event(talk: Conversation, at: Point, role: Json, block: dict[str, Json]) -> Event:
    match block.get("type"):
        case "text":
            return talk.said(at, role, block.get("text"))
        case "thinking" | "redacted_thinking":
            return talk.thought(at, block.get("thinking"))
        case "tool_use":
            return talk.call(at, block.get("name"), block.get("input"), call_id=block.get("id"))
        case "tool_result":
            outcome = Outcome(success=opposite_of(block.get("is_error")))
            return talk.result(at, block.get("content"), call_id=block.get("tool_use_id"), outcome=outcome)
        case kind if kind in _MEDIA:
            return talk.attached(at, role, block)
        case kind:
            return unknown(kind, f"block {at.source_id}")

"""Anthropic Messages: `POST /v1/messages`, with or without a stream of server-sent events.

Source: the vendor's API reference, "Messages" and "Streaming messages".
"""

from __future__ import annotations

import json

from tools.live.wire.neutral import Answer, Event, Json, Request, Tool, fresh, pieces, text_of

CALL_ID = "toolu_"


def parse(body: Json, path: str) -> Request:
    """The request in neutral form."""
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    request = Request(
        model=body.get("model", "fake-model"),
        stream=bool(body.get("stream")),
        system=text_of(body.get("system")),
        schema=wanted.get("schema"),
    )
    for tool in body.get("tools") or []:
        properties = (tool.get("input_schema") or {}).get("properties") or {}
        builtin = None if "input_schema" in tool else tool.get("type")
        name, description = tool.get("name", "?"), tool.get("description") or ""
        request.offer(Tool(name=name, description=description, properties=properties, builtin=builtin))
    for message in body.get("messages", []):
        _say(request, message)
    return request


def _say(request: Request, message: Json) -> None:
    content = message["content"]
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    kinds = [block.get("type") for block in blocks]
    role = "tool" if "tool_result" in kinds else message["role"]
    request.say(role, text_of([b for b in blocks if b.get("type") == "text"]), kinds.count("tool_use"))


def build(request: Request, answer: Answer) -> tuple[list[Event], Json]:
    """The answer as a stream and as one body."""
    blocks = _blocks(answer)
    usage = {
        "input_tokens": answer.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.cached_tokens,
        "output_tokens": answer.output_tokens,
        "service_tier": "standard",
    }
    stop = "tool_use" if answer.calls else "end_turn"
    whole = {
        "id": fresh("msg_"),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }
    begun = whole | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    events: list[Json] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(blocks):
        events += _block_events(index, block)
    ending = {"stop_reason": stop, "stop_sequence": None}
    events += [{"type": "message_delta", "delta": ending, "usage": usage}, {"type": "message_stop"}]
    return [(event["type"], event) for event in events], whole


def _blocks(answer: Answer) -> list[Json]:
    blocks: list[Json] = []
    if answer.thinking:
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": "ZmFrZQ=="})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    return blocks + [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.input} for c in answer.calls]


def _block_events(index: int, block: Json) -> list[Json]:
    match block["type"]:
        case "text":
            start = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        case "thinking":
            start = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case _:
            start = block | {"input": {}}
            parts = pieces(json.dumps(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in parts]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]

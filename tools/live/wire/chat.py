"""OpenAI chat completions: `POST /v1/chat/completions`, with or without a stream.

Source: the vendor's API reference, "Chat" and "Streaming".
"""

from __future__ import annotations

import json
import time

from tools.live.wire.neutral import Answer, Event, Json, Request, Tool, fresh, pieces, text_of

CALL_ID = "call_"


def parse(body: Json, path: str) -> Request:
    """The request in neutral form."""
    wanted = (body.get("response_format") or {}).get("json_schema") or {}
    model, stream = body.get("model", "fake-model"), bool(body.get("stream"))
    request = Request(model=model, stream=stream, schema=wanted.get("schema"))
    for tool in body.get("tools") or []:
        function = tool.get("function") or {}
        properties = (function.get("parameters") or {}).get("properties") or {}
        description = function.get("description") or ""
        request.offer(Tool(name=function.get("name", "?"), description=description, properties=properties))
    for message in body.get("messages", []):
        text = text_of(message.get("content"))
        if message["role"] in ("system", "developer"):
            request.system += text + "\n"
        else:
            request.say(message["role"], text, len(message.get("tool_calls") or []))
    return request


def build(request: Request, answer: Answer) -> tuple[list[Event], Json]:
    """The answer as a stream and as one body."""
    head = {"id": fresh("chatcmpl-"), "created": int(time.time()), "model": request.model}
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.input)}}
        for c in answer.calls
    ]
    finish, usage = "tool_calls" if calls else "stop", _usage(answer)

    def chunk(delta: Json, finish_reason: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return None, head | {"object": "chat.completion.chunk", "choices": [choice]}

    events = [chunk({"role": "assistant", "content": ""})]
    if answer.thinking:
        events += [chunk({"reasoning_content": piece}) for piece in pieces(answer.thinking)]
    if answer.text:
        events += [chunk({"content": piece}) for piece in pieces(answer.text)]
    events += [chunk({"tool_calls": [delta]}) for index, call in enumerate(calls) for delta in _deltas(index, call)]
    last = head | {"object": "chat.completion.chunk", "choices": [], "usage": usage}
    events += [chunk({}, finish), (None, last), (None, "[DONE]")]
    message = {"role": "assistant", "content": answer.text or None} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return events, head | {"object": "chat.completion", "usage": usage, "choices": [choice]}


def _deltas(index: int, call: Json) -> list[Json]:
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    opening = {"index": index, "id": call["id"], "type": "function", "function": {"name": name, "arguments": ""}}
    return [opening, *({"index": index, "function": {"arguments": piece}} for piece in pieces(arguments))]


def _usage(answer: Answer) -> Json:
    given = answer.input_tokens + answer.cached_tokens
    return {
        "prompt_tokens": given,
        "completion_tokens": answer.output_tokens,
        "total_tokens": given + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }

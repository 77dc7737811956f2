"""Gemini: `POST …/models/M:generateContent` and `:streamGenerateContent`.

Source: the vendor's API reference, "Generating content".
"""

from __future__ import annotations

import re

from tools.live.wire.neutral import Answer, Event, Json, Request, Tool, fresh, text_of

CALL_ID = "fc-"


def parse(body: Json, path: str) -> Request:
    """The request in neutral form; model and streaming stand in the path."""
    config = body.get("generationConfig") or {}
    request = Request(
        model=re.sub(r".*models/|:.*", "", path),
        stream="stream" in path.lower(),
        system=text_of(body.get("systemInstruction") or body.get("system_instruction")),
        schema=config.get("responseJsonSchema") or config.get("responseSchema"),
    )
    for group in body.get("tools") or []:
        for function in group.get("functionDeclarations") or []:
            schema = function.get("parametersJsonSchema") or function.get("parameters") or {}
            request.offer(Tool(name=function.get("name", "?"), properties=schema.get("properties") or {}))
    for message in body.get("contents", []):
        _say(request, message)
    return request


def _say(request: Request, message: Json) -> None:
    parts = message.get("parts") or []
    if message.get("role") == "model":
        role = "assistant"
    else:
        role = "tool" if any("functionResponse" in part for part in parts) else "user"
    request.say(role, text_of(parts), sum("functionCall" in part for part in parts))


def build(request: Request, answer: Answer) -> tuple[list[Event], Json]:
    """The answer as a stream, a part an event, and as one body."""
    parts: list[Json] = [{"text": answer.thinking, "thought": True}] if answer.thinking else []
    parts += [{"text": answer.text}] if answer.text else []
    parts += [{"functionCall": {"id": c.id, "name": c.name, "args": c.input}} for c in answer.calls]
    given = answer.input_tokens + answer.cached_tokens
    usage = {
        "promptTokenCount": given,
        "candidatesTokenCount": answer.output_tokens,
        "cachedContentTokenCount": answer.cached_tokens,
        "thoughtsTokenCount": 0,
        "totalTokenCount": given + answer.output_tokens,
    }

    def body(some: list[Json], *, last: bool) -> Json:
        candidate = {"index": 0, "content": {"role": "model", "parts": some}}
        candidate |= {"finishReason": "STOP"} if last else {}
        return {
            "candidates": [candidate],
            "usageMetadata": usage,
            "modelVersion": request.model,
            "responseId": fresh(""),
        }

    last = len(parts) - 1
    return [(None, body([part], last=n == last)) for n, part in enumerate(parts)], body(parts, last=True)

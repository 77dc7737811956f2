"""OpenAI Responses: `POST /v1/responses`, with or without a stream.

Knows what Codex makes of it besides: tools in namespaces, tools that travel as an item of the input, freeform tools
(`apply_patch`, and `exec` of its code mode) and the vendor's own `local_shell`.
Source: the vendor's API reference, "Responses" and "Streaming", and what Codex 0.169 sends.
"""

from __future__ import annotations

import json
import time

from tools.live.wire.neutral import Answer, Called, Event, Json, Request, Tool, fresh, pieces, text_of

CALL_ID = "call_"


def parse(body: Json, path: str) -> Request:
    """The request in neutral form."""
    request = Request(
        model=body.get("model", "fake-model"),
        stream=bool(body.get("stream")),
        system=body.get("instructions") or "",
        schema=((body.get("text") or {}).get("format") or {}).get("schema"),
    )
    for tool in body.get("tools") or []:
        _offer(request, tool)
    items = body.get("input") or []
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        _take(request, item)
    return request


def _offer(request: Request, tool: Json, namespace: str | None = None) -> None:
    if tool.get("type") == "namespace":
        for inner in tool.get("tools", []):
            _offer(request, inner, tool.get("name"))
        return
    request.offer(
        Tool(
            name=tool.get("name") or tool.get("type", "?"),
            properties=(tool.get("parameters") or {}).get("properties") or {},
            freeform=tool.get("type") == "custom",
            builtin=None if tool.get("name") else tool.get("type"),
            namespace=namespace,
        )
    )


def _take(request: Request, item: Json) -> None:
    kind, role = item.get("type", "message"), item.get("role", "user")
    if kind == "additional_tools":
        for tool in item.get("tools") or []:
            _offer(request, tool)
    elif kind == "message" and role in ("system", "developer"):
        request.system += "\n" + text_of(item.get("content"))
    elif kind == "message":
        request.say(role, text_of(item.get("content")))
    elif kind == "agent_message":  # what one agent of Codex tells another
        request.say("user", text_of(item.get("content")))
    elif kind.endswith("_call"):
        request.say("assistant", calls=1)
    elif kind.endswith("_output"):
        request.say("tool", text_of(item.get("output")))


def build(request: Request, answer: Answer) -> tuple[list[Event], Json]:
    """The answer as a stream and as one body."""
    items = _items(answer)
    whole = {
        "id": fresh("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": request.model,
        "output": items,
        "usage": _usage(answer),
        "error": None,
        "incomplete_details": None,
    }
    begun = whole | {"status": "in_progress", "output": [], "usage": None}
    events: list[tuple[str, Json]] = [
        ("response.created", {"response": begun}),
        ("response.in_progress", {"response": begun}),
    ]
    for index, item in enumerate(items):
        events += _item_events(index, item)
    events.append(("response.completed", {"response": whole}))
    return [(name, {"type": name, "sequence_number": n} | data) for n, (name, data) in enumerate(events)], whole


def _items(answer: Answer) -> list[Json]:
    items: list[Json] = []
    if answer.thinking:
        summary = [{"type": "summary_text", "text": answer.thinking}]
        items.append({"type": "reasoning", "id": fresh("rs_"), "summary": summary})
    if answer.text:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        items.append({"type": "message", "id": fresh("msg_"), "role": "assistant", "content": content})
    return [item | {"status": "completed"} for item in items + [_call_item(call) for call in answer.calls]]


def _call_item(call: Called) -> Json:
    if call.tool.freeform or isinstance(call.input, str):
        item = {"type": "custom_tool_call", "id": fresh("ctc_"), "name": call.name, "input": call.input}
    elif call.tool.builtin == "local_shell":
        action = {"type": "exec", "env": {}} | call.input
        item = {"type": "local_shell_call", "id": fresh("lsh_"), "action": action}
    else:
        item = {"type": "function_call", "id": fresh("fc_"), "name": call.name, "arguments": json.dumps(call.input)}
    if call.tool.namespace and "name" in item:
        item["namespace"] = call.tool.namespace
    return item | {"call_id": call.id}


def _item_events(index: int, item: Json) -> list[tuple[str, Json]]:
    place = {"output_index": index, "item_id": item["id"]}
    match item["type"]:
        case "message":
            opened: Json = {"content": []}
            inner = _message_events(place, item["content"][0])
        case "function_call":
            opened = {"arguments": ""}
            inner = _text_events("function_call_arguments", "arguments", place, item["arguments"])
        case "custom_tool_call":
            opened, inner = {}, _text_events("custom_tool_call_input", "input", place, item["input"])
        case _:
            opened, inner = {}, []
    begun = item | opened | {"status": "in_progress"}
    return [
        ("response.output_item.added", {"output_index": index, "item": begun}),
        *inner,
        ("response.output_item.done", {"output_index": index, "item": item}),
    ]


def _message_events(place: Json, part: Json) -> list[tuple[str, Json]]:
    place = place | {"content_index": 0}
    return [
        ("response.content_part.added", place | {"part": part | {"text": ""}}),
        *_text_events("output_text", "text", place, part["text"]),
        ("response.content_part.done", place | {"part": part}),
    ]


def _text_events(name: str, member: str, place: Json, text: str) -> list[tuple[str, Json]]:
    deltas = [(f"response.{name}.delta", place | {"delta": piece}) for piece in pieces(text)]
    return [*deltas, (f"response.{name}.done", place | {member: text})]


def _usage(answer: Answer) -> Json:
    given = answer.input_tokens + answer.cached_tokens
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": answer.cached_tokens},
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + answer.output_tokens,
    }

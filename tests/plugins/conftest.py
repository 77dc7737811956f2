"""A model server on loopback that says what a test has it say, in the wire formats of the two client libraries."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

Body = dict[str, Any]


class Turn(msgspec.Struct, kw_only=True):
    """What the model answers to one request, whatever the format it is asked in."""

    text: str = ""
    thinking: str = ""
    calls: tuple[tuple[str, str, Body], ...] = ()
    """(call id, tool, arguments) of each."""
    status: int = 200
    cut: bool = False
    """The connection breaks off in the middle of a stream."""


class ModelServer:
    """The server: `turns` are taken one a request; `requests` holds (path, headers, body) of those that came."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.requests: list[tuple[str, dict[str, str], Body]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append((self.path, dict(self.headers), body))
                outer.answer(self, body)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    def say(self, *turns: Turn) -> None:
        self.turns += turns

    def answer(self, handler: BaseHTTPRequestHandler, body: Body) -> None:
        number = len(self.requests)
        path = handler.path.partition("?")[0]
        make = {"/chat/completions": _chat, "/responses": _response, "/v1/messages": _message}.get(path)
        if make is None:
            return self.send(handler, 404, [b"{}"], "json")
        turn = self.turns.pop(0)
        if turn.status != 200:
            key = handler.headers.get("authorization") or handler.headers.get("x-api-key") or ""
            error = {"message": f"no such key: {key}", "type": "authentication_error"}
            return self.send(handler, turn.status, [json.dumps({"type": "error", "error": error}).encode()], "json")
        whole, events = make(turn, f"id{number}")
        if not body.get("stream"):
            return self.send(handler, 200, [json.dumps(whole).encode()], "json")
        lines = [_event(event) for event in events]
        if path == "/chat/completions":
            lines.append(b"data: [DONE]\n\n")
        return self.send(handler, 200, lines[: len(lines) // 2] if turn.cut else lines, "event-stream", cut=turn.cut)

    def send(
        self, handler: BaseHTTPRequestHandler, status: int, parts: list[bytes], kind: str, *, cut: bool = False
    ) -> None:
        handler.send_response(status)
        handler.send_header("content-type", "application/json" if kind == "json" else "text/event-stream")
        handler.send_header("content-length", str(sum(map(len, parts)) + (1000 if cut else 0)))
        handler.end_headers()
        handler.close_connection = True
        with contextlib.suppress(ConnectionError):  # some tests stop reading
            for part in parts:
                handler.wfile.write(part)
                handler.wfile.flush()

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def _event(event: Body) -> bytes:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def _pieces(text: str) -> list[str]:
    return [text[at : at + 4] for at in range(0, len(text), 4)]


def _chat(turn: Turn, name: str) -> tuple[Body, list[Body]]:
    calls = [
        {"id": call, "type": "function", "function": {"name": tool, "arguments": json.dumps(args)}}
        for call, tool, args in turn.calls
    ]
    reason = "tool_calls" if calls else "stop"
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    head = {"id": name, "object": "chat.completion", "created": 1, "model": "gpt-test-1"}
    message = {"role": "assistant", "content": turn.text or None, "tool_calls": calls or None}
    whole = {**head, "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}
    deltas: list[Body] = [{"role": "assistant"}, *({"content": piece} for piece in _pieces(turn.text))]
    for index, call in enumerate(calls):
        function: Body = call["function"]  # type: ignore[assignment]
        deltas.append({"tool_calls": [{"index": index, **call, "function": {**function, "arguments": ""}}]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in _pieces(function["arguments"])
        ]
    head["object"] = "chat.completion.chunk"
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    return whole, [*chunks, {**head, "choices": [], "usage": usage}]


def _response(turn: Turn, name: str) -> tuple[Body, list[Body]]:
    output: list[Body] = []
    part = {"type": "output_text", "text": turn.text, "annotations": []}
    if turn.thinking:
        summary = [{"type": "summary_text", "text": turn.thinking}]
        output.append({"type": "reasoning", "id": f"rs_{name}", "summary": summary})
    if turn.text:
        item = {"type": "message", "id": f"msg_{name}", "role": "assistant", "status": "completed", "content": [part]}
        output.append(item)
    for call, tool, args in turn.calls:
        item = {"type": "function_call", "id": f"fc_{call}", "call_id": call, "name": tool, "status": "completed"}
        output.append({**item, "arguments": json.dumps(args)})
    whole: Body = {
        "id": name,
        "object": "response",
        "created_at": 1,
        "model": "gpt-test-1",
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": 120,
        },
    }
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[Body] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(output):
        place = {"output_index": index, "item_id": item["id"]}
        events.append({"type": "response.output_item.added", "output_index": index, "item": {**item, "content": []}})
        if item["type"] == "message":
            events.append(
                {"type": "response.content_part.added", **place, "content_index": 0, "part": {**part, "text": ""}}
            )
            events += [
                {"type": "response.output_text.delta", **place, "content_index": 0, "delta": piece, "logprobs": []}
                for piece in _pieces(turn.text)
            ]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return whole, [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _message(turn: Turn, name: str) -> tuple[Body, list[Body]]:
    content: list[Body] = []
    if turn.thinking:
        content.append({"type": "thinking", "thinking": turn.thinking, "signature": "c2ln"})
    if turn.text:
        content.append({"type": "text", "text": turn.text})
    content += [{"type": "tool_use", "id": call, "name": tool, "input": args} for call, tool, args in turn.calls]
    usage = {"input_tokens": 30, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10, "output_tokens": 20}
    stop = "tool_use" if turn.calls else "end_turn"
    head: Body = {"id": name, "type": "message", "role": "assistant", "model": "claude-test-1", "stop_sequence": None}
    whole = {**head, "content": content, "stop_reason": stop, "usage": usage}
    begun = {**head, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[Body] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(content):
        events += _block_events(index, block)
    delta = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}})
    return whole, [*events, {"type": "message_stop"}]


def _block_events(index: int, block: Body) -> list[Body]:
    kind = block["type"]
    starts: dict[str, Body] = {
        "tool_use": {"input": {}},
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
    }
    start = starts[kind]
    text = {"tool_use": json.dumps(block.get("input")), "text": block.get("text"), "thinking": block.get("thinking")}
    name = {"tool_use": "partial_json", "text": "text", "thinking": "thinking"}[kind]
    delta = {"tool_use": "input_json_delta", "text": "text_delta", "thinking": "thinking_delta"}[kind]
    return [
        {"type": "content_block_start", "index": index, "content_block": {**block, **start}},
        *(
            {"type": "content_block_delta", "index": index, "delta": {"type": delta, name: piece}}
            for piece in _pieces(str(text[kind]))
        ),
        {"type": "content_block_stop", "index": index},
    ]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModelServer]:
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))  # else each client loads all authorities of the machine
    server = ModelServer()
    yield server
    server.close()

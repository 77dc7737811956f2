"""A scripted model server: it answers four vendors' APIs on loopback, so that real agents run without a network.

Owns HTTP and the log of what was asked and answered. What is answered is `script`'s, which tool that takes is
`offered`'s, and how the bytes look is `wire`'s. Any other POST (telemetry, an HTTP hook) is logged and answered with {}.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from tools.live import offered
from tools.live.script import Picked, Script, pick
from tools.live.wire import anthropic, chat, gemini, responses
from tools.live.wire.neutral import Answer, Called, Event, Json, Request, fresh

APIS: tuple[tuple[str, str, ModuleType], ...] = (
    (r"/messages$", "anthropic", anthropic),
    (r"/chat/completions$", "openai-chat", chat),
    (r"/responses$", "openai-responses", responses),
    (r":(generateContent|streamGenerateContent)$", "gemini", gemini),
)


class FakeModel:
    """The server. Use it as a context manager; `port` is where it listens."""

    def __init__(self, script: Script, log: Path, *, think: Callable[[], None] = lambda: None) -> None:
        """Listen on a free port of loopback; a line of JSON for each request is appended to `log`.

        Args: think: what passes before the model's first turn. No real one answers at once.
        """
        self.script = script
        self.think = think
        self._log = log.open("a", encoding="utf-8")
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> FakeModel:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._log.close()

    def note(self, **line: Json) -> None:
        """Append a line to the log."""
        with self._lock:
            self._log.write(json.dumps(line) + "\n")
            self._log.flush()

    def answer(self, request: Request, call_id: str) -> tuple[Picked, Answer]:
        """What the script says to a request; acts for which no tool is offered are left out."""
        picked = pick(self.script, request, lambda act: offered.choose(act, request) is not None)
        chosen = [found for act in picked.turn.acts if (found := offered.choose(act, request)) is not None]
        calls = tuple(Called(id=fresh(call_id), name=tool.name, input=value, tool=tool) for tool, value in chosen)
        text = picked.turn.text or ("" if calls else "Nothing to do.")
        return picked, Answer(text=text, thinking=picked.turn.thinking, calls=calls)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    model: FakeModel

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is nothing to speak of: it was interrupted."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing on stderr: the log has it."""

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.server.model.note(kind="get", path=path)
        if re.search(r"/models(/|$)", path):
            model = {"id": "fake-model", "object": "model", "type": "model", "display_name": "fake", "created": 0}
            self._reply(200, {"object": "list", "has_more": False, "models": [], "data": [model]})
        else:
            self._reply(200 if path == "/" else 404, {})

    do_HEAD = do_GET  # noqa: N815 - http.server's names

    def do_POST(self) -> None:
        path, body = urlsplit(self.path).path, self._body()
        if path.endswith(("/count_tokens", ":countTokens")):
            return self._reply(200, {"input_tokens": 100, "totalTokens": 100})
        for pattern, name, wire in APIS:
            if re.search(pattern, path):
                return self._model(name, wire, body)
        self.server.model.note(kind="other", path=path)
        return self._reply(200, {})

    do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815

    def _body(self) -> Json:
        if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
            data = b"".join(iter(self._chunk, b""))
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        try:
            return json.loads(data or b"{}")
        except ValueError:
            return {}

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0] or b"0", 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _model(self, name: str, wire: ModuleType, body: Json) -> None:
        request: Request = wire.parse(body, self.path)
        picked, answer = self.server.model.answer(request, wire.CALL_ID)
        calls = [{"id": call.id, "tool": call.name, "input": call.input} for call in answer.calls]
        self.server.model.note(
            kind="model",
            api=name,
            whose=picked.whose,
            turn=picked.number,
            calls=calls,
            tools={tool.name: sorted(tool.properties) for tool in request.tools.values()},
            said=[[m.role, m.text[-2000:], m.calls] for m in request.messages[-3:]],
        )
        if picked.whose == "main" and picked.number == 0:
            self.server.model.think()
        events, whole = wire.build(request, answer)
        if not request.stream:
            self._reply(200, whole)
        elif name == "gemini" and "alt=sse" not in self.path:
            self._reply(200, [whole])
        else:
            self._stream(events)

    def _reply(self, status: int, value: Json) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("request-id", fresh("req_"))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: list[Event]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("request-id", fresh("req_"))
        self.end_headers()
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            chunk = ((f"event: {name}\n" if name else "") + f"data: {text}\n\n").encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

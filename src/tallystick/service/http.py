"""The recorder on a loopback port: HTTP hooks, OTLP, health and metrics.

Owns the routes, and the port and token that agents' settings hold: both stay the same from one start to the next. The
protocol and its guards are `capture.http`'s.

    POST /hook/AGENT[/EVENT]      the body is what a command hook has on stdin; the answer's body what it would print
    POST /v1/logs|traces|metrics  OTLP (see `tally otlp`)
    GET  /healthz                 200 while deliveries are taken and recorded
    GET  /metrics                 counts, in the text format of Prometheus 0.0.4
    GET  /status                  the same as `tally service status --json`
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from tallystick.agents.hooks import Reply
from tallystick.capture.http import Listener, Request, Response, serve
from tallystick.capture.loopback import Loopback, read_loopback
from tallystick.capture.place import Place
from tallystick.errors import SourceError
from tallystick.journal.durable import replace_file
from tallystick.live.delivery import Delivery
from tallystick.recording.session_writer import SessionWriter
from tallystick.service.wire import moment

_HOST = "127.0.0.1"
_MONITOR = "x-tally-session"
"""The header that says under which session of `tally run` the agent works."""
_JSON = {"content-type": "application/json"}
_TEXT = {"content-type": "text/plain; version=0.0.4; charset=utf-8"}


class Served(msgspec.Struct, frozen=True):
    """What of the recorder the port's routes reach."""

    status: Callable[[], dict[str, Any]]
    take: Callable[[Delivery], Awaitable[Reply | None]]
    used: Callable[[], None]
    session_writer: SessionWriter


async def listen(place: Place, served: Served) -> Listener:
    """Open the port that was open before, or another one if it is taken, and write down which.

    Raises:
        SourceError: there is no port to be had. JournalError: it cannot be written down.
    """
    known = read_loopback(place) or Loopback(0, secrets.token_urlsafe(24))
    routes = _Routes(served)
    try:
        listener = await serve(_HOST, known.port, routes.answer, token=known.token)
    except SourceError:
        listener = await serve(_HOST, 0, routes.answer, token=known.token)
    replace_file(place.http, [Loopback(listener.port, known.token).encode()])
    return listener


class _Routes:
    def __init__(self, served: Served) -> None:
        self._served = served
        self._number = 0

    async def answer(self, request: Request) -> Response:
        """The response to one request that has passed the guards."""
        words = request.path.strip("/").split("/")
        if request.method == "POST" and words[0] == "hook" and len(words) in (2, 3):
            return await self._hook(words[1], words[2] if len(words) == 3 else None, request)
        if request.method == "POST" and words[0] == "v1":
            return await asyncio.to_thread(self._otlp, request)  # megabytes of it keep no hook waiting
        if request.method in ("GET", "HEAD") and request.path in _PAGES:
            return _PAGES[request.path](self._served.status())
        return Response(status=404, body=b"no such page\n")

    async def _hook(self, agent: str, event: str | None, request: Request) -> Response:
        self._number += 1
        now = time.time_ns()
        delivery = Delivery(
            agent=agent,
            event=event,
            data=request.body,
            id=f"h{now}.{self._number}",
            received=moment(now),
            monitor=_monitor(request),
        )
        reply = await self._served.take(delivery)
        if reply is None:
            return Response(status=500, body=b"this could not be decided: run/recorder.log has why\n")
        return Response(headers=_JSON, body=reply.stdout)

    def _otlp(self, request: Request) -> Response:
        from tallystick.ingest.otlp import receiver_of

        kind, encoding = request.headers.get("content-type", ""), request.headers.get("content-encoding", "")
        self._served.used()
        answer = receiver_of(self._served.session_writer).take(request.path, kind, encoding, request.body)
        return Response(status=answer.status, headers={"content-type": answer.content_type}, body=answer.body)


def _monitor(request: Request) -> str | None:
    """The session of `tally run`; None without one, and where the agent left the variable's name unchanged."""
    named = request.headers.get(_MONITOR, "").strip()
    if named and not named.startswith("$"):
        return named
    return None


def _health(status: dict[str, Any]) -> Response:
    well = status["unrecorded"] == 0
    said = {"ok": well, "pid": status["pid"], "version": status["version"], "last_error": status["last_error"]}
    return Response(status=200 if well else 503, headers=_JSON, body=json.dumps(said).encode())


def _status(status: dict[str, Any]) -> Response:
    return Response(headers=_JSON, body=json.dumps(status).encode())


def _metrics(status: dict[str, Any]) -> Response:
    lines = []
    for name in ("deliveries", "repeated", "refused", "spooled", "lost"):
        lines += [f"# TYPE tallystick_{name}_total counter", f"tallystick_{name}_total {status[name]}"]
    lines.append("# TYPE tallystick_decisions_total counter")
    lines += [f'tallystick_decisions_total{{effect="{name}"}} {count}' for name, count in status["decisions"].items()]
    lines.append("# TYPE tallystick_answer_seconds gauge")
    for name, value in status["answer_ms"].items():
        if value is not None:
            lines.append(f'tallystick_answer_seconds{{quantile="{name}"}} {value / 1000}')
    for name in ("open_connections", "waiting_bytes"):
        lines += [f"# TYPE tallystick_{name} gauge", f"tallystick_{name} {status[name]}"]
    return Response(headers=_TEXT, body="".join(f"{line}\n" for line in lines).encode())


_PAGES = {"/healthz": _health, "/status": _status, "/metrics": _metrics}

"""The Model Context Protocol as events: what an agent and a server say to each other on stdio (JSON-RPC lines).

Owns the pairing of requests and answers of both sides, and which message becomes which step. Must not know how lines travel.
Source: Model Context Protocol 2025-11-25 and 2026-07-28, which has no `initialize`: "Base protocol", "Server features",
"Client features"; what version 2.3 of its Python package sends.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import BadJson, batch_of, dict_of, list_of, loads, text_of
from tallystick.agents.protocols._mcp_steps import BETWEEN_MACHINES, Request, Voice
from tallystick.model.moments import epoch_time
from tallystick.model.step import Event, Json, Loss, Opening, Ref, SessionKind, Source

AGENT = "mcp"
"""The agent of sessions with MCP servers."""
_RUN = "run"
_MOST_PENDING = 10_000
_MOST_TEXT = 4096
_QUIET = frozenset(("ping", "notifications/initialized", "notifications/progress", "completion/complete"))
"""Messages that say nothing of what was done."""
_HELLO = frozenset(("initialize", "server/discover"))
_ABOUT = "io.modelcontextprotocol/"
"""What the members of `_meta` begin with that stand for `initialize` since 2026-07-28."""


class Side(enum.StrEnum):
    """Who said it."""

    CLIENT = "client"
    SERVER = "server"

    @property
    def other(self) -> Side:
        """The one it was said to."""
        if self is Side.CLIENT:
            return Side.SERVER
        return Side.CLIENT


class Mcp:
    """A conversation of a client with one server. Feed it every line, in the order in which they were read."""

    def __init__(self, session: str, fallback: str, *, name: str | None = None, within: str | None = None) -> None:
        """A conversation that begins.

        Args:
            session: what it is called in the record. fallback: what the server is called if it does not say: its command.
            name: what it is called whatever it says. within: the session of `tally run` in which it happens.
        """
        self.voice = Voice(session, name or fallback)
        self._named = name is not None
        self._within = within
        self._opened = False
        self._pending: dict[tuple[Side, str], Request] = {}
        self._used: dict[str, int] = {}
        self._lists: dict[str, Json] = {}

    # Lines --------------------------------------------------------------------------------------------------------------

    def take(self, side: Side, line: bytes, at_ns: int) -> Iterator[Event]:
        """The events in one line of `side`, read at `at_ns` (ns since 1970)."""
        if not line.strip():
            return
        try:
            value = loads(line.strip()).value
        except BadJson as error:
            yield from self._noted({"subtype": "not_json", "error": str(error)}, side, line, at_ns)
            return
        for message in batch_of(value):
            if isinstance(message, dict):
                yield from self._message(side, message, at_ns)
            else:
                yield Loss(kind="no_message", detail=f"from the {side}")

    def cut(self, side: Side, head: bytes, size: int, at_ns: int) -> Iterator[Event]:
        """A line too long to be read whole: its first bytes, and its size."""
        yield from self._noted({"subtype": "line_too_long", "bytes": size}, side, head, at_ns)

    def missed(self, count: int, at_ns: int) -> Iterator[Event]:
        """So many lines were not seen."""
        yield from self._open({}, at_ns)
        yield self.voice.step("gap", self.voice.at(at_ns), {"lines": count, "reason": "queue_full"})

    def end(self, at_ns: int, *, returncode: int) -> Iterator[Event]:
        """The server has exited."""
        if not self._opened:
            return
        ended: dict[str, Json]
        if returncode >= 0:
            ended = {"exit_code": returncode}
        else:
            ended = {"signal": -returncode}
        unanswered = len(self._pending) or None
        yield self.voice.step(
            "session_end", self.voice.at(at_ns), {"reason": "exit", "unanswered": unanswered, **ended}
        )

    def _noted(self, about: Mapping[str, Json], side: Side, data: bytes, at_ns: int) -> Iterator[Event]:
        """What could not be understood: its bytes, and `about` it why."""
        yield from self._open({}, at_ns)
        meta = {key: value for key, value in about.items() if key != "error"}
        values = {"content.text": data[:_MOST_TEXT].decode("utf-8", "replace"), "content.error": about.get("error")}
        yield self.voice.step("warning", self.voice.at(at_ns), {**meta, "from": side.value}, values)

    def _message(self, side: Side, message: dict[str, Json], at_ns: int) -> Iterator[Event]:
        method, asked = text_of(message.get("method")), message.get("id")
        params = dict_of(message.get("params"))
        if method is None:
            yield from self._response(side, message, at_ns)
        elif asked is None:
            yield from self._notification(side, method, params, at_ns)
        else:
            request = Request(id=self._name(side, asked), method=method, params=params, began_ns=at_ns)
            yield from self._request(side, asked, request)

    # Sessions -------------------------------------------------------------------------------------------------------------

    def _open(self, params: Mapping[str, Json], at_ns: int) -> Iterator[Event]:
        """The session begins with the first message that is worth a step."""
        if self._opened:
            return
        self._opened = True
        client = dict_of(params.get("clientInfo", dict_of(params.get("_meta")).get(f"{_ABOUT}clientInfo")))
        members = {
            "client": text_of(client.get("name")),
            "client_version": text_of(client.get("version")),
            "server": self.voice.slug,
        }
        kind, parent = SessionKind.ROOT, None
        if self._within is not None:
            kind, parent = SessionKind.CHILD, Ref(session=self._within, agent=_RUN)
        yield Opening(
            session=self.voice.session,
            agent=AGENT,
            kind=kind,
            parent=parent,
            source=Source.WATCH,
            ts=epoch_time(at_ns / 1e9),
            meta=known(members),
        )

    def _hello(self, request: Request, result: Mapping[str, Json], at_ns: int) -> Event:
        """The server introduces itself. Its instructions are read by the model, so they are part of the record."""
        asked, said = dict_of(request.params.get("_meta")), dict_of(result.get("_meta"))
        server = dict_of(result.get("serverInfo", said.get(f"{_ABOUT}serverInfo")))
        name = text_of(server.get("name"))
        if name and not self._named:
            self.voice = replace(self.voice, server=name)
        protocol = result.get("protocolVersion", asked.get(f"{_ABOUT}protocolVersion"))
        can = request.params.get("capabilities", asked.get(f"{_ABOUT}clientCapabilities"))
        values = {
            "content.label": name,
            "content.text": result.get("instructions"),
            "content.capabilities": result.get("capabilities"),
            "content.client_capabilities": can,
        }
        meta: dict[str, Json] = {"server_version": text_of(server.get("version")), "protocol": text_of(protocol)}
        return self.voice.event("hello", at_ns, values, f"{request.id}/result", **meta)

    # Requests and notifications -------------------------------------------------------------------------------------------

    def _request(self, side: Side, asked: Json, request: Request) -> Iterator[Event]:
        if len(self._pending) >= _MOST_PENDING:
            del self._pending[next(iter(self._pending))]
            yield Loss(kind="unanswered", detail="too many requests without an answer")
        self._pending[side, _key(asked)] = request
        if request.method == "ping":
            yield Loss(kind="ping")
            return
        yield from self._open(request.params, request.began_ns)
        if side is Side.SERVER and request.method == "elicitation/create":
            yield self.voice.question(request)
        elif side is Side.CLIENT and _is_call(request.method):
            yield self.voice.call(request)

    def _name(self, side: Side, asked: Json) -> str:
        """The source id of a request. An id that is used again, which the protocol forbids, gets a number."""
        base = f"{side}/{asked}"[:150]
        count = self._used[base] = self._used.get(base, 0) + 1
        if count == 1:
            return base
        return f"{base}~{count}"

    def _notification(self, side: Side, method: str, params: dict[str, Json], at_ns: int) -> Iterator[Event]:
        if method in _QUIET:
            yield Loss(kind=method.rpartition("/")[2])
            return
        yield from self._open(params, at_ns)
        name = method.removeprefix("notifications/").replace("/", "-")
        meta: dict[str, Json] = {"from": side.value}
        values: dict[str, Json] = {}
        if name == "cancelled":
            request = self._pending.get((side, _key(params.get("requestId"))))
            if request is not None:
                meta["corr"] = request.id
            values["content.reason"] = params.get("reason")
        elif name == "message":
            meta |= {"level": text_of(params.get("level")), "logger": text_of(params.get("logger"))}
            values["content.text"] = params.get("data")
        else:
            values["content.params"] = {key: value for key, value in params.items() if key != "_meta"} or None
        yield self.voice.event(name, at_ns, values, **meta)

    # Answers ----------------------------------------------------------------------------------------------------------------

    def _response(self, side: Side, message: dict[str, Json], at_ns: int) -> Iterator[Event]:
        request = self._pending.pop((side.other, _key(message.get("id"))), None)
        if request is None:
            yield Loss(kind="no_request", detail=f"an answer of the {side} to nothing that was asked", fault=True)
            return
        result = dict_of(message.get("result"))
        error = None
        if "error" in message:
            error = dict_of(message.get("error"))
        if side is Side.SERVER:
            yield from self._from_server(request, result, error, at_ns)
        else:
            yield from self._from_client(request, result, error, at_ns)

    def _from_server(
        self, request: Request, result: dict[str, Json], error: dict[str, Json] | None, at_ns: int
    ) -> Iterator[Event]:
        if request.method in _QUIET:
            yield Loss(kind=request.method.rpartition("/")[2])
        elif error is not None and _is_call(request.method):
            yield self.voice.failure(request, error, at_ns)
        elif error is not None:  # clients ask older servers for what these do not know
            values = {"content.error": error.get("message")}
            yield self.voice.event("refused", at_ns, values, f"{request.id}/result", method=request.method)
        elif request.method in _HELLO:
            yield self._hello(request, result, at_ns)
        elif request.method.endswith("/list"):
            yield from self._listed(request, result, at_ns)
        else:
            yield self.voice.result(request, result, at_ns)

    def _listed(self, request: Request, result: dict[str, Json], at_ns: int) -> Iterator[Event]:
        """What the server offers: descriptions that the model reads. Said again without change, it is not recorded again."""
        key = f"{request.method} {request.params.get('cursor')}"
        if self._lists.get(key) == result:
            yield Loss(kind="same_list", detail=request.method)
            return
        self._lists[key] = result
        name = request.method.removesuffix("/list").replace("/", "-")
        items = list_of(result.get("tools", result.get(name)))
        values = {"content.offered": {key: value for key, value in result.items() if key not in BETWEEN_MACHINES}}
        yield self.voice.event("offered", at_ns, values, f"{request.id}/result", kind=name, count=len(items))

    def _from_client(
        self, request: Request, result: dict[str, Json], error: dict[str, Json] | None, at_ns: int
    ) -> Iterator[Event]:
        if request.method == "sampling/createMessage":
            yield self.voice.sampled(request, result, error, at_ns)
        elif request.method == "elicitation/create":
            yield self.voice.reply(request, result, error, at_ns)
        elif request.method == "roots/list":
            yield self.voice.event("roots", at_ns, {"content.paths": result.get("roots")}, f"{request.id}/result")
        elif request.method in _QUIET:
            yield Loss(kind="ping")
        else:
            name = request.method.replace("/", "-")
            values = {"content.params": dict(request.params), "content.result": result, "content.error": error}
            yield self.voice.event(name, at_ns, values, f"{request.id}/result")


def _is_call(method: str) -> bool:
    """Whether a request of the client makes the server do something, other than to introduce itself."""
    return method not in _HELLO and method not in _QUIET and not method.endswith("/list")


def _key(asked: Json) -> str:
    """A request id with its type: "1" is not 1."""
    return f"{type(asked).__name__} {asked}"

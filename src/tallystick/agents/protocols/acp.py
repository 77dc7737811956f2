"""The Agent Client Protocol as events: what an editor and an agent say to each other over stdio.

Owns the pairing of requests with their answers, which session a message belongs to, and what is worth a step. Must not know
how lines travel or where steps go. Source: the protocol's schema v1.19.0 and the traffic of seven agents.

Nothing here depends on a message being as it should: what is not understood becomes a step that shows it, or a Loss.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from tallystick.agents.hermes.acp import reported_provenance
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import BadJson, batch_of, dict_of, int_of, list_of, loads, text_of
from tallystick.agents.protocols._acp_calls import Call as SeenCall
from tallystick.agents.protocols._acp_calls import Calls
from tallystick.agents.protocols._acp_effects import Exchange, permitted, ran, touched
from tallystick.agents.protocols._acp_session import Session, moment
from tallystick.agents.protocols._acp_words import agent_name, dialect
from tallystick.model.decision import Decision
from tallystick.model.step import Event, Json, Loss, Opening, Ref, SessionKind, Source

__all__ = [
    "OPENING",
    "Acp",
    "Calls",
    "Hello",
    "Key",
    "SeenCall",
    "Side",
    "agent_name",
    "dialect",
    "key_of",
    "opening",
    "reported_provenance",
    "session_id",
]

OPENING = frozenset(("session/new", "session/load", "session/resume", "session/fork"))
"""Requests of the editor whose result begins or continues a session."""
_REPLAYING = ("session/load", "session/resume")
_MOST_PENDING = 10_000
_MOST_TEXT = 4096
_SILENT = frozenset(("session/list", "session/delete", "authenticate", "logout", "initialize"))
# Root members of `_meta` that some libraries merge over the parameters of the same name: harmless keys have a domain.
_PARAMETERS = frozenset(
    (
        "additionaldirectories", "args", "capabilities", "clientcapabilities", "clientinfo", "command", "configid",
        "content", "cursor", "cwd", "env", "limit", "line", "mcpservers", "methodid", "modeid", "modelid", "options",
        "outputbytelimit", "path", "prompt", "protocolversion", "sessionid", "terminalid", "toolcall", "update", "value",
    )
)  # fmt: skip


class Side(enum.StrEnum):
    """Who said it."""

    EDITOR = "editor"
    AGENT = "agent"

    @property
    def other(self) -> Side:
        """The one it was said to."""
        if self is Side.EDITOR:
            return Side.AGENT
        return Side.EDITOR


Key: TypeAlias = tuple[Side, str, str]
"""A request: who sent it, and its id with the id's type. Both sides count from 0, and "1" is not 1."""


def key_of(side: Side, request_id: Json) -> Key:
    """The key of a request that `side` sent."""
    return side, type(request_id).__name__, str(request_id)


class Hello(msgspec.Struct):
    """What both sides say of themselves in `initialize`."""

    agent: str
    monitor: str | None = None
    """The session of the run under which the agent works."""
    version: str | None = None
    client: str | None = None
    client_version: str | None = None
    protocol: int | None = None

    def take_request(self, params: Mapping[str, Json]) -> None:
        """The editor introduces itself."""
        client = dict_of(params.get("clientInfo"))
        self.client, self.client_version = text_of(client.get("name")), text_of(client.get("version"))

    def take_result(self, result: Mapping[str, Json]) -> None:
        """The agent introduces itself. One that does not keeps the name of its command."""
        agent = dict_of(result.get("agentInfo"))
        self.agent = agent_name(text_of(agent.get("name")) or self.agent)
        self.version = text_of(agent.get("version"))
        self.protocol = int_of(result.get("protocolVersion"))


def opening(hello: Hello, method: str, params: Mapping[str, Json], session: str, at_ns: int) -> Opening:
    """The start of a session. Of MCP servers only names are kept, theirs and those of their variables and headers."""
    parent = None
    if method == "session/fork":
        parent = text_of(params.get("sessionId"))
    meta = {
        "agent_version": hello.version,
        "client": hello.client,
        "client_version": hello.client_version,
        "acp_protocol": hello.protocol,
        "reason": method.removeprefix("session/"),
    }
    values = {
        "personal.cwd": text_of(params.get("cwd")),
        "content.directories": params.get("additionalDirectories") or None,
        "content.mcp_servers": [_server(server) for server in list_of(params.get("mcpServers"))] or None,
    }
    kind, above = SessionKind.ROOT, None
    if parent is not None:
        kind, above = SessionKind.FORK, Ref(session=parent)
    elif hello.monitor is not None:
        kind, above = SessionKind.CHILD, Ref(session=hello.monitor, agent="run")
    return Opening(
        session=session,
        agent=hello.agent,
        kind=kind,
        parent=above,
        source=Source.ACP,
        ts=moment(at_ns),
        meta=known(meta),
        values=known(values),
    )


def _server(server: Json) -> dict[str, Json]:
    members = dict_of(server)
    said = {"name": members.get("name"), "type": members.get("type", "stdio")}
    for key in ("env", "headers"):
        names = [dict_of(item).get("name") for item in list_of(members.get(key))]
        if names:
            said |= {f"{key}_names": names}
    return said


class Passed(msgspec.Struct, frozen=True):
    """How a line passed: from whom, when, how long it is, and the decision that it is if we wrote it."""

    side: Side
    at_ns: int
    size: int = 0
    policy: Decision | None = None


class _Pending(msgspec.Struct):
    method: str
    params: dict[str, Json]
    at_ns: int
    session: Session | None
    replays: Session | None = None
    """The session whose history the agent tells until it answers."""
    call: SeenCall | None = None

    def exchange(self, message: Mapping[str, Json], passed: Passed) -> Exchange:
        """The request with the message that answers it."""
        return Exchange(
            method=self.method,
            params=self.params,
            asked_ns=self.at_ns,
            at_ns=passed.at_ns,
            result=message.get("result"),
            error=message.get("error"),
            policy=passed.policy,
        )


class Acp:
    """A conversation between an editor and an agent. Feed it every line, in the order in which they were read."""

    def __init__(self, fallback: str, monitor: str | None = None) -> None:
        """`fallback`: what the agent is called if it does not say: its command. `monitor`: the run it is part of."""
        self.hello = Hello(agent_name(fallback), monitor)
        self.sessions: dict[str, Session] = {}
        self._pending: dict[Key, _Pending] = {}
        self._last: Session | None = None

    @property
    def agent(self) -> str:
        """The agent's name."""
        return self.hello.agent

    # Lines --------------------------------------------------------------------------------------------------------------

    def take(self, side: Side, line: bytes, at_ns: int, *, policy: Decision | None = None) -> Iterator[Event]:
        """The events in one line.

        Args:
            side: who sent it.
            at_ns: when, in ns since 1970.
            policy: the decision that made this answer to a permission request, if we gave it.
        """
        if not line.strip():
            return
        try:
            parsed = loads(line.strip())
        except BadJson as error:
            yield from self._noted(Passed(side, at_ns), line, {"subtype": "not_json"}, str(error))
            return
        passed = Passed(side, at_ns, len(line), policy)
        for message in batch_of(parsed.value):
            if isinstance(message, dict):
                yield from self._message(message, passed)
            else:
                yield Loss(kind="no_message", detail=f"from the {side}")

    def cut(self, side: Side, head: bytes, size: int, at_ns: int) -> Iterator[Event]:
        """A line too long to be read whole: its first bytes, and its size."""
        yield from self._noted(Passed(side, at_ns, size), head, {"subtype": "line_too_long", "bytes": size})

    def missed(self, count: int, at_ns: int) -> Iterator[Event]:
        """So many lines were not seen: a gap in every session that is open."""
        for session in self.sessions.values():
            if not session.closed:
                yield session.step("gap", at_ns, {"lines": count, "reason": "queue_full"})

    def end(self, at_ns: int, *, returncode: int, reason: str = "exit") -> Iterator[Event]:
        """The agent has exited. Questions without an answer and prompts without an end are reported."""
        for pending in self._pending.values():
            if pending.method == "session/request_permission" and pending.session is not None:
                unanswered = pending.exchange({}, Passed(Side.EDITOR, at_ns))
                yield permitted(pending.session, pending.call, unanswered, None)
        self._pending.clear()
        members: dict[str, Json]
        if returncode >= 0:
            members = {"exit_code": returncode}
        else:
            members = {"signal": -returncode}
        for session in self.sessions.values():
            if not session.closed:
                yield from session.ended(reason, at_ns, members)

    def _noted(self, passed: Passed, data: bytes, meta: dict[str, Json], why: str | None = None) -> Iterator[Event]:
        """A warning in the session that was spoken of last; without one it is a loss."""
        text = data[:_MOST_TEXT].decode("utf-8", "replace")
        if self._last is None:
            yield Loss(kind=meta["subtype"], detail=f"from the {passed.side}: {text[:80]!r}", fault=True)
            return
        values = {"content.text": text, "content.error": why}
        yield self._last.step("warning", passed.at_ns, {**meta, "from": passed.side.value}, values)

    def _message(self, message: dict[str, Json], passed: Passed) -> Iterator[Event]:
        method = text_of(message.get("method"))
        if method is None:
            yield from self._response(message, passed)
            return
        params = dict_of(message.get("params"))
        session = self._session_of(method, params)
        if session is not None and not session.opened and not session.replaying and method not in OPENING:
            yield from self._seen(session, passed.at_ns)
        yield from self._shadows(session, method, params, passed)
        if message.get("id") is not None:
            pending = _Pending(method, params, passed.at_ns, session)
            yield from self._request(key_of(passed.side, message["id"]), pending)
        else:
            yield from self._notification(session, method, params, passed)

    # Sessions -----------------------------------------------------------------------------------------------------------

    def _session_of(self, method: str, params: dict[str, Json]) -> Session | None:
        """The session that a message is about. `session/list` and similar are about none; a fork's id is its parent's."""
        name = text_of(params.get("sessionId"))
        if name is None or method in _SILENT or (method in OPENING and name not in self.sessions):
            return None
        self._last = self.sessions.setdefault(name, Session(name, self.agent))
        return self._last

    def _seen(self, session: Session, at_ns: int) -> Iterator[Event]:
        """The agent speaks of a session before it has answered the request that begins it. Of a fork it tells history."""
        found = [pending for pending in self._pending.values() if pending.method in OPENING]
        if len(found) != 1:
            yield self._open(session, "session/seen", {}, at_ns)
            return
        begun = found[0]
        if begun.method == "session/fork" and begun.replays is None:
            begun.replays, session.replaying = session, session.replaying + 1
        yield self._open(session, begun.method, begun.params, at_ns)

    def _open(self, session: Session, method: str, params: dict[str, Json], at_ns: int) -> Opening:
        session.opened, session.closed = True, False
        return opening(self.hello, method, params, session.name, at_ns)

    def _shadows(self, session: Session | None, what: str, members: dict[str, Json], passed: Passed) -> Iterator[Event]:
        """Keys at the root of `_meta` that a careless receiver takes for parameters: a mistake, or an attack."""
        names = [key for key in dict_of(members.get("_meta")) if key.replace("_", "").lower() in _PARAMETERS]
        if not names:
            return
        if session is None:
            yield Loss(kind="meta_shadow", detail=f"{what} from the {passed.side}: {', '.join(names)}", fault=True)
            return
        meta = {"subtype": "meta_shadow", "from": passed.side.value, "method": what}
        yield session.step("warning", passed.at_ns, meta, {"content.names": names, "content.raw": members["_meta"]})

    # Requests and notifications -----------------------------------------------------------------------------------------

    def _request(self, key: Key, pending: _Pending) -> Iterator[Event]:
        side, method, session = key[0], pending.method, pending.session
        if len(self._pending) >= _MOST_PENDING:
            del self._pending[next(iter(self._pending))]
        self._pending[key] = pending
        if method == "initialize" and side is Side.EDITOR:
            self.hello.take_request(pending.params)
        elif method in _REPLAYING and side is Side.EDITOR:
            self._await_replay(pending)
        elif session is None:
            return
        elif method == "session/prompt":
            yield from session.prompted(key, pending.params, pending.at_ns)
        elif method == "session/request_permission":
            pending.call, events = session.asked(pending.params, pending.at_ns)
            yield from events

    def _await_replay(self, pending: _Pending) -> None:
        """What the agent says of the session until it answers is history."""
        name = text_of(pending.params.get("sessionId"))
        if name is not None:
            pending.session = pending.replays = self.sessions.setdefault(name, Session(name, self.agent))
            pending.replays.replaying += 1

    def _notification(
        self, session: Session | None, method: str, params: dict[str, Json], passed: Passed
    ) -> Iterator[Event]:
        if session is None:
            if not method.startswith("$/"):
                yield Loss(kind="no_session", detail=method[:80])
        elif method == "session/update":
            update = dict_of(params.get("update"))
            yield from session.updated(update, passed.at_ns, passed.size)
        elif method == "session/cancel":
            yield from session.cancelled(passed.at_ns)
        else:
            meta = {"subtype": "rpc", "from": passed.side.value, "method": method}
            yield session.step("system", passed.at_ns, meta, {"content.params": params})

    # Responses ----------------------------------------------------------------------------------------------------------

    def _response(self, message: dict[str, Json], passed: Passed) -> Iterator[Event]:
        key = key_of(passed.side.other, message.get("id"))
        pending = self._pending.pop(key, None)
        if pending is None:
            yield Loss(kind="no_request", detail=f"an answer of the {passed.side} to nothing that was asked")
            return
        exchange = pending.exchange(message, passed)
        if passed.side is Side.AGENT:
            yield from self._from_agent(pending, key, replace(exchange, result=dict_of(exchange.result)))
        elif pending.session is not None:
            yield from self._from_editor(pending.session, pending.call, exchange)

    def _from_agent(self, pending: _Pending, key: Key, exchange: Exchange) -> Iterator[Event]:
        method, session = pending.method, pending.session
        if pending.replays is not None:
            pending.replays.replaying -= 1
        if exchange.error is not None:
            if session is not None and session.opened:
                yield from session.failed(key, method, dict_of(exchange.error), exchange.at_ns)
            else:
                yield Loss(kind="rpc_error", detail=f"{method}: {exchange.refusal}")
        elif method == "initialize":
            self.hello.take_result(exchange.result)
        elif method in OPENING:
            yield from self._opened(exchange)
        elif session is not None:
            yield from self._done(session, key, exchange)

    def _opened(self, exchange: Exchange) -> Iterator[Event]:
        """A session was begun, or goes on. `session/resume` of an unknown id makes a new one in some agents."""
        method, result, at_ns = exchange.method, exchange.result, exchange.at_ns
        name = session_id(self.agent, method, exchange.params, result)
        if name is None:
            yield Loss(kind="no_session", detail=method)
            return
        session = self._last = self.sessions.setdefault(name, Session(name, self.agent))
        if not session.opened:
            yield self._open(session, method, exchange.params, at_ns)
        yield from session.replayed(method.removeprefix("session/"), at_ns)
        session.configure(result.get("configOptions"))
        modes, models = dict_of(result.get("modes")), dict_of(result.get("models"))
        meta = {
            "subtype": method.removeprefix("session/"),
            "mode": modes.get("currentModeId"),
            "model": models.get("currentModelId"),
            "duration_ms": exchange.took_ms,
        }
        yield session.step("system", at_ns, meta, {"content.settings": known(session.settings()) or None})

    def _done(self, session: Session, key: Key, exchange: Exchange) -> Iterator[Event]:
        """The agent did what the editor asked of a session."""
        method, params, at_ns = exchange.method, exchange.params, exchange.at_ns
        if method == "session/prompt":
            yield from session.answered(key, exchange.result, at_ns)
        elif method == "session/set_mode":
            yield from session.set("mode", params.get("modeId"), at_ns, by="user")
        elif method == "session/set_model":
            yield from session.set("model", params.get("modelId"), at_ns, by="user")
        elif method == "session/set_config_option":
            yield from session.set(params.get("configId"), params.get("value"), at_ns, by="user")
        elif method == "session/close":
            yield from session.ended("close", at_ns, {})
        else:
            yield self._called(session, Side.EDITOR, exchange)

    def _from_editor(self, session: Session, call: SeenCall | None, exchange: Exchange) -> Iterator[Event]:
        method = exchange.method
        if method == "session/request_permission":
            yield permitted(session, call, exchange, dict_of(exchange.result))
        elif method in ("fs/read_text_file", "fs/write_text_file"):
            yield from touched(session, exchange)
        elif method.startswith("terminal/"):
            yield from ran(session, exchange)
        else:
            yield self._called(session, Side.AGENT, exchange)

    def _called(self, session: Session, side: Side, exchange: Exchange) -> Event:
        """A request that the protocol does not have, or that has no step of its own."""
        meta = {
            "subtype": "rpc",
            "from": side.value,
            "method": exchange.method,
            "success": exchange.error is None,
            "duration_ms": exchange.took_ms,
        }
        values = {"content.params": exchange.params or None, "content.result": exchange.result or None}
        return session.step("system", exchange.at_ns, meta, {**values, "content.error": exchange.error})


def session_id(agent: str, method: str, params: Mapping[str, Json], result: Mapping[str, Json]) -> str | None:
    """The session that a result is about, or None.

    Hermes answers `session/load` of an unknown id with nothing, and `session/resume` with a new session, whose id is in
    its provenance alone.
    """
    named = text_of(result.get("sessionId"))
    if named is not None or method in ("session/new", "session/fork"):
        return named
    told = text_of(reported_provenance(result).get("acpSessionId"))
    if told is not None or dialect(agent).tells_live_session:
        return told
    return text_of(params.get("sessionId"))

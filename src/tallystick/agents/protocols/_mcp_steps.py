"""What an MCP client and server say, as steps.

Owns the type, members and values of each step. Must not know which answer belongs to which request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from tallystick.agents.kit.columns import known
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.point import Point, after
from tallystick.agents.kit.reading import dict_of, int_of, text_of
from tallystick.model.moments import epoch_time
from tallystick.model.step import Input, Json, Source, Step

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_ANSWERS = {"accept": "allow", "decline": "deny", "cancel": "cancel"}
_CLAUDE_CALL = "claudecode/toolUseId"


def slug(name: str) -> str:
    """A name with nothing in it but what agents allow in the names of tools."""
    return _NOT_IN_NAMES.sub("_", name)[:60] or "_"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request under way."""

    id: str
    """Its source id: who asked, and the request's own id."""
    method: str
    params: Mapping[str, Json]
    began_ns: int

    def took_ms(self, at_ns: int) -> int:
        """How long it has taken."""
        return max(at_ns - self.began_ns, 0) // 1_000_000


class Voice(msgspec.Struct):
    """The session that steps go to, and what the server is called."""

    session: str
    server: str

    @property
    def slug(self) -> str:
        """The server's name as agents write it in the names of tools."""
        return slug(self.server)

    def at(self, at_ns: int, source_id: str | None = None) -> Point:
        """The point of a step of the session."""
        return Point(self.session, source_id, epoch_time(at_ns / 1e9), Source.WATCH)

    def step(self, kind: str, at: Point, meta: Mapping[str, Json], values: Mapping[str, Json] = {}) -> Step:
        """A step; members and values that are None are left out, pictures in values become raw."""
        return at.step(kind, meta, *_without_media(values))

    def tool_name(self, request: Request) -> str:
        """A tool as agents name those of MCP servers; any other request by its method."""
        if request.method != "tools/call":
            return request.method
        parts = (self.server, text_of(request.params.get("name")) or "?")
        return "mcp__" + "__".join(map(slug, parts))

    # Calls ----------------------------------------------------------------------------------------------------------

    def call(self, request: Request) -> Step:
        """A request of the client."""
        params = request.params
        about = dict_of(params.get("_meta"))
        args = {key: value for key, value in params.items() if key != "_meta"}
        if request.method == "tools/call":
            args = params.get("arguments", {})
        meta: dict[str, Json] = {
            "tool": self.tool_name(request),
            "corr": request.id,
            "method": request.method,
            "server": self.slug,
            "agent_call": text_of(about.get(_CLAUDE_CALL)),
            "trace": text_of(about.get("traceparent")),
        }
        values = {
            "content.args": args,
            "content.answers": params.get("inputResponses"),
        }
        return self.step("tool_call", self.at(request.began_ns, request.id), meta, values)

    def result(self, request: Request, result: Mapping[str, Json], at_ns: int) -> Step:
        """The server's answer. One that wants more of the user is no end yet: the request will be sent again."""
        waits = result.get("resultType") == "input_required" or "inputRequests" in result
        meta: dict[str, Json] = {"success": result.get("isError") is not True}
        if waits:
            meta = {"pending": True}
        content = result.get("content", result.get("contents", result.get("messages")))
        rest = {key: value for key, value in result.items() if key not in _SHOWN | BETWEEN_MACHINES}
        values = {
            "content.output": content,
            "content.structured": result.get("structuredContent"),
            "content.questions": result.get("inputRequests"),
            "content.result": rest or None,
        }
        return self._answer(request, at_ns, meta, values)

    def failure(self, request: Request, error: Mapping[str, Json], at_ns: int) -> Step:
        """The server's refusal."""
        meta: dict[str, Json] = {"success": False, "code": int_of(error.get("code"))}
        values = {"content.error": error.get("message"), "content.details": error.get("data")}
        return self._answer(request, at_ns, meta, values)

    def _answer(self, request: Request, at_ns: int, meta: dict[str, Json], values: dict[str, Json]) -> Step:
        meta |= {"tool": self.tool_name(request), "corr": request.id, "duration_ms": request.took_ms(at_ns)}
        return after(self.step("tool_result", self.at(at_ns, f"{request.id}/result"), meta, values), request.id)

    # The server asks --------------------------------------------------------------------------------------------------

    def sampled(
        self, request: Request, result: Mapping[str, Json], error: Mapping[str, Json] | None, at_ns: int
    ) -> Step:
        """A call of the client's model by the server: what it was given is in the request."""
        meta: dict[str, Json] = {
            "model": text_of(result.get("model")),
            "stop_reason": text_of(result.get("stopReason")),
            "duration_ms": request.took_ms(at_ns),
            "success": error is None,
            "event": "sampling",
            "server": self.slug,
        }
        values = {
            "content.request": {key: value for key, value in request.params.items() if key != "_meta"},
            "content.output": result.get("content"),
            "content.error": (error or {}).get("message"),
        }
        step = self.step("model_call", self.at(at_ns, f"{request.id}/usage"), meta, values)
        return msgspec.structs.replace(step, input=Input.HIDDEN)

    def question(self, request: Request) -> Step:
        """The server asks the user."""
        meta: dict[str, Json] = {"event": "elicitation", "decision": "ask", "corr": request.id, "server": self.slug}
        values = {
            "content.text": request.params.get("message"),
            "content.options": request.params.get("requestedSchema"),
            "content.url": request.params.get("url"),
        }
        return self.step("permission", self.at(request.began_ns, request.id), meta, values)

    def reply(self, request: Request, result: Mapping[str, Json], error: Mapping[str, Json] | None, at_ns: int) -> Step:
        """What the user answered."""
        action = text_of(result.get("action")) or "cancel"
        meta: dict[str, Json] = {
            "event": "elicitation",
            "decision": _ANSWERS.get(action, action),
            "decided_by": "user",
            "corr": request.id,
            "duration_ms": request.took_ms(at_ns),
        }
        values = {"content.answer": result.get("content"), "content.error": (error or {}).get("message")}
        return after(self.step("permission", self.at(at_ns, f"{request.id}/result"), meta, values), request.id)

    def event(
        self,
        name: str,
        at_ns: int,
        values: Mapping[str, Json] = {},
        source_id: str | None = None,
        **meta: Json,
    ) -> Step:
        """Something that is neither a call nor an answer."""
        return self.step("system", self.at(at_ns, source_id), {"event": name, "server": self.slug, **meta}, values)


_SHOWN = frozenset(
    ("content", "contents", "messages", "isError", "structuredContent", "inputRequests", "resultType", "_meta")
)
BETWEEN_MACHINES = frozenset(("_meta", "cacheScope", "ttlMs", "requestState", "resultType"))
"""Members of results that say nothing to anyone but the two programs."""


def _without_media(values: Mapping[str, Json]) -> tuple[dict[str, Json], dict[str, bytes]]:
    present = known(values)
    found, raw = take_out([present[name] for name in present])
    return dict(zip(present, found, strict=True)), raw

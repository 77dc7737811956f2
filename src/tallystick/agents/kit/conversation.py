"""The steps of a conversation, for readers of formats that are a role and blocks of content, or close to it.

Owns what a prompt, an answer, a call and a result are as steps, and which result answers which call. Must not know any
agent's format: a reader takes its own members apart and says what they are.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.agents.kit.calls import result_id
from tallystick.agents.kit.columns import known, word
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.trail import Trail
from tallystick.model.step import Json, Opening, Step


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended, as far as it is said."""

    success: bool | None = None
    error: Json = None
    meta: Mapping[str, Json] = {}
    """Further members."""


_UNSAID = Outcome()


class Conversation:
    """One session of an agent. Every method gives one step, at the end of what was said so far."""

    def __init__(self, agent: str, session: str) -> None:
        self.agent = agent
        self.session = session
        self._trail = Trail()
        self._calls: dict[str, str] = {}
        """The source id of each call by the agent's own id."""
        self._tools: dict[str, Json] = {}
        self._open: dict[str, None] = {}
        """Source ids of calls without a result, oldest first."""

    def opening(self, meta: Mapping[str, Json], values: Mapping[str, Json], *, ts: str | None = None) -> Opening:
        """The start of the session. Members that are None are left out."""
        return Opening(
            session=self.session, agent=self.agent, ts=ts, meta=known(dict(meta)), values=known(dict(values))
        )

    def at(self, source_id: str, ts: str | None = None) -> Point:
        """A point of the session: what every step is given."""
        return Point(self.session, source_id, ts)

    def said(self, at: Point, role: Json, text: Json, *, origin: str | None = None) -> Step:
        """Text by the user, the model or another. `origin` says where a user's text comes from if no human wrote it."""
        kind = speaker(role)
        step = self._trail.along(at.step(kind, {"origin": origin}, {"content.text": text}))
        return msgspec.structs.replace(step, opens_request=kind == "user" and origin is None)

    def thought(self, at: Point, text: Json) -> Step:
        """What the model thought."""
        return self._trail.along(at.step("assistant", {}, {"content.thinking": text}))

    def model_call(self, at: Point, model: Json, tokens: Mapping[str, int | None]) -> Step:
        """That a model was asked; `tokens` by the names of the format."""
        counts = {name: number for name, number in tokens.items() if number is not None and number >= 0}
        return self._trail.along(at.model_call({"model": model, "tokens": counts or None}, is_shown=False))

    def call(self, at: Point, tool: Json, args: Json, *, call_id: Json = None) -> Step:
        """A call of a tool; `call_id` is the agent's own id of it, by which its result is found."""
        name = word(call_id)
        if name is not None and name not in self._calls:
            at = at.named(name)
            self._calls[name] = name
        self._open[str(at.source_id)] = None
        self._tools[str(at.source_id)] = tool
        return self._trail.along(at.step("tool_call", {"tool": tool, "corr": name}, {"content.args": args}))

    def result(self, at: Point, output: Json, *, call_id: Json = None, outcome: Outcome = _UNSAID) -> Step:
        """What a call gave. Without a known `call_id` it belongs to the oldest call that has no result."""
        call = self._calls.get(word(call_id) or "")
        if call is None:
            call = next(iter(self._open), None)
        if call is not None:
            self._open.pop(call, None)
        found, raw = take_out(output)
        about = {"tool": self._tools.get(call or ""), "corr": word(call_id), "success": outcome.success}
        values = {"content.output": found, "content.error": outcome.error}
        step = at.named(result_id(call, at.source_id)).step("tool_result", {**about, **outcome.meta}, values, raw)
        return self._trail.along(step, answers=call)

    def attached(self, at: Point, role: Json, block: Json) -> Step:
        """A picture or a file that was handed in."""
        found, raw = take_out([block])
        return self._trail.along(at.step(speaker(role), {"origin": "attached"}, {"content.parts": found}, raw))


def speaker(role: Json) -> str:
    """The type of the step that someone in this role makes by speaking."""
    if role in ("user", "assistant"):
        return str(role)
    return "system"

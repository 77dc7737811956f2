"""The steps of a conversation, for readers of formats that are a role and blocks of content, or close to it.

Owns what a prompt, an answer, a call and a result are as steps, and which result answers which call. Must not know any
agent's format: a reader takes its own members apart and says what they are.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.agents.kit.columns import known, word
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.trail import Trail
from tallystick.model.step import Input, Json, Opening, Step


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

    def said(self, source_id: str, role: Json, text: Json, *, ts: str | None = None, origin: str | None = None) -> Step:
        """Text by the user, the model or another. `origin` says where a user's text comes from if no human wrote it."""
        speaker = "system"
        if role in ("user", "assistant"):
            speaker = role
        step = self._step(str(speaker), source_id, {"origin": origin}, {"content.text": text}, ts)
        return msgspec.structs.replace(step, opens_request=speaker == "user" and origin is None)

    def thought(self, source_id: str, text: Json, *, ts: str | None = None) -> Step:
        """What the model thought."""
        return self._step("assistant", source_id, {}, {"content.thinking": text}, ts)

    def model_call(
        self, source_id: str, model: Json, tokens: Mapping[str, int | None], *, ts: str | None = None
    ) -> Step:
        """That a model was asked; `tokens` by the names of the format."""
        counted = {name: number for name, number in tokens.items() if number is not None and number >= 0}
        step = self._step("model_call", source_id, {"model": model, "tokens": counted or None}, {}, ts)
        return msgspec.structs.replace(step, input=Input.HIDDEN)

    def call(self, source_id: str, tool: Json, args: Json, *, call_id: Json = None, ts: str | None = None) -> Step:
        """A call of a tool; `call_id` is the agent's own id of it, by which its result is found."""
        name = word(call_id)
        if name is not None and name not in self._calls:
            source_id = self._calls[name] = name
        self._open[source_id] = None
        self._tools[source_id] = tool
        return self._step("tool_call", source_id, {"tool": tool, "corr": name}, {"content.args": args}, ts)

    def result(
        self,
        source_id: str,
        output: Json,
        *,
        call_id: Json = None,
        success: bool | None = None,
        error: Json = None,
        meta: Mapping[str, Json] | None = None,
        ts: str | None = None,
    ) -> Step:
        """What a call gave. Without a known `call_id` it belongs to the oldest call that has no result."""
        call = self._calls.get(word(call_id) or "")
        if call is None:
            call = next(iter(self._open), None)
        if call is not None:
            self._open.pop(call, None)
            source_id = f"{call}/result"
        found, raw = take_out(output)
        members = {"tool": self._tools.get(call or ""), "corr": word(call_id), "success": success, **(meta or {})}
        values = {"content.output": found, "content.error": error}
        step = Step(
            session=self.session,
            type="tool_result",
            source_id=source_id,
            ts=ts,
            meta=known(members),
            values=known(values),
            raw=raw,
        )
        return self._trail.along(step, answers=call)

    def attached(self, source_id: str, role: Json, block: Json, *, ts: str | None = None) -> Step:
        """A picture or a file that was handed in."""
        found, raw = take_out([block])
        speaker = "system"
        if role in ("user", "assistant"):
            speaker = role
        step = self._step(str(speaker), source_id, {"origin": "attached"}, {"content.parts": found}, ts)
        return msgspec.structs.replace(step, raw=raw)

    def _step(self, kind: str, source_id: str, meta: dict[str, Json], values: dict[str, Json], ts: str | None) -> Step:
        step = Step(session=self.session, type=kind, source_id=source_id, ts=ts, meta=known(meta), values=known(values))
        return self._trail.along(step)

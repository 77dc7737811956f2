"""Steps from what a hook said, the same for the agents whose payloads resemble each other.

Owns the members that every such step has. Must not know any agent's events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from tallystick.agents.hooks import UNNAMED
from tallystick.agents.hooks.payload import Said
from tallystick.agents.kit.answers import with_answer
from tallystick.model.decision import Call
from tallystick.model.step import Json, Opening, Ref, SessionKind, Source, Step


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """One payload, and the session that it tells of."""

    said: Said
    agent: str
    session: str
    """The session of the step: the agent's own id."""
    root: str
    """The session that it belongs to; itself for a session of its own."""
    common: dict[str, Json] = {}
    """Members of every step."""
    ts: str | None = None

    def steps(self, makers: Mapping[str, Callable[[Telling], Step]], event: str | None) -> tuple[Step, ...]:
        """What the maker of an event makes of the payload; nothing where an event has none."""
        make = makers.get(event or "")
        if make is None:
            return ()
        return tuple(with_answer(self.agent, make(self)))

    def step(self, type_: str, source_id: str | None, meta: dict[str, Json], **content: Json) -> Step:
        """A step of the session; `content` are field values by their short names, None is left out."""
        return Step(
            session=self.session,
            type=type_,
            source=Source.HOOK,
            source_id=source_id,
            ts=self.ts,
            meta={**self.common, **meta},
            values={f"content.{name}": value for name, value in content.items() if value is not None},
        )

    def prompt(self, text: str | None, source_id: str | None, origin: str | None = None) -> Step:
        """What someone typed; or, with an origin, what came in its place."""
        step = self.step("user", source_id, {} if origin is None else {"origin": origin}, text=text)
        return msgspec.structs.replace(step, opens_request=origin is None)

    def call(self, tool: str | None, call_id: str | None, args: Json) -> Step:
        """A tool call."""
        return self.step("tool_call", call_id, known(tool=tool, corr=call_id), args=args)

    def result(self, tool: str | None, call_id: str | None, meta: dict[str, Json], **content: Json) -> Step:
        """What came of a tool call. Without an id, `args` in `content` are what it is found by."""
        members = {**known(tool=tool, corr=call_id), **meta}
        step = self.step("tool_result", f"{call_id}/result" if call_id else None, members, **content)
        if call_id:
            return msgspec.structs.replace(step, after=(Ref(call_id),))
        return step

    def system(self, event: str, meta: dict[str, Json] | None = None, **content: Json) -> Step:
        """Something that no other type of step says."""
        return self.step("system", None, {"event": event, **(meta or {})}, **content)

    def opening(self, meta: dict[str, Json], **values: Json) -> Opening:
        """The session itself, opened only once."""
        where = {f"personal.{name}": value for name, value in values.items() if value is not None}
        return Opening(session=self.session, agent=self.agent, source=Source.HOOK, ts=self.ts, meta=meta, values=where)

    def child(self, parent: Ref, meta: dict[str, Json]) -> Opening:
        """The session of a sub-agent, which belongs to a step of another session."""
        return Opening(
            session=self.session,
            agent=self.agent,
            kind=SessionKind.CHILD,
            parent=parent,
            source=Source.HOOK,
            ts=self.ts,
            meta=meta,
        )

    def asks(self, tool: str | None, args: Json, *, cwd: str | None, call_id: str | None = None) -> Call:
        """The call that waits for an answer."""
        return Call(agent=self.agent, session=self.session, tool=tool or "?", args=args, cwd=cwd, call_id=call_id)


def known(**members: Json) -> dict[str, Json]:
    """The members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def unnamed(*parts: str | None) -> str | None:
    """An id of ours for an event that the agent does not name, made of what it does name; None if it names nothing."""
    if all(parts):
        return UNNAMED + "/".join(str(part) for part in parts)
    return None

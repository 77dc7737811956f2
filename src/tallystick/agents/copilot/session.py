"""A Copilot CLI session while it is read: the sessions of its agents, and what later events need to know of earlier ones.

Owns how one event log becomes a tree of sessions: sub-agents are children, a compaction begins a continuation. Must not
know how events are spelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from tallystick.agents.kit.columns import known
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import dict_of, text_of
from tallystick.agents.kit.trail import Trail
from tallystick.model.step import Json, Opening, Ref, SessionKind, Step

AGENT = "copilot"
LIVES = ("subagent.started", "subagent.completed", "subagent.failed")
"""Events about a whole sub-agent."""


class CopilotEvent(msgspec.Struct, frozen=True):
    """One line of the log."""

    type: str
    data: dict[str, Json]
    id: str
    ts: str | None = None
    agent: str | None = None
    """The sub-agent that the event is about; None: the main agent."""

    def text(self, member: str) -> str | None:
        """A member of the data that should be text."""
        return text_of(self.data.get(member))


def parse(value: dict[str, Json], offset: int) -> CopilotEvent:
    """The event that `value`, read at byte `offset`, is.

    Older versions give sub-agents no id; there the call that started one stands for it.
    """
    data, type_ = dict_of(value.get("data")), text_of(value.get("type")) or "untyped"
    starter = "parentToolCallId"
    if type_ in LIVES:
        starter = "toolCallId"
    return CopilotEvent(
        type=type_,
        data=data,
        id=text_of(value.get("id")) or f"@{offset}",
        ts=text_of(value.get("timestamp")),
        agent=text_of(value.get("agentId")) or text_of(data.get(starter)),
    )


class Conversation:
    """One event log."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.trail = Trail()
        self.calls: dict[str, tuple[str, str | None, str | None]] = {}
        """Of each call: the session that made it, the tool, and when it began to run."""
        self.starts: dict[str | None, str] = {}
        """The step that started each sub-agent."""
        self.responses: dict[str, bool] = {}
        """Model calls that are recorded, and whether their usage is."""
        self.hooks: dict[str, CopilotEvent] = {}
        """Hook runs that have begun."""
        self.thoughts: dict[str, str] = {}
        """The thinking last told in each session by an event of its own."""
        self._about: dict[str, Json] = {}
        self._where: dict[str, Json] = {}
        self._current: dict[str | None, str] = {}
        self._windows: dict[str | None, int] = {}
        self._hidden: set[str] = set()
        self._prompts: dict[str, tuple[str, str | None]] = {}

    def open(self, event: CopilotEvent) -> Iterator[Opening]:
        """Make sure that the session of `event` is open."""
        if event.agent is None or event.agent in self._current:
            if event.agent not in self._current:
                yield self._begin(None, Opening(session=self.id, agent=AGENT, ts=event.ts))
            return
        if None not in self._current:
            yield self._begin(None, Opening(session=self.id, agent=AGENT, ts=event.ts))
        if event.type in LIVES:
            call = event.text("toolCallId")
        else:
            call = event.text("parentToolCallId")
        parent = None
        if call in self.calls:
            parent = Ref(call, session=self.calls[call][0])
        session, kind = f"{self.id}/{event.agent}", SessionKind.CHILD
        child = Opening(session=session, agent=AGENT, kind=kind, parent=parent, ts=event.ts)
        opening = self._begin(event.agent, child)
        role = known({"agent_role": event.text("agentName"), "model": event.text("model")})
        label = known({"content.label": event.text("agentDisplayName"), "content.goal": event.text("agentDescription")})
        yield msgspec.structs.replace(opening, meta={**opening.meta, **role}, values={**opening.values, **label})

    def describe(self, name: str | None, about: dict[str, Json], where: dict[str, Json]) -> None:
        """What the first event says of the session, before it is opened."""
        if None not in self._current:
            self.id = name or self.id
            self._about, self._where = about, where

    def continued(self, event: CopilotEvent, cause: Ref) -> Iterator[Opening]:
        """Open the continuation that begins after a compaction of the event's agent."""
        count = self._windows[event.agent] = self._windows.get(event.agent, 0) + 1
        if event.agent is None:
            base = self.id
        else:
            base = f"{self.id}/{event.agent}"
        session, kind = f"{base}~{count}", SessionKind.CONTINUATION
        next_ = Opening(session=session, agent=AGENT, kind=kind, parent=cause, ts=event.ts)
        yield self._begin(event.agent, next_)
        self.hide(event)

    def session(self, event: CopilotEvent) -> str:
        """The session of the event's agent."""
        return self._current.get(event.agent, self.id)

    def parent_session(self, call: str | None) -> str:
        """The session that made a call."""
        if call in self.calls:
            return self.calls[call][0]
        return self._current.get(None, self.id)

    def hide(self, event: CopilotEvent) -> None:
        """From here on the log does not show all that the model is given."""
        self._hidden.add(self.session(event))

    def prompted(self, event: CopilotEvent) -> None:
        """Someone gives a prompt: the place to which the session can be taken back."""
        session = self.session(event)
        self._prompts[event.id] = (session, self.trail.end(session))

    def rewind(self, to: str | None) -> None:
        """Take back a prompt and all that came after it."""
        if to in self._prompts:
            self.trail.turn_back(*self._prompts[to])

    def at(self, event: CopilotEvent, source_id: str) -> Point:
        """The point of a step in the session of `event`, at its time."""
        return Point(self.session(event), source_id, event.ts)

    def model_call(self, event: CopilotEvent, response: str, meta: Mapping[str, Json]) -> Iterator[Step]:
        """The model call that gave `response`."""
        at, told = self.at(event, f"{response}/usage"), response in self.responses
        step = at.model_call(meta, is_shown=at.session not in self._hidden)
        self.responses[response] = True
        if told:
            yield step
        else:
            yield self.trail.along(step)

    def _begin(self, agent: str | None, opening: Opening) -> Opening:
        """The opening of an agent's session, which it is in from now on."""
        self._current[agent] = opening.session
        return msgspec.structs.replace(opening, meta=self._about, values=self._where)

"""A Qwen Code chat while it is read: the session it is, and what later records need to know of earlier ones.

Owns how a chat becomes sessions: sub-agents in files of their own, branches copied from another chat, continuations
after a compression. Must not know what records say.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.kit.columns import known
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import dict_of, text_of
from tallystick.agents.kit.trail import Trail
from tallystick.model.step import Json, Opening, Ref, SessionKind

AGENT = "qwen"


class Record(msgspec.Struct, frozen=True):
    """One line of a chat."""

    members: dict[str, Json]
    id: str
    type: str | None
    agent: str | None
    """The sub-agent that the record is about."""

    def text(self, member: str) -> str | None:
        """A member that should be text."""
        return text_of(self.members.get(member))

    @property
    def parts(self) -> Json:
        """The content of the record's message."""
        return dict_of(self.members.get("message")).get("parts")

    @property
    def is_copy(self) -> bool:
        """Whether the record was copied from the chat that this one branched off."""
        return bool(dict_of(self.members.get("forkedFrom")))


def parse(members: dict[str, Json], offset: int) -> Record:
    """The record that `members`, read at byte `offset`, are."""
    name = text_of(members.get("uuid")) or f"@{offset}"
    return Record(members, name, text_of(members.get("type")), text_of(members.get("agentId")))


class QwenChat:
    """One file: a chat, or a sub-agent's part of one."""

    def __init__(self, name: str, about_agent: dict[str, Json]) -> None:
        self.session = name
        self.trail = Trail()
        self.model = text_of(about_agent.get("model"))
        self.calls: dict[str, str | None] = {}
        """The tool of each call so far."""
        self.tools: dict[str, dict[str, Json]] = {}
        """What telemetry said of calls whose result has not come yet."""
        self.response: dict[str, Json] = {}
        """What telemetry said of the answer that comes next."""
        self.is_hidden = False
        """Whether the model is given more than the file shows."""
        self._base: str | None = None
        self._about_agent = about_agent
        self._windows = 0
        self._opening: Opening | None = None
        self._ends: dict[str, str | None] = {}

    def open(self, record: Record) -> Iterator[Opening]:
        """Open the session with the first record of the file."""
        if self._opening is not None:
            return
        main = record.text("sessionId") or self.session
        self._base = self.session = _below(main, record.agent)
        kind, parent = self._ancestry(record, main)
        members = {
            "agent_version": record.text("version"),
            "agent_role": text_of(self._about_agent.get("agentType")) or record.text("agentName"),
            "model": self.model,
        }
        places = {
            "personal.cwd": record.text("cwd"),
            "content.branch": record.text("gitBranch"),
            "content.goal": text_of(self._about_agent.get("description")),
        }
        self._opening = Opening(
            session=self.session,
            agent=AGENT,
            kind=kind,
            parent=parent,
            ts=record.text("timestamp"),
            meta=known(members),
            values=known(places),
        )
        yield self._opening

    def at(self, record: Record, source_id: str) -> Point:
        """The point of a step that a record is, or of a part of it."""
        point = Point(self.session, source_id, record.text("timestamp"))
        if record.is_copy:
            return msgspec.structs.replace(point, common={"copied": True})
        return point

    def _ancestry(self, record: Record, main: str) -> tuple[SessionKind, Ref | None]:
        if record.agent is not None:
            return SessionKind.CHILD, self._spawning_call(record, main)
        forked = text_of(dict_of(record.members.get("forkedFrom")).get("sessionId"))
        if forked is not None:
            return SessionKind.FORK, Ref(session=forked)
        above = text_of(dict_of(record.members.get("systemPayload")).get("parentSessionId"))
        if record.text("subtype") == "parent_session" and above is not None:
            return SessionKind.CHILD, Ref(session=above)
        return SessionKind.ROOT, None

    def _spawning_call(self, record: Record, main: str) -> Ref | None:
        """The call that started a sub-agent: its description names it, else it ends the sub-agent's own id."""
        call = text_of(self._about_agent.get("toolUseId"))
        name = record.text("agentName")
        if call is None and name and record.agent and record.agent.startswith(f"{name}-"):
            call = record.agent[len(name) + 1 :]
        above = text_of(self._about_agent.get("parentAgentId"))
        if not call:
            return None
        return Ref(call, session=_below(main, above))

    def go_on(self, record: Record) -> Opening:
        """The continuation that begins after a compression."""
        cause = Ref(record.id, session=self.session)
        self._windows += 1
        self.session = f"{self._base or self.session}~{self._windows}"
        first = self._opening or Opening(session=self.session, agent=AGENT)
        self._opening = msgspec.structs.replace(
            first,
            session=self.session,
            kind=SessionKind.CONTINUATION,
            parent=cause,
            ts=record.text("timestamp"),
        )
        return self._opening

    def follow(self, record: Record) -> None:
        """Go to where the record's parent ended, if it does not simply follow the record before."""
        above = record.text("parentUuid")
        if above in self._ends and self._ends[above] != self.trail.end(self.session):
            self.trail.turn_back(self.session, self._ends[above])

    def leave(self, record: Record) -> None:
        """Remember where a record ended."""
        self._ends[record.id] = self.trail.end(self.session)


def _below(main: str, agent: str | None) -> str:
    """The session of a sub-agent; without one, that of the chat."""
    if agent is None:
        return main
    return f"{main}/{agent}"

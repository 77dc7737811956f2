"""A Codex thread while it is read: the session it is, and what later lines need to know of earlier ones.

Owns how a thread becomes sessions: its ancestry, the continuation that a compaction begins, history copied from another
thread. Must not know how items and events are spelled.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.codex.line import Line, known
from tallystick.agents.codex.outcomes import Outcome
from tallystick.agents.codex.responses import Responses
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import dict_of, text_of
from tallystick.model.step import Event, Json, Opening, Ref, SessionKind

AGENT = "codex"


class Thread:
    """One rollout file."""

    def __init__(self, name: str) -> None:
        self.id = self.session = name
        self.opened = False
        self.kind = SessionKind.ROOT
        self.responses = Responses()
        self.settings: dict[str, Json] | None = None
        """What the last turn ran under."""
        self.windows = self.announced = 0
        """Compactions so far, by the lines that are them and by those that announce them."""
        self.called: dict[str, str | None] = {}
        """The tool of each call so far."""
        self.answered: set[str] = set()
        self.outcomes: dict[str, Outcome] = {}
        """How calls ended whose result has not come yet."""
        self.script: str | None = None
        """The call whose script is running: calls that the model does not know are made by it."""
        self._about: dict[str, Json] = {}
        self._where: dict[str, Json] = {}
        self._prompts: list[str | None] = []

    def open(self, header: dict[str, Json], ts: str | None) -> Iterator[Opening]:
        """Open the session that `header` describes; an empty one if the file has lost it."""
        self.opened = True
        self.id = self.session = text_of(header.get("id")) or self.id
        self.kind, parent = _ancestry(header, self.id)
        self._about, self._where = _about(header), _where(header)
        yield self._opening(self.kind, parent, ts)

    def compact(self, line: Line, summary: str | None) -> Iterator[Event]:
        """End the session at a compaction, and open its continuation."""
        old, values = self.session, {"content.text": summary or None}
        yield from self.responses.told(self.at(line, line.at).step("compaction", {}, values))
        yield from self.responses.told(self.at(line, f"{line.at}/end").step("session_end", {"reason": "compaction"}))
        self.windows += 1
        self.session = f"{self.id}~{self.windows}"
        self._prompts.clear()
        yield self._opening(SessionKind.CONTINUATION, Ref(line.at, session=old), line.ts)

    def prompted(self) -> None:
        """Someone is about to give a prompt; what came before is where a rollback returns to."""
        self._prompts.append(self.responses.trail.end(self.session))

    def roll_back(self, prompts: int) -> None:
        """Take back the last prompts and what came of them."""
        for _ in range(min(prompts, len(self._prompts))):
            self.responses.trail.turn_back(self.session, self._prompts.pop())

    def turn(self, payload: dict[str, Json]) -> None:
        """A turn begins, or says what it runs under."""
        turn = text_of(payload.get("turn_id"))
        self.responses.run = text_of(payload.get("root_turn_id")) or turn
        # Both ids begin with their time: a turn older than its thread was copied from another one.
        if turn is None or len(turn) != len(self.id) or turn > self.id:
            self.responses.copied = False

    def at(self, line: Line, source_id: str) -> Point:
        """The point of a step of this thread's session, at the time of `line`."""
        point = Point(self.session, source_id, line.ts)
        if self.responses.copied:
            return msgspec.structs.replace(point, common={"copied": True})
        return point

    def _opening(self, kind: SessionKind, parent: Ref | None, ts: str | None) -> Opening:
        about, where = self._about, self._where
        return Opening(session=self.session, agent=AGENT, kind=kind, parent=parent, ts=ts, meta=about, values=where)


def _ancestry(header: dict[str, Json], thread: str) -> tuple[SessionKind, Ref | None]:
    """How a thread hangs in the tree: below its parent's `subagent_start`, or forked off another thread's end."""
    spawned = dict_of(header.get("source")).get("subagent")
    spawn = dict_of(dict_of(spawned).get("thread_spawn"))
    parent = text_of(header.get("parent_thread_id")) or text_of(spawn.get("parent_thread_id"))
    if parent:
        return SessionKind.CHILD, Ref(f"{thread}/start", session=parent)
    if spawned is not None or header.get("thread_source") == "subagent":
        return SessionKind.CHILD, None
    forked = text_of(header.get("forked_from_id"))
    if forked:
        return SessionKind.FORK, Ref(session=forked)
    return SessionKind.ROOT, None


def _about(header: dict[str, Json]) -> dict[str, Json]:
    """What the header says of the program."""
    provenance = dict_of(dict_of(header.get("base_instructions")).get("provenance"))
    return known(
        agent_version=text_of(header.get("cli_version")),
        originator=text_of(header.get("originator")),
        entry=text_of(header.get("source")),
        provider=text_of(header.get("model_provider")),
        model=text_of(provenance.get("model")),
        agent_role=text_of(header.get("agent_role")),
    )


def _where(header: dict[str, Json]) -> dict[str, Json]:
    """What the header says of the place."""
    git = dict_of(header.get("git"))
    places = {
        "personal.cwd": header.get("cwd"),
        "content.branch": git.get("branch"),
        "content.commit": git.get("commit_hash"),
        "content.url": git.get("repository_url"),
        "content.label": header.get("agent_path") or header.get("agent_nickname"),
    }
    return {name: value for name, value in places.items() if isinstance(value, str)}

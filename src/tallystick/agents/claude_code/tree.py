"""The tree of sessions in a Claude Code transcript: which conversation a line belongs to, and what spawned it.

Owns the naming of sessions and sub-agents, and the search for the call that started one. Must not know how the steps of
a conversation are ordered or what they say.
"""

from __future__ import annotations

import posixpath
from typing import TypeAlias

import msgspec

from tallystick.agents import SourceFile
from tallystick.agents.claude_code.draft import Place
from tallystick.agents.claude_code.thread import Places, Thread, newest
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import BadJson, dict_of, loads, text_of
from tallystick.model.step import Json, Opening, Ref, SessionKind

Key: TypeAlias = tuple[str, str]
"""The session id that a line names, and the sub-agent in it; "" for the main conversation."""

META = "{stem}.meta.json"
AGENT = "claude-code"

_MOST_SPAWNS = 10_000
_SPAWNING_TOOLS = ("Agent", "Task")
_SPAWNED_BY = ("parentToolUseID", "parentToolUseId", "parent_tool_use_id")


class _Spawn(msgspec.Struct):
    """A call that starts a sub-agent."""

    session: str
    prompt: str | None
    role: str | None
    label: str | None
    is_claimed: bool = False


class Tree:
    """The conversations of one file."""

    def __init__(self, file: SourceFile) -> None:
        self.threads: dict[Key, Thread] = {}
        self._by_session: dict[str, Thread] = {}
        self._spawns: dict[str, _Spawn] = {}
        self._call_of_agent: dict[str, str] = {}
        self._side_chains: dict[str, Key] = {}
        folder, name = posixpath.split(file.path)
        stem = name.rpartition(".")[0] or name
        if stem.startswith("agent-"):
            self._file_agent = stem.removeprefix("agent-")
        else:
            self._file_agent = ""
        self._file_meta = _companion(file)
        above = folder.rpartition("/subagents")[0]
        if self._file_agent and above:
            self._session = posixpath.basename(above)
        else:
            self._session = stem

    def key_of(self, line: dict[str, Json], line_id: str | None, places: Places) -> Key:
        """The conversation of a line; it need not have begun yet."""
        session = text_of(line.get("sessionId"))
        if session:
            self._session = session
        if line.get("isSidechain") is not True and not self._file_agent:
            return self._session, ""
        agent = text_of(line.get("agentId")) or self._file_agent
        if agent:
            return self._session, agent
        return self._side_chain(line, line_id, places)

    def main(self, session: str | None) -> Thread | None:
        """The main conversation of a session, as lines or journals name it; of the file's first session if None."""
        if session is not None:
            return self.threads.get((session.partition("~")[0].partition("/")[0], ""))
        return next((thread for thread in self.threads.values() if not thread.is_child), None)

    def id_at(self, offset: int, line: dict[str, Json]) -> str:
        """An id for a line without one: its place in the file, made unique among sessions."""
        return f"{text_of(line.get('sessionId')) or self._session}/@{offset}"

    def _side_chain(self, line: dict[str, Json], line_id: str | None, places: Places) -> Key:
        """Older versions wrote sub-agents into the main file without an id: they hang together by their parents."""
        place = places.get(text_of(line.get("parentUuid")))
        thread = None
        if place is not None:
            thread = self._by_session.get(place[0].partition("~")[0])
        if thread is not None and thread.is_child:
            return thread.root, thread.base.removeprefix(f"{thread.root}/")
        newest = self._side_chains.get(self._session)
        if newest is not None and line.get("parentUuid", "") is not None:
            return newest
        return self._session, f"sidechain-{line_id}"

    def open(self, key: Key, line: dict[str, Json], place: Place | None, text: str) -> tuple[Thread, Opening]:
        """A conversation that begins with `line`; `place` is the step that the line follows, `text` what it says."""
        root, agent = key
        thread = Thread(root, agent, shows_calls_only=line.get("isProgress") is True)
        self.threads[key] = thread
        self._by_session[thread.base] = thread
        if agent.startswith("sidechain-"):
            self._side_chains[root] = key
        if agent:
            opening = self._child(thread, agent, line, text)
        else:
            opening = self._root(thread, line, place)
        return thread, opening

    def _root(self, thread: Thread, line: dict[str, Json], place: Place | None) -> Opening:
        parent = None
        if place is not None:
            parent = Ref(place[1], place[0])
        return Opening(
            session=thread.session,
            agent=AGENT,
            kind=SessionKind.ROOT if parent is None else SessionKind.FORK,
            parent=parent,
            ts=text_of(line.get("timestamp")),
            meta=opening_meta(line),
            values=where(line),
        )

    def _child(self, thread: Thread, agent: str, line: dict[str, Json], text: str) -> Opening:
        if agent == self._file_agent:
            said = self._file_meta
        else:
            said = {}
        call, spawn = self._spawn_of(agent, line, said, text)
        nested = text_of(said.get("parentAgentId"))
        if spawn is not None:
            spawner = spawn.session
        elif nested:
            spawner = f"{thread.root}/{nested}"
        else:
            spawner = thread.root
        role = text_of(said.get("agentType")) or (spawn.role if spawn is not None else None)
        label = text_of(said.get("description")) or (spawn.label if spawn is not None else None)
        more = {
            "agent_role": role,
            "model": text_of(said.get("model")),
            "parent_session": spawner if call is None else None,
            "partial": True if thread.shows_calls_only else None,
        }
        return Opening(
            session=thread.session,
            agent=AGENT,
            kind=SessionKind.CHILD,
            parent=Ref(call, spawner) if call is not None else None,
            ts=text_of(line.get("timestamp")),
            meta={**opening_meta(line), **known(more)},
            values={**where(line), **known({"content.label": label})},
        )

    def _spawn_of(
        self, agent: str, line: dict[str, Json], said: dict[str, Json], text: str
    ) -> tuple[str | None, _Spawn | None]:
        """The call that started a sub-agent, by the surest evidence there is; and what is known of it."""
        call = text_of(said.get("toolUseId"))
        for name in _SPAWNED_BY:
            call = call or text_of(line.get(name))
        call = call or self._call_of_agent.get(agent) or self._call_with(text)
        spawn = None
        if call is not None:
            spawn = self._spawns.get(call)
        if spawn is not None:
            spawn.is_claimed = True
        return call, spawn

    def _call_with(self, prompt: str) -> str | None:
        """The first call with this prompt of which no sub-agent is known."""
        if not prompt:
            return None
        found = (call for call, spawn in self._spawns.items() if spawn.prompt == prompt and not spawn.is_claimed)
        return next(found, None)

    def note_call(self, call: str, session: str, tool: Json, args: Json) -> None:
        """A call was made: it may start a sub-agent."""
        if tool in _SPAWNING_TOOLS:
            said = dict_of(args)
            self._spawns = newest(self._spawns, _MOST_SPAWNS)
            self._spawns[call] = _Spawn(
                session,
                text_of(said.get("prompt")),
                text_of(said.get("subagent_type")),
                text_of(said.get("description")),
            )

    def note_agent(self, agent: str, call: str) -> None:
        """A call's result names the sub-agent it started."""
        self._call_of_agent[agent] = call


def opening_meta(line: dict[str, Json]) -> dict[str, Json]:
    """The members of a `session_start`."""
    return known({"agent_version": text_of(line.get("version")), "entrypoint": text_of(line.get("entrypoint"))})


def where(line: dict[str, Json]) -> dict[str, Json]:
    """The folder and the branch of a line, as values."""
    return known({"personal.cwd": text_of(line.get("cwd")), "content.branch": text_of(line.get("gitBranch")) or None})


def _companion(file: SourceFile) -> dict[str, Json]:
    try:
        return dict_of(loads(file.companions.get(META, b"{}")).value)
    except BadJson:
        return {}

"""Which sessions of a store are a part of which, for coverage: sub-agents, and the calls that started them.

Owns reading the first step of each journal, once, when it is first asked for. Computed from the journals, never from the
index. Must not know what is missing where one is not there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

import msgspec

from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.journal.read import read_file, read_session
from tallystick.model.recorded import Recorded


class _Start(msgspec.Struct, frozen=True):
    """How a session begins: `root` is the agent's id of the session that it is a part of, however deep."""

    session: str
    source_session: str
    root: str
    is_child: bool
    parent: str
    """The journal of the session that it names as its parent; empty if it names none, or the agent's id alone."""
    step: str
    """The hash of the step at which it began."""
    claimed: str
    """The agent's id of its parent."""


class Family:
    """The sub-agents of the sessions of a store."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._made: dict[str, dict[str, int]] = {}
        """By session: how many calls its sub-agents made, by their ids."""

    def spawned_by(self, session: str) -> tuple[str, ...]:
        """For each sub-agent of a session, the hash of the step of it at which it began; empty if no one says."""
        return tuple(start.step for start in self._children.get(session, ()))

    def unplaced_near(self, session: str, tools: Collection[str]) -> int:
        """How many sub-agents of the other sessions of its tree began at no call of a tool that starts some.

        Hooks tell the sub-agent of a sub-agent as the root's.
        """
        own = self._starts.get(session)
        near = [start.session for start in self._starts.values() if own is not None and start.root == own.root]
        count = 0
        for other in near:
            spawned = self.spawned_by(other)
            if other != session and spawned:
                calls = {step.hash for step in read_session(self._home, other) if _starts_one(step, tools)}
                count += sum(step not in calls for step in spawned)
        return count

    def calls_made(self, session: str) -> int | None:
        """How many calls a sub-agent made, as the result in its parent's session says; None if that is not said."""
        start = self._starts.get(session)
        if start is None or not start.parent:
            return None
        if start.parent not in self._made:
            self._made[start.parent] = dict(_calls_of_agents(read_session(self._home, start.parent)))
        return self._made[start.parent].get(start.source_session.partition("/")[2].partition("~")[0])

    @cached_property
    def _starts(self) -> dict[str, _Start]:
        found: dict[str, _Start] = {}
        for sid, path in self._home.sessions():
            try:
                found[sid] = _start_of(next(read_file(self._home, path)).step)
            except (StopIteration, TallystickError):
                continue
        return found

    @cached_property
    def _children(self) -> dict[str, list[_Start]]:
        names = {start.source_session: sid for sid, start in self._starts.items()}
        found: dict[str, list[_Start]] = defaultdict(list)
        for start in self._starts.values():
            if start.is_child:
                found[start.parent or names.get(start.claimed, "")].append(start)
        return found


def _calls_of_agents(steps: Iterable[Recorded]) -> Iterator[tuple[str, int]]:
    for step in steps:
        agent, calls = step.meta.get("agent_id"), step.meta.get("agent_calls")
        if isinstance(agent, str) and isinstance(calls, int):
            yield agent, calls


def _starts_one(step: Recorded, tools: Collection[str]) -> bool:
    return step.type == "tool_call" and step.member("tool") in tools


def _start_of(step: Recorded) -> _Start:
    name = str(step.member("source_session"))
    parent, digest = "", ""
    if step.parents:
        parent, _, digest = step.parents[0].rpartition("#")
    claimed = step.member("parent_session")
    source = step.member("parent_source")
    if isinstance(source, dict):
        claimed = source.get("session")
    root = name.partition("~")[0].partition("/")[0]
    return _Start(step.session, name, root, step.member("kind") == "child", parent, digest, str(claimed or ""))

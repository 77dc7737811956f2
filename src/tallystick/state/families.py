"""Which sessions belong together: a session, its continuations and its sub-agents.

Owns the forest of sessions as their first entries report it. In whatever order these come, the families are the same,
and each session costs the same. Must not know files, nor where else a session could be looked up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from tallystick.model.recorded import Recorded

_PARTS = frozenset(("child", "continuation"))
"""Kinds of sessions that are not a family of their own."""

Family: TypeAlias = tuple[str, str]
"""The agent, and its own id of the session that the others belong to."""


class Start(msgspec.Struct, frozen=True):
    """What the first entry of a journal says."""

    sid: str
    agent: str
    source: str
    """The agent's own id of the session."""
    parent: str | None = None
    """Our id of the session that it belongs to."""
    claimed: str | None = None
    """Or the agent's own id of it."""

    @property
    def name(self) -> Family:
        """What it has in common with its own continuations and the sub-agents that are named after it."""
        return self.agent, base_of(self.source)

    @property
    def is_part(self) -> bool:
        """Whether it belongs to another session."""
        return self.parent is not None or self.claimed is not None


def base_of(session: str) -> str:
    """The id that continuations (`ID~2`) and sub-agents (`ID/agent`) have in common: docs/format.md 7 and 13.1."""
    return session.partition("/")[0].partition("~")[0] or session


def start_of(step: Recorded) -> Start | None:
    """What a first entry says; None where it names no agent."""
    agent, source = step.member("agent"), step.member("source_session")
    if not isinstance(agent, str):
        return None
    if not isinstance(source, str):
        source = step.session
    if step.member("kind") not in _PARTS:
        return Start(step.session, agent, source)
    parent = next((sid for sid, mark, _ in (one.partition("#") for one in step.parents) if mark), None)
    claim = step.member("parent_source")
    claimed = None
    if isinstance(claim, dict):
        claimed = claim.get("session")
    return Start(step.session, agent, source, parent, claimed if isinstance(claimed, str) else None)


class _Group:
    """One family: the names of its sessions, those of them that belong to no other, and its journals."""

    def __init__(self, name: Family) -> None:
        self.names = {name}
        self.tops = {name}
        self.starts: dict[str, Start] = {}

    @property
    def family(self) -> Family:
        """The name of the session that the others belong to. In a circle it is one of them, always the same."""
        return min(self.tops or self.names)

    def take_in(self, other: _Group) -> None:
        """Become one with another family."""
        self.names |= other.names
        self.tops |= other.tops
        self.starts |= other.starts


class Forest:
    """Sessions by family. Not safe for several threads."""

    def __init__(self) -> None:
        self._starts: dict[str, Start] = {}
        self._groups: dict[Family, _Group] = {}
        self._waiting: dict[str, list[Family]] = {}

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, start: Start) -> None:
        """Take a session in."""
        if start.sid in self._starts:
            return
        self._starts[start.sid] = start
        self._group(start.name).starts[start.sid] = start
        for below in self._waiting.pop(start.sid, ()):
            self._put_below(below, start.name)
        if start.parent is not None:
            self._put_below_sid(start.name, start.parent)
        elif start.claimed is not None:
            self._put_below(start.name, (start.agent, base_of(start.claimed)))

    def start(self, sid: str) -> Start | None:
        """What the first entry of a session says, if it is known."""
        return self._starts.get(sid)

    def starts(self) -> Iterator[Start]:
        """All sessions that are known."""
        yield from self._starts.values()

    def family(self, name: Family) -> Family:
        """The family that sessions with a name belong to."""
        group = self._groups.get(name)
        if group is None:
            return name
        return group.family

    def members(self, name: Family) -> list[Start]:
        """The known sessions of the family that a name belongs to, in the order of their ids."""
        group = self._groups.get(name)
        if group is None:
            return []
        return [group.starts[sid] for sid in sorted(group.starts)]

    def names(self, name: Family) -> frozenset[Family]:
        """All names of sessions in the family that a name belongs to."""
        group = self._groups.get(name)
        if group is None:
            return frozenset((name,))
        return frozenset(group.names)

    def _group(self, name: Family) -> _Group:
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = _Group(name)
        return group

    def _put_below_sid(self, name: Family, parent: str) -> None:
        above = self._starts.get(parent)
        if above is None:
            self._waiting.setdefault(parent, []).append(name)
        else:
            self._put_below(name, above.name)

    def _put_below(self, name: Family, above: Family) -> None:
        """A session belongs to another one: their families are one. The smaller is taken in: so all of them cost little."""
        if name == above:
            return
        one, other = self._group(name), self._group(above)
        one.tops.discard(name)
        if one is other:
            return
        small, large = sorted((one, other), key=lambda group: len(group.names) + len(group.starts))
        large.take_in(small)
        for moved in small.names:
            self._groups[moved] = large

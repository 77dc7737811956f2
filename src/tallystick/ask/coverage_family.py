"""Which sessions of a store are a part of which, for coverage: sub-agents and continuations.

Owns reading the first step of each journal, once, when it is first asked for. Computed from the journals, never from the
index. Must not know what is missing where one is not there.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.journal.read import read_file


class Family:
    """The children of the sessions of a store."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def spawned_by(self, session: str) -> tuple[str, ...]:
        """For each sub-agent of a session, the hash of the step of it at which it began; empty if no one says."""
        return tuple(self._children.get(session, ()))

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        """By session: the step at which each of its sub-agents began, empty for one that names the session only."""
        found: dict[str, list[str]] = defaultdict(list)
        names: dict[str, str] = {}
        claims: list[str] = []
        for sid, path in self._home.sessions():
            try:
                start = next(read_file(self._home, path)).step
            except (StopIteration, TallystickError):
                continue
            names[str(start.member("source_session"))] = sid
            if start.member("kind") != "child":
                continue
            if start.parents:
                parent, _, digest = start.parents[0].rpartition("#")
                found[parent].append(digest)
            elif isinstance(start.member("parent_session"), str):
                claims.append(str(start.member("parent_session")))
        for claimed in claims:
            found[names.get(claimed, "")].append("")
        return found

"""Which journals belong together when a call is judged: a session, its continuations and its sub-agents.

Owns finding them quickly by the agent's own id, also those that the index does not have yet, and whose work is not that of
"another session". Must not know what is in a journal but its first entry.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec

from tallystick.errors import TallystickError
from tallystick.graph.authorship import journals_named, name_of_session
from tallystick.graph.graph import Graph
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.model.ids import SESSION_ID
from tallystick.model.recorded import Recorded

_MOST_AT_FIRST = 256
_MOST_KNOWN = 20_000
_MOST_UP = 8
_FRESH_NS = 50_000_000
"""A folder that changed so short a time ago may change again without its time saying so."""
_FAMILY = frozenset(("child", "continuation"))

_T = TypeVar("_T")

Family: TypeAlias = tuple[str, str]
"""The agent, and its own id of the session that the others belong to."""


class Start(msgspec.Struct, frozen=True):
    """What the first entry of a journal says."""

    sid: str
    path: Path
    agent: str
    source: str
    parent: str | None = None
    """Our id of the session that it belongs to."""
    claimed: str | None = None
    """Or the agent's own id of it."""


class SessionFamilies:
    """The journals of a store by family. Reads names of files, and first lines of those that are new."""

    def __init__(self, home: Home, ask: Callable[[], Graph | None]) -> None:
        """`ask` gives the open index, None where none exists."""
        self._home = home
        self._ask = ask
        self._starts: dict[str, Start] = {}
        self._by_family: dict[Family, dict[str, Start]] = {}
        self._names: set[str] = set()
        self._seen: dict[str, int] = {}
        self._asked: set[Family] = set()

    def family(self, agent: str, session: str) -> Family:
        """The family that a session of an agent belongs to."""
        self._look()
        own = (agent, _base(session))
        if own not in self._by_family and own not in self._asked:
            self._ask_index(own)
        start = next((start for start in self._by_family.get(own, {}).values() if start.source == session), None)
        if start is not None:
            return self._root(start)
        return own

    def family_of(self, sid: str) -> Family | None:
        """The family of a journal, None where it is not known."""
        start = self._starts.get(sid)
        if start is None:
            start = self._from_index(sid)
        if start is None:
            return None
        return self._root(start)

    def journals(self, family: Family) -> list[Start]:
        """The journals of a family, as far as they are known."""
        return list(self._by_family.get(family, {}).values())

    def newest(self, most: int) -> list[Family]:
        """The families whose journals were written to last."""
        self._look()
        written: dict[Family, float] = {}
        for start in self._starts.values():
            try:
                at = start.path.stat().st_mtime
            except OSError:
                continue
            family = self._root(start)
            written[family] = max(at, written.get(family, 0.0))
        return sorted(written, key=lambda family: -written[family])[:most]

    # Families -------------------------------------------------------------------------------------------------------

    def _root(self, start: Start) -> Family:
        for _ in range(_MOST_UP):
            parent = self._parent(start)
            if parent is None:
                break
            start = parent
        return start.agent, _base(start.source)

    def _parent(self, start: Start) -> Start | None:
        if start.parent is not None:
            return self._starts.get(start.parent) or self._from_index(start.parent)
        if start.claimed is None or _base(start.claimed) == _base(start.source):
            return None
        return next(iter(self._by_family.get((start.agent, _base(start.claimed)), {}).values()), None)

    def _add(self, start: Start) -> None:
        if len(self._starts) >= _MOST_KNOWN:
            self._starts.clear()
            self._by_family.clear()
            self._asked.clear()
        self._starts[start.sid] = start
        self._by_family.setdefault((start.agent, _base(start.source)), {})[start.sid] = start
        self._by_family.setdefault(self._root(start), {})[start.sid] = start
        if any(_may_hang_on(other, start) for other in self._starts.values()):  # those were read before it
            for other in self._starts.values():
                self._by_family.setdefault(self._root(other), {})[other.sid] = other

    # Journals that are new ------------------------------------------------------------------------------------------

    def _look(self) -> None:
        is_first = not self._seen
        found: list[tuple[int, str, str]] = []
        for folder in self._folders():
            found += self._new_in(folder)
        if is_first:
            self._names.update(name for _, _, name in found)
            found = sorted(found, reverse=True)[:_MOST_AT_FIRST]
        for _, folder, name in sorted(found):
            self._names.add(name)
            self._read(name, Path(folder, f"{name}.jsonl"))

    def _folders(self) -> Iterator[str]:
        """The folders of the newest months."""
        for year in islice(_names_in(str(self._home.journals)), 2):
            yield from islice(_names_in(year), 2)

    def _new_in(self, folder: str) -> list[tuple[int, str, str]]:
        try:
            changed = os.stat(folder).st_mtime_ns  # noqa: PTH116 - a Path costs more than the question
            if self._seen.get(folder) == changed:
                return []
            found = [
                (entry.stat().st_mtime_ns, folder, entry.name[:-6])
                for entry in os.scandir(folder)
                if entry.name.endswith(".jsonl") and entry.name[:-6] not in self._names
            ]
        except OSError:
            return []
        self._seen[folder] = 0 if time.time_ns() - changed < _FRESH_NS else changed
        return [one for one in found if SESSION_ID.match(one[2])]

    def _read(self, sid: str, path: Path) -> None:
        start = _start(sid, path, read_at(self._home, path, 0))
        if start is not None:
            self._add(start)
        else:
            self._names.discard(sid)  # its first line is not whole yet

    # The index ------------------------------------------------------------------------------------------------------

    def _ask_index(self, family: Family) -> None:
        """Sessions that are older than what was looked at."""
        self._asked.add(family)
        for sid in self._answer(lambda graph: journals_named(graph, *family)):
            if sid not in self._starts and (path := self._home.journal(sid)) is not None:
                self._names.add(sid)
                self._read(sid, path)

    def _from_index(self, sid: str) -> Start | None:
        for agent, source, parent in self._answer(lambda graph: name_of_session(graph, sid)):
            start = Start(sid, Path(), agent, source, parent)
            self._starts[sid] = start
            return start
        return None

    def _answer(self, question: Callable[[Graph], list[_T]]) -> list[_T]:
        graph = self._ask()
        try:
            if graph is not None:
                return question(graph)
            return []
        except TallystickError:
            return []


def _may_hang_on(start: Start, above: Start) -> bool:
    return start.parent == above.sid or (start.claimed is not None and _base(start.claimed) == _base(above.source))


def _base(session: str) -> str:
    """The id that continuations (`ID~2`) and sub-agents (`ID/agent`) have in common: docs/format.md 7 and 13.1."""
    return session.partition("/")[0].partition("~")[0] or session


def _names_in(folder: str) -> Iterator[str]:
    """The folders in a folder whose names are numbers, the highest first."""
    try:
        names = sorted((name for name in os.listdir(folder) if name.isdigit()), reverse=True)  # noqa: PTH208
    except OSError:
        return
    yield from (f"{folder}/{name}" for name in names)


def _start(sid: str, path: Path, step: Recorded | None) -> Start | None:
    if step is None:
        return None
    agent, source = step.member("agent"), step.member("source_session")
    if not isinstance(agent, str):
        return None
    if not isinstance(source, str):
        source = sid
    if step.member("kind") not in _FAMILY:
        return Start(sid, path, agent, source)
    parent = next((sid for sid, mark, _ in (one.partition("#") for one in step.parents) if mark), None)
    claim = step.member("parent_source")
    claimed = None
    if isinstance(claim, dict):
        claimed = claim.get("session")
    return Start(sid, path, agent, source, parent, claimed if isinstance(claimed, str) else None)

"""Which journals belong together when a call is judged, as far as a store has them.

Owns finding journals quickly by the agent's own id, also those that the index does not have yet. What belongs together is
`state.families`'. Must not know what is in a journal but its first entry.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from tallystick.errors import TallystickError
from tallystick.graph.authorship import journals_named, name_of_session
from tallystick.graph.graph import Graph
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.model.ids import SESSION_ID
from tallystick.state.families import Family, Forest, Start, base_of, start_of

_MOST_AT_FIRST = 256
_MOST_KNOWN = 20_000
_MOST_ASKED = 32
"""So many names of a family are looked up in the index for one call; the others, for the next ones."""
_FRESH_NS = 50_000_000
"""A folder that changed so short a time ago may change again without its time saying so."""

_T = TypeVar("_T")


class FamilyJournal(NamedTuple):
    """A journal of a family: what its first entry says, and where it lies."""

    start: Start
    path: Path


class SessionFamilies:
    """The journals of a store by family. Reads names of files, and first lines of those that are new."""

    def __init__(self, home: Home, ask: Callable[[], Graph | None]) -> None:
        """`ask` gives the open index, None where none exists."""
        self._home = home
        self._ask = ask
        self._forget()

    def _forget(self) -> None:
        self._forest = Forest()
        self._paths: dict[str, Path] = {}
        self._unplaced: set[str] = set()
        """Sessions that only the index told of: their journals are older than those that were looked at."""
        self._names: set[str] = set()
        self._seen: dict[str, int] = {}
        self._inner: dict[str, tuple[int, list[str]]] = {}
        """Folders of years and of months, by what they are in, and when that had changed."""
        self._asked: set[Family] = set()
        self._journals: dict[Family, tuple[FamilyJournal, ...]] = {}
        """Of families that were asked for, until another session or journal becomes known."""

    def family(self, agent: str, session: str) -> Family:
        """The family that a session of an agent belongs to."""
        self._look()
        name = (agent, base_of(session))
        for _ in range(_MOST_ASKED):
            wanted = min(self._forest.names(name) - self._asked, default=None)
            if wanted is None:
                break
            self._ask_index(wanted)
        return self._forest.family(name)

    def family_of(self, sid: str) -> Family | None:
        """The family of a journal, None where it is not known."""
        start = self._forest.start(sid) or self._from_index(sid)
        if start is None:
            return None
        return self._forest.family(start.name)

    def journals(self, family: Family) -> tuple[FamilyJournal, ...]:
        """The journals of a family, as far as they are known."""
        known = self._journals.get(family)
        if known is None:
            known = self._journals[family] = tuple(self._found(family))
        return known

    def _found(self, family: Family) -> Iterator[FamilyJournal]:
        members = self._forest.members(family)
        if self._unplaced and any(start.sid in self._unplaced for start in members):
            self._place()
        return (FamilyJournal(start, self._paths[start.sid]) for start in members if start.sid in self._paths)

    def newest(self, most: int) -> list[Family]:
        """The families whose journals were written to last."""
        self._look()
        written: dict[Family, float] = {}
        for start in self._forest.starts():
            path = self._paths.get(start.sid)
            if path is None:
                continue
            try:
                at = path.stat().st_mtime
            except OSError:
                continue
            family = self._forest.family(start.name)
            written[family] = max(at, written.get(family, 0.0))
        return sorted(written, key=lambda family: -written[family])[:most]

    # What is known --------------------------------------------------------------------------------------------------

    def _add(self, start: Start, path: Path) -> None:
        self._paths[start.sid] = path
        self._unplaced.discard(start.sid)
        self._forest.add(start)
        self._journals.clear()
        above: Start | None = start
        while above is not None and above.parent is not None and self._forest.start(above.parent) is None:
            above = self._from_index(above.parent)

    def _place(self) -> None:
        """Find the journals of sessions that only the index told of."""
        self._home.files()  # or each of them would look through all folders
        for sid in self._unplaced:
            path = self._home.journal(sid)
            if path is not None:
                self._paths[sid] = path
                self._names.add(sid)
        self._unplaced.clear()
        self._journals.clear()

    # Journals that are new ------------------------------------------------------------------------------------------

    def _look(self) -> None:
        if len(self._forest) >= _MOST_KNOWN:
            self._forget()
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
        for year in self._numbered(str(self._home.journals)):
            yield from self._numbered(year)

    def _numbered(self, folder: str) -> list[str]:
        """The two folders in a folder that have the highest numbers. It is read again when it has changed."""
        try:
            changed = os.stat(folder).st_mtime_ns  # noqa: PTH116 - a Path costs more than the question
        except OSError:
            return []
        known = self._inner.get(folder)
        if known is not None and known[0] == changed:
            return known[1]
        found = _names_in(folder)[:2]
        self._inner[folder] = (_lasting(changed), found)
        return found

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
        self._seen[folder] = _lasting(changed)
        return [one for one in found if SESSION_ID.match(one[2])]

    def _read(self, sid: str, path: Path) -> None:
        first = read_at(self._home, path, 0)
        start = None
        if first is not None:
            start = start_of(first)
        if start is not None and start.sid == sid:
            self._add(start, path)
        else:
            self._names.discard(sid)  # its first line is not whole yet

    # The index ------------------------------------------------------------------------------------------------------

    def _ask_index(self, family: Family) -> None:
        """Sessions that are older than what was looked at."""
        self._asked.add(family)
        for sid in self._answer(lambda graph: journals_named(graph, *family)):
            if sid not in self._paths and (path := self._home.journal(sid)) is not None:
                self._names.add(sid)
                self._read(sid, path)

    def _from_index(self, sid: str) -> Start | None:
        for agent, source, parent in self._answer(lambda graph: name_of_session(graph, sid)):
            start = Start(sid, agent, source, parent)
            self._forest.add(start)
            self._unplaced.add(sid)
            self._journals.clear()
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


def _lasting(changed_ns: int) -> int:
    """The time of a folder's change to compare with later; one that no folder has, if it may change within the same tick."""
    if time.time_ns() - changed_ns < _FRESH_NS:
        return 0
    return changed_ns


def _names_in(folder: str) -> list[str]:
    """The folders in a folder whose names are numbers, the highest first."""
    try:
        names = sorted((name for name in os.listdir(folder) if name.isdigit()), reverse=True)  # noqa: PTH208
    except OSError:
        return []
    return [f"{folder}/{name}" for name in names]

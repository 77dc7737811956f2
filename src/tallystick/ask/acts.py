"""The newest acts of all sessions, oldest first: what `tally log` shows.

Owns finding them: which steps are read, that a call is whole although only its result was found, that each act has the prompt
that it was for, and that sessions of sub-agents are one line each, with what was refused in them. How acts are shown is
display's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import msgspec

from tallystick.display.acts import Kind, act_row, refuses
from tallystick.display.joining import Act, Joiner, joined
from tallystick.graph import timeline
from tallystick.graph.graph import Graph
from tallystick.graph.log import LogFilter
from tallystick.graph.log import log as page_of
from tallystick.graph.queries import SessionRow, sessions_of
from tallystick.graph.replay_tracks import tracks_of
from tallystick.graph.steps import StepEntry, from_index, get_step
from tallystick.graph.times import asked_time
from tallystick.journal.home import Home
from tallystick.journal.read import read_at, read_file
from tallystick.model.moments import epoch_time
from tallystick.model.recorded import Recorded
from tallystick.sessions.timeline import Track

_PAGE = 400
_MOST_PAGES = 25
_MOST_CHILDREN = 500
_NEVER_SHOWN = ("model_call", "usage", "sighting", "session_update", "attribution")
"""Types that are no act of their own and say nothing of another."""


class NewestAct(msgspec.Struct, frozen=True, kw_only=True):
    """An act, and the session that it is of. `folded` is the session of a sub-agent that it stands for."""

    act: Act
    session: SessionRow | None
    folded: Track | None = None
    is_lost: bool = False
    """Its first step is not in the journal where the index says."""


class NewestActs(msgspec.Struct, frozen=True):
    """Acts, oldest first, whether there are older ones, and how many steps their journals did not have."""

    rows: tuple[NewestAct, ...]
    has_more: bool
    lost: int


def newest_acts(home: Home, graph: Graph, wanted: LogFilter, *, whole: bool) -> NewestActs:
    """The newest acts that a filter takes, at most `wanted.limit`.

    Args:
        whole: nothing is filtered but sessions and times: sub-agents are folded, and no step is looked for beside others.
    """
    finder = _Finder(home, graph, wanted, whole=whole)
    acts, has_more = finder.acts()
    sessions = sessions_of(graph, {act.lead.session for act in acts})
    rows = (
        NewestAct(
            act=act,
            session=sessions.get(act.lead.session),
            folded=act.tag if isinstance(act.tag, Track) else None,
            is_lost=(act.lead.session, act.lead.n) in finder.lost,
        )
        for act in acts
    )
    return NewestActs(tuple(rows), has_more, len(finder.lost))


class _Finder:
    def __init__(self, home: Home, graph: Graph, wanted: LogFilter, *, whole: bool) -> None:
        self._home = home
        self._graph = graph
        self._wanted = wanted
        self._whole = whole
        self._steps: dict[tuple[str, int], tuple[Recorded, str]] = {}
        self.lost: set[tuple[str, int]] = set()

    def acts(self) -> tuple[list[Act], bool]:
        """The acts, oldest first, and whether there are more."""
        limit = self._wanted.limit
        cursor, found, has_more = None, list[Act](), False
        for _ in range(_MOST_PAGES):
            cursor = self._page(cursor)
            has_more = cursor is not None
            found = self._joined()
            if cursor is None or len(found) > limit:
                break
        found += self._below(found if has_more else [])
        found.sort(key=lambda act: act.at)
        shown = found[-limit:]
        shown += self._prompts(shown)
        shown.sort(key=lambda act: act.at)
        return shown, has_more or len(found) > limit

    def _page(self, before: object) -> object:
        """Read one page of steps; gives where the next one begins."""
        wanted = msgspec.structs.replace(
            self._wanted,
            limit=_PAGE,
            before=before,
            without=_NEVER_SHOWN if self._whole else (),
            without_children=self._whole and self._wanted.session is None,
        )
        page = page_of(self._graph, wanted)
        for entry, at_us in zip(page.steps, page.at_us, strict=True):
            self._read(entry, epoch_time(at_us / 1_000_000) or "")
        calls = {(entry.session, entry.corr) for entry in page.steps if entry.type == "tool_call"}
        for entry in page.steps:
            if entry.corr is not None and (not self._whole or (entry.session, entry.corr) not in calls):
                self._beside(entry)
        return page.next

    def _read(self, entry: StepEntry, at: str) -> None:
        key = entry.session, entry.n
        if key in self._steps:
            return
        path = self._home.journal(entry.session)
        step = None
        if path is not None:
            step = read_at(self._home, path, entry.offset)
        if step is None or step.hash != entry.hash:
            self.lost.add(key)
            step = from_index(entry)
        self._steps[key] = step, at

    def _beside(self, entry: StepEntry) -> None:
        numbers = [n for n in timeline.beside(self._graph, entry) if (entry.session, n) not in self._steps]
        if numbers:
            for other in timeline.picked(self._graph, entry.session, numbers):
                self._read(other, "")

    def _joined(self) -> list[Act]:
        joiner = Joiner(window=len(self._steps) + 1)
        for key in sorted(self._steps):
            step, at = self._steps[key]
            for _ in joiner.feed(step, at=at):
                pass
        return [act for act in joiner.end() if act_row(act.steps).kind is not Kind.QUIET]

    # Sessions of sub-agents -----------------------------------------------------------------------------------------

    def _below(self, found: Iterable[Act]) -> list[Act]:
        """One act for each session of a sub-agent that began meanwhile, and what was refused in them."""
        if not self._whole:
            return []
        first = min((act.at for act in found), default="")
        acts: list[Act] = []
        for track in self._children(first).values():
            if track.session == self._wanted.session:
                continue
            entry = get_step(self._graph, track.session, 0)
            if entry is not None and (track.started or "") >= first and self._is_in_time(track.started):
                path = self._home.journal(track.session)
                step = read_at(self._home, path, entry.offset) if path is not None else None
                acts.append(Act([step or from_index(entry)], track.started or first, not track.started, track))
            if track.counts is not None and track.counts.refusals:
                acts += (act for act in self._refusals(track) if act.at >= first and self._is_in_time(act.at))
        return acts

    def _children(self, first: str) -> Mapping[str, Track]:
        sql = "SELECT q.session_id FROM sessions q WHERE q.kind = 'child'"
        values: list[object] = []
        if first:
            sql += " AND q.last_event_at >= ?"
            values.append(asked_time(first) // 1000)
        if self._wanted.session is not None:
            sql += " AND q.parent_session = ?"
            values.append(self._wanted.session)
        if self._wanted.projects:
            sql += " AND q.cwd IN (SELECT value FROM json_each(?))"
            values.append(msgspec.json.encode(self._wanted.projects).decode())
        if self._wanted.agents:
            sql += f" AND q.agent_id IN ({', '.join('?' * len(self._wanted.agents))})"
            values += self._wanted.agents
        sql += " ORDER BY q.last_event_at DESC LIMIT ?"
        rows = self._graph.rows(sql, (*values, _MOST_CHILDREN))
        return tracks_of(self._graph, [row[0] for row in rows])

    def _is_in_time(self, at: str | None) -> bool:
        since, until = self._wanted.since, self._wanted.until
        return (since is None or (at or "") >= since) and (until is None or (at or "") < until)

    def _refusals(self, track: Track) -> Iterator[Act]:
        path = self._home.journal(track.session)
        if path is not None:
            steps = (placed.step for placed in read_file(self._home, path))
            yield from (act for act in joined(steps) if any(map(refuses, act.steps)))

    # Prompts --------------------------------------------------------------------------------------------------------

    def _prompts(self, shown: list[Act]) -> list[Act]:
        """The prompts that acts were for and that are not among them."""
        known = {(act.lead.session, act.lead.n) for act in shown}
        asked = {
            (act.lead.session, n)
            for act in shown
            if not isinstance(act.tag, Track) and type(n := act.lead.meta.get("request")) is int
        }
        missing: list[Act] = []
        for session, n in islice(sorted(asked - known), _MOST_CHILDREN):
            entry = get_step(self._graph, session, n)
            if entry is not None and entry.type == "user":
                self._read(entry, entry.ts or "")
                step, at = self._steps[session, n]
                missing.append(Act([step], at or shown[0].at, not at))
        return missing

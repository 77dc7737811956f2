"""Sessions as a replay takes them: the steps that they belong to, and how much each did.

Owns what is asked of the index for that. How they are put in order is `sessions.timeline`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tallystick.graph.family import whole_trees
from tallystick.graph.graph import Graph, Row
from tallystick.graph.queries import IN, PARENT, id_list
from tallystick.graph.steps import DENIED
from tallystick.sessions.timeline import Counts, Track

_TRACKS = (
    f"SELECT s.session_id, s.agent_id, s.source_session, s.kind, {PARENT}, s.parent_step, s.claimed_step, s.started,"
    " s.steps, s.tool_calls, s.failures,"
    " s.tokens_input + s.tokens_output + s.tokens_cache_read + s.tokens_cache_write,"
    f" (SELECT count(*) FROM steps r WHERE r.id >= s.first_id AND r.id < s.first_id + s.size AND {DENIED.format('r')})"
    f" FROM sessions s WHERE {IN} ORDER BY s.first_event_at, s.session_id"
)
_CLAIMED = "SELECT hash FROM steps INDEXED BY steps_source WHERE source_id = ? AND session_id = ? ORDER BY n LIMIT 1"


def tracks_of(graph: Graph, sessions: Iterable[str]) -> dict[str, Track]:
    """Some sessions, oldest first. Raises GraphError."""
    return {row[0]: _track(graph, row) for row in graph.rows(_TRACKS, (id_list(sessions),))}


def tracks_below(graph: Graph, sessions: Iterable[str]) -> dict[str, tuple[Track, ...]]:
    """The sessions that belong to some, at whatever depth, by the one that each belongs to, oldest first.

    Raises GraphError.
    """
    tops = list(sessions)
    links = whole_trees(graph, tops)
    children: dict[str, list[str]] = {}
    for link in links:
        if link.parent is not None:
            children.setdefault(link.parent, []).append(link.session)
    wanted = dict.fromkeys(_downwards(children, tops))
    below: dict[str, list[Track]] = {}
    for track in tracks_of(graph, wanted).values():
        below.setdefault(track.parent or "", []).append(track)
    return {parent: tuple(tracks) for parent, tracks in below.items()}


def _downwards(children: dict[str, list[str]], tops: list[str]) -> Iterator[str]:
    seen, waiting = set(tops), list(tops)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
                yield child


def _track(graph: Graph, row: Row) -> Track:
    session, agent, source, kind, parent, step, claimed_step, started, *counts = row
    if step is None and parent is not None and claimed_step is not None:
        found = graph.row(_CLAIMED, (claimed_step, parent))
        hangs_on = None
        if found is not None:
            hangs_on = found[0]
    else:
        hangs_on = step
    steps, tool_calls, failures, tokens, refusals = counts
    return Track(
        session=session,
        agent=agent,
        source_session=source,
        kind=kind,
        parent=parent,
        hangs_on=hangs_on,
        is_claimed=step is None and parent is not None,
        started=started,
        counts=Counts(steps=steps, tool_calls=tool_calls, failures=failures, tokens=tokens, refusals=refusals),
    )

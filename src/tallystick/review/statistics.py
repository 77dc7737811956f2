"""Statistics of what is to be replayed: of each session that was named, and of all together.

Owns which steps belong to which session's figures: those of its sub-agents go in, unless they are asked to stay out. What
is counted is sessions.statistics'.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from tallystick.review.replay_sources import Cast
from tallystick.sessions.figures import figures
from tallystick.sessions.spending import Pricing
from tallystick.sessions.statistics import Counted, Statistics, summary
from tallystick.sessions.timeline import Track

SUB_AGENT = "child"
"""The kind of the session of a sub-agent. Continuations and forks are sessions of their own."""


class SubAgents(enum.StrEnum):
    """What is done about sessions of sub-agents."""

    WITH = "with"
    WITHOUT = "without"


class SessionStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one session, `sub_agents` being the sessions that are in them."""

    session: str
    agent: str
    source_session: str | None
    title: str
    """The beginning of its first prompt."""
    origin: str | None
    """Where it was read from, if that was not the store."""
    sub_agents: tuple[str, ...]
    statistics: Statistics


class Report(msgspec.Struct, frozen=True):
    """The figures of each session that was named; `total` of all together, where they are several."""

    sessions: tuple[SessionStatistics, ...]
    total: Statistics | None


def statistics_of(cast: Cast, pricing: Pricing, sub_agents: SubAgents = SubAgents.WITH) -> Report:
    """The figures of what is to be replayed. Raises what reading the sessions raises."""
    known: dict[str, Counted] = {}
    families = {track.session: _family(cast, track, sub_agents) for track in cast.tops}
    for track in (track for family in families.values() for track in family):
        if track.session not in known:
            known[track.session] = Counted(figures(cast.read(track)), _prompt_of(track, known))
    found = []
    for top in cast.tops:
        family = [track.session for track in families[top.session]]
        found.append(
            SessionStatistics(
                session=top.session,
                agent=top.agent,
                source_session=top.source_session,
                title=_title(known[top.session]),
                origin=cast.origins.get(top.session),
                sub_agents=tuple(family[1:]),
                statistics=summary([known[session] for session in family], pricing),
            )
        )
    # A session that was named and is a sub-agent of another one that was named, too, counts once.
    return Report(tuple(found), summary(list(known.values()), pricing) if len(found) > 1 else None)


def _family(cast: Cast, top: Track, sub_agents: SubAgents) -> list[Track]:
    """A session, and its sub-agents at whatever depth, each after the one that it belongs to."""
    found = {top.session: top}
    if sub_agents is SubAgents.WITH:
        waiting = [top]
    else:
        waiting = []
    while waiting:
        for track in cast.children.get(waiting.pop().session, ()):
            if track.kind == SUB_AGENT and track.session not in found:
                found[track.session] = track
                waiting.append(track)
    return list(found.values())


def _prompt_of(track: Track, known: Mapping[str, Counted]) -> tuple[str, int] | None:
    """The prompt that a sub-agent worked for: that of the step which its session belongs to, there or further up."""
    parent = known.get(track.parent or "")
    if parent is None or track.kind != SUB_AGENT:
        return None
    step = next((figure for figure in parent.figures if figure.hash == track.hangs_on), None)
    if step is not None and step.request is not None:
        return step.session, step.request
    return parent.prompt


def _title(session: Counted) -> str:
    return next((figure.text for figure in session.figures if figure.is_prompt and figure.text.strip()), "")

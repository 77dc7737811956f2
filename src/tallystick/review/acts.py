"""Sessions act by act: the steps of a replay joined, in the order of time, with what was refused below folded sessions.

Owns joining beats into acts and filtering acts: one is wanted if any of its steps is. Which steps there are is replay.py's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tallystick.display.acts import refuses
from tallystick.display.joining import Act, Joiner, joined
from tallystick.review.replay import Asked, in_order
from tallystick.review.replay_sources import Cast
from tallystick.sessions.timeline import Beat, Below, Track, with_roles


def replay_acts(cast: Cast, asked: Asked) -> Iterator[Act]:
    """The acts that are asked for. The tag of an act is the beat of its first step."""
    return islice(_chosen(cast, asked), asked.limit)


def beat_of(act: Act) -> Beat:
    """The beat that an act of `replay_acts` began with."""
    assert isinstance(act.tag, Beat)
    return act.tag


def _chosen(cast: Cast, asked: Asked) -> Iterator[Act]:
    wanted = asked.wanted
    if wanted.is_any:
        yield from _joined(cast, asked, asked.below)
        return
    below = asked.below
    if below is Below.FOLD:
        below = Below.INLINE
    seeks_failures = wanted.errors or wanted.failed
    for act in _joined(cast, asked, below):
        beat = beat_of(act)
        if beat.folded is not None:
            if seeks_failures and beat.folded.failures:
                yield act
        elif any(wanted.takes(step, beat.track.agent) for step in act.steps):
            yield act


def _joined(cast: Cast, asked: Asked, roles: Below) -> Iterator[Act]:
    joiner = Joiner()
    for beat in with_roles(in_order(cast, asked), roles):
        if beat.folded is None:
            yield from joiner.feed(beat.step, tag=beat)
            continue
        yield from joiner.stand_alone(beat.step, tag=beat)
        for act in _refused_below(cast, beat):
            yield from joiner.take(act)
    yield from joiner.end()


def _refused_below(cast: Cast, folded: Beat) -> Iterator[Act]:
    """What was refused in a session that is folded, and in those that belong to it: a refusal is never hidden."""
    if folded.role is not None:
        return
    waiting, seen = [(folded.track, folded.depth)], set[str]()
    while waiting:
        track, depth = waiting.pop()
        if track.session in seen:
            continue
        seen.add(track.session)
        waiting += [(child, depth + 1) for child in cast.children.get(track.session, ())]
        if track.counts is None or track.counts.refusals:
            yield from _refusals(cast, track, depth)


def _refusals(cast: Cast, track: Track, depth: int) -> Iterator[Act]:
    for act in joined(cast.read(track)):
        if any(map(refuses, act.steps)):
            act.tag = Beat(act.lead, track, depth)
            yield act

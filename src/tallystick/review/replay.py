"""Sessions step by step: which steps, in which order, from where on and how far.

Owns joining the questions: order, then walking, then filters. How steps are read is replay_sources.py's, following sessions
that still grow replay_live.py's, how a step is shown the caller's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice

import msgspec

from tallystick.ask.dag import Walk
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.review.replay_sources import Cast, Spot
from tallystick.sessions.merging import merged
from tallystick.sessions.timeline import Beat, Below, count_all, folded_runs, nested, time_of, with_roles
from tallystick.workspace.filters import StepFilter

LONGEST_PAUSE_S = 3.0
"""A replay at some speed does not wait longer between two steps: people think for hours."""

_WRONG = ("warning", "gap", "recovery", "alert")


class Wanted(StepFilter, frozen=True, kw_only=True):
    """Which steps of a replay are wanted: the filters of the log, and those that need the content."""

    goals: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    """Words that must all stand somewhere in the values of a step, in whatever case."""
    errors: bool = False
    """Only what went wrong: what failed or was refused, errors, warnings, alerts, gaps."""

    @property
    def is_any(self) -> bool:
        """Whether every step is wanted."""
        return self == Wanted()

    def takes(self, step: Recorded, agent: str) -> bool:
        """Whether a step of a session of `agent` is wanted. An agent is named by its name, or by the role it acts in."""
        role = step.member("agent_role")
        acting = agent
        if isinstance(role, str) and role in self.agents:
            acting = role
        return (
            super().takes(step, acting)
            and (not self.goals or step.text("content.goal") in self.goals)
            and (not self.errors or went_wrong(step))
            and (not self.texts or _says(step, self.texts))
        )


def went_wrong(step: Recorded) -> bool:
    """Whether a step says that something failed or was refused, or is an alarm itself."""
    meta = step.meta
    return (
        meta.get("success") is False
        or "deny" in (meta.get("decision"), meta.get("action"), meta.get("effect"))
        or step.type in _WRONG
        or bool(step.values.get("content.error"))
    )


def _says(step: Recorded, texts: tuple[str, ...]) -> bool:
    said = "\n".join(_flat(value) for value in step.values.values()).lower()
    return all(text.lower() in said for text in texts)


def _flat(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a replay.

    Only the steps that follow from `start`, up to `stop` in the order in which steps are given. `merge`: all sessions
    on one clock instead of one after the other. What is done about sessions that belong to them says `below`.
    """

    wanted: Wanted = Wanted()
    start: Spot | None = None
    stop: Spot | None = None
    below: Below = Below.FOLD
    merge: bool = False
    limit: int | None = None


def replay(cast: Cast, asked: Asked) -> Iterator[Beat]:
    """The steps that are asked for: ordered, then walked, then filtered."""
    return islice(chosen(in_order(cast, asked), asked), asked.limit)


def in_order(cast: Cast, asked: Asked) -> Iterator[Beat]:
    """The same before they are filtered."""
    return _as_asked(cast, asked, up_to(_walked(cast, asked), asked.stop, cast))


def _walked(cast: Cast, asked: Asked) -> Iterator[Beat]:
    if asked.start is None:
        return _in_order(cast, asked)
    family = cast.family()
    walk = walk_of(cast, asked.start)
    if len(family) == 1:
        return (beat for beat in _in_order(cast, asked) if walk.takes(beat.step))
    # On the clock parents come first, whatever session they are in; shown is what was reached in the order asked for.
    for beat in merged(family, cast.read):
        walk.takes(beat.step)
    return (beat for beat in _in_order(cast, asked) if beat.step.hash in walk.reached)


def walk_of(cast: Cast, start: Spot) -> Walk:
    """A walk from a step through the sessions of a cast."""
    return Walk(start.hash, {track.session: track.hangs_on for track, _ in cast.family() if track.hangs_on is not None})


def _in_order(cast: Cast, asked: Asked) -> Iterator[Beat]:
    reads_all = asked.below is Below.INLINE or _is_about_what_hangs(cast, asked)
    if not asked.merge:
        return nested(cast.tops, cast.children, cast.read, Below.INLINE if reads_all else asked.below)
    if reads_all or asked.below is Below.HIDE:
        return merged(cast.family() if reads_all else [(track, 0) for track in cast.tops], cast.read)
    return _merged_folded(cast)


def _merged_folded(cast: Cast) -> Iterator[Beat]:
    """The named sessions on one clock, and one beat for each that belongs to them, where it began."""
    family = cast.family()
    tops = {track.session for track in cast.tops}
    for beat in merged(family, lambda track: islice(cast.read(track), None if track.session in tops else 1)):
        if beat.track.session not in tops:
            counts = beat.track.counts or count_all(cast.read(beat.track))
            beat = Beat(beat.step, beat.track, beat.depth, counts)
        yield beat


def _is_about_what_hangs(cast: Cast, asked: Asked) -> bool:
    """Whether the sessions that belong to the named ones must be read although they are not shown: to walk or stop there."""
    tops = {track.session for track in cast.tops}
    return asked.start is not None or (asked.stop is not None and asked.stop.session not in tops)


def _as_asked(cast: Cast, asked: Asked, beats: Iterator[Beat]) -> Iterator[Beat]:
    """What belongs to the sessions and was read for the walk's sake, shown as it should be."""
    if asked.below is Below.INLINE or not _is_about_what_hangs(cast, asked):
        return beats
    if asked.below is Below.FOLD:
        return folded_runs(beats)
    return (beat for beat in beats if beat.depth == 0)


def up_to(beats: Iterator[Beat], stop: Spot | None, cast: Cast) -> Iterator[Beat]:
    """Beats up to the one of a step; that it never came is remarked."""
    for beat in beats:
        yield beat
        if stop is not None and beat.step.hash == stop.hash:
            return
    if stop is not None:
        cast.remarks.append(
            "the last step does not follow from the first one: all steps that follow from the first are shown"
        )


def chosen(beats: Iterable[Beat], asked: Asked) -> Iterator[Beat]:
    """The beats that the filters take, sub-agents without sessions of their own as asked for.

    Where there are filters, these are not folded: what was looked for would be hidden. What stands for a whole session is
    only kept if it may hold what went wrong, and that is asked for.
    """
    wanted = asked.wanted
    if wanted.is_any:
        return with_roles(beats, asked.below)
    seeks_failures = wanted.errors or wanted.failed
    taken = (
        beat
        for beat in beats
        if (
            wanted.takes(beat.step, beat.track.agent)
            if beat.folded is None
            else seeks_failures and beat.folded.failures > 0
        )
    )
    return with_roles(taken, Below.INLINE if asked.below is Below.FOLD else asked.below)


def paced(beats: Iterable[Beat], speed: float, *, wait: Callable[[float], None] = time.sleep) -> Iterator[Beat]:
    """Beats with the pauses that lay between them, `speed` times as fast, and none longer than three seconds."""
    before: str | None = None
    for beat in beats:
        now = time_of(beat.step)
        if before:
            pause = _between_s(before, now) / speed
        else:
            pause = 0.0
        if pause > 0:
            wait(min(pause, LONGEST_PAUSE_S))
        before = now or before
        yield beat


def _between_s(before: str, after: str) -> float:
    try:
        return (datetime.fromisoformat(after) - datetime.fromisoformat(before)).total_seconds()
    except (ValueError, TypeError):
        return 0.0

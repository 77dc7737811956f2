"""Which call caused an effect that was seen.

Owns the judgement by path, time and process, and how much it is worth. An effect that no call explains stays unexplained: it
happened outside the agent, as far as that is known. Must not know how effects are seen (`capture.watch`), how the intents of
a call are found (`shell`, `tools`), nor what is kept of a match. Source: specs/gensee.md 2.5, with bounds of our own.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence

import msgspec

BEFORE_MS = 250
"""A clock may be off by so much, or a call be told late: an effect so long before its start may still be its own."""
AFTER_MS = 2_000
"""So long after its end what a call has begun may still take effect."""
LONGEST_OPEN_MS = 600_000
"""A call of which no end is known counts as running for so long."""
NAMED = 0.15
"""What it adds that the process is named and descends from the agent."""


class Target(msgspec.Struct, frozen=True):
    """A path that a call names: absolute, without `.` or `..`. `is_deep`: with everything below it."""

    path: str
    is_deep: bool = False
    is_write: bool = False


class OpenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool, and what it meant to do. Times in milliseconds since 1970.

    `is_opaque`: its text does not tell all that it does. `has_run`: it was neither denied nor did it fail before it ran.
    """

    step: int
    session: str
    start_ms: int
    end_ms: int | None = None
    folder: str = ""
    """Where it ran; empty: not known."""
    targets: tuple[Target, ...] = ()
    is_opaque: bool = False
    has_run: bool = True


class SeenEffect(msgspec.Struct, frozen=True, kw_only=True):
    """An effect on a file. `is_named`: a process that descends from the agent was seen with the file open."""

    path: str
    at_ms: int
    old_path: str | None = None
    """Of a rename: where it was."""
    is_named: bool = False


class MatchedBy(enum.StrEnum):
    """What made the match."""

    PATH = "path"
    """The call names the path, and writes it."""
    FOLDER = "folder"
    """It writes below a folder, or what it does is not known, and the path lies in that folder, or in the call's."""
    TIME = "time"
    """It was the only call that ran."""
    NEAREST = "nearest"
    """Several ran; this one began last."""


_WORTH = {MatchedBy.PATH: 0.75, MatchedBy.FOLDER: 0.5, MatchedBy.TIME: 0.35, MatchedBy.NEAREST: 0.2}
_WORTH_OF_SEVERAL = 0.35
"""Of a match by folder that fits several calls."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """The call that an effect is put down to, and the evidence for it."""

    step: int
    session: str
    confidence: float
    matched_by: MatchedBy
    after_start_ms: int
    """How long after the call's start; negative: before it."""
    candidates: int
    """How many calls fitted as well."""
    is_named: bool


def correlate(effect: SeenEffect, calls: Sequence[OpenCall]) -> Match | None:
    """The call that caused an effect, as far as that can be told; None: nothing explains it.

    Better evidence wins over nearness in time. By time alone only calls that may write count, and an effect inside the
    folder of none of them is put down to a call only if that was the only one, and with less confidence: two agents in two
    folders shall not explain each other's effects.
    """
    running = [call for call in calls if call.has_run and _is_running(call, effect.at_ms)]
    for kind, fits in ((MatchedBy.PATH, _writes_path), (MatchedBy.FOLDER, _writes_around)):
        found = [call for call in running if any(fits(call, path) for path in _paths(effect))]
        if found:
            return _match(effect, found, kind)
    able = [call for call in running if call.is_opaque or any(target.is_write for target in call.targets)]
    inside = [call for call in able if any(_is_in(path, call.folder) for path in _paths(effect))]
    if inside:
        return _match(effect, inside, MatchedBy.TIME if len(inside) == 1 else MatchedBy.NEAREST)
    if len(able) == 1:
        return _match(effect, able, MatchedBy.NEAREST)
    return None


def _is_running(call: OpenCall, at_ms: int) -> bool:
    end_ms = call.end_ms
    if end_ms is None:
        end_ms = call.start_ms + LONGEST_OPEN_MS
    return call.start_ms - BEFORE_MS <= at_ms <= max(end_ms, call.start_ms) + AFTER_MS


def _paths(effect: SeenEffect) -> tuple[str, ...]:
    if effect.old_path is None:
        return (effect.path,)
    return effect.path, effect.old_path


def _writes_path(call: OpenCall, path: str) -> bool:
    return any(target.is_write and target.path == path for target in call.targets)


def _writes_around(call: OpenCall, path: str) -> bool:
    """Whether the call writes below a folder that the path lies in, or may, in its own folder, write anything."""
    if call.is_opaque and _is_in(path, call.folder):
        return True
    return any(target.is_write and target.is_deep and _is_in(path, target.path) for target in call.targets)


def _is_in(path: str, folder: str) -> bool:
    return bool(folder) and path.startswith(folder.rstrip("/") + "/")


def _match(effect: SeenEffect, found: Iterable[OpenCall], kind: MatchedBy) -> Match:
    """The call that began last before the effect, or else the first one after it."""
    candidates = list(found)
    best = max(candidates, key=lambda call: (_nearness(call, effect.at_ms), call.session, call.step))
    if kind is MatchedBy.FOLDER and len(candidates) > 1:
        worth = _WORTH_OF_SEVERAL
    else:
        worth = _WORTH[kind]
    if effect.is_named:
        worth += NAMED
    return Match(
        step=best.step,
        session=best.session,
        confidence=round(worth, 2),
        matched_by=kind,
        after_start_ms=effect.at_ms - best.start_ms,
        candidates=len(candidates),
        is_named=effect.is_named,
    )


def _nearness(call: OpenCall, at_ms: int) -> tuple[bool, bool, int]:
    """How near a call is to a time: one that ran then before one that had ended, then the one that began last."""
    has_begun = call.start_ms <= at_ms
    has_ended = call.end_ms is not None and call.end_ms < at_ms
    return has_begun and not has_ended, has_begun, call.start_ms if has_begun else -call.start_ms

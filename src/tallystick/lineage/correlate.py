"""Which call caused an effect that was seen.

Owns the judgement by content, path, time and process, and how much it is worth. An effect is a call's if it left what the
call wrote, or if it happened while exactly one call ran that can have done it. Any other happened outside the agent, as far
as that is known: a person who saves a file while two calls run, or a moment after one, is not taken for the agent. Must not
know how effects are seen (`capture.watch`), how the intents of a call are found (`shell`, `tools`), nor what is kept of a
match. Source: specs/gensee.md 2.5, with bounds of our own.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence

import msgspec

BEFORE_MS = 250
"""A clock may be off by so much, or a call be reported late: an effect so long before its start may still be its own."""
AFTER_MS = 250
"""The same after its end."""
CONTENT_AFTER_MS = 2_000
"""So long after its end what a call has written may still be seen for the first time."""
LONGEST_OPEN_MS = 600_000
"""A call of which no end is known counts as running for so long."""
NAMED = 0.15
"""What it adds that the process is named and descends from the agent."""


class Target(msgspec.Struct, frozen=True):
    """A path that a call names: absolute, without `.` or `..`. `is_deep`: with everything below it."""

    path: str
    is_deep: bool = False
    is_write: bool = False
    digest: str | None = None
    """`sha256:` and hex of what the call writes there, where it writes the whole of it and that is known."""


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
    digest: str | None = None
    """Of what the file held after it."""


class MatchedBy(enum.StrEnum):
    """What made the match."""

    CONTENT = "content"
    """The file holds what the call wrote."""
    PATH = "path"
    """The call names the path, and writes it."""
    FOLDER = "folder"
    """It writes below a folder, or what it does is not known, and the path lies in that folder, or in the call's."""
    TIME = "time"
    """It was the only call that ran, and the path lies in its folder."""
    ELSEWHERE = "elsewhere"
    """It was the only call that ran, and the path lies elsewhere."""


_WORTH = {
    MatchedBy.CONTENT: 0.8,
    MatchedBy.PATH: 0.75,
    MatchedBy.FOLDER: 0.5,
    MatchedBy.TIME: 0.35,
    MatchedBy.ELSEWHERE: 0.2,
}


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

    Of the calls that ran then, those count that can have done it: that name the path to write it, or a folder above it,
    or whose text does not say all that they do. A call that says all, and names other files, counts only if no other ran.
    """
    ran = [call for call in calls if call.has_run]
    written = [call for call in ran if _was_near(call, effect.at_ms) and _has_written(call, effect)]
    if written:
        return _match(effect, written, MatchedBy.CONTENT)
    running = [call for call in ran if _is_running(call, effect.at_ms)]
    able = [call for call in running if _can_have(call, effect)]
    if not able:
        able = [call for call in running if any(target.is_write for target in call.targets)]
    if len(able) != 1:
        return None
    return _match(effect, able, _how(able[0], effect))


def _has_written(call: OpenCall, effect: SeenEffect) -> bool:
    """Whether the file holds what the call writes to it."""
    is_known = effect.digest is not None
    return is_known and any(one.path == effect.path and one.digest == effect.digest for one in call.targets)


def _can_have(call: OpenCall, effect: SeenEffect) -> bool:
    return call.is_opaque or any(_writes_path(call, path) or _writes_around(call, path) for path in _paths(effect))


def _how(call: OpenCall, effect: SeenEffect) -> MatchedBy:
    """What connects an effect with the only call that can have caused it."""
    found = (kind for kind, fits in _KINDS.items() if any(fits(call, path) for path in _paths(effect)))
    return next(found, MatchedBy.ELSEWHERE)


def _is_running(call: OpenCall, at_ms: int) -> bool:
    return call.start_ms - BEFORE_MS <= at_ms <= _end(call) + AFTER_MS


def _was_near(call: OpenCall, at_ms: int) -> bool:
    return call.start_ms - BEFORE_MS <= at_ms <= _end(call) + CONTENT_AFTER_MS


def _end(call: OpenCall) -> int:
    if call.end_ms is None:
        return call.start_ms + LONGEST_OPEN_MS
    return max(call.end_ms, call.start_ms)


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


def _works_around(call: OpenCall, path: str) -> bool:
    return _is_in(path, call.folder)


_KINDS: dict[MatchedBy, Callable[[OpenCall, str], bool]] = {
    MatchedBy.PATH: _writes_path,
    MatchedBy.FOLDER: _writes_around,
    MatchedBy.TIME: _works_around,
}
"""In the order of their worth."""


def _is_in(path: str, folder: str) -> bool:
    return bool(folder) and path.startswith(folder.rstrip("/") + "/")


def _match(effect: SeenEffect, found: Iterable[OpenCall], kind: MatchedBy) -> Match:
    """The call that began last before the effect, or else the first one after it."""
    candidates = list(found)
    best = max(candidates, key=lambda call: (_nearness(call, effect.at_ms), call.session, call.step))
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

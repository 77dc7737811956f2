"""Whether a decision that is made again is the one that was made, and the form in which that is reported.

Owns what of two decisions is compared. It stands apart from `agreement` and `explain`, which bring the engine along, so that
anyone can be told.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

import msgspec

from tallystick.model.decision import Call, Decision


class Outcome(enum.StrEnum):
    """What making a decision again has shown."""

    SAME = "same"
    DIFFERENT = "different"
    CHANGED = "changed"
    """The answers differ, and so may files that they rest on: one was changed since, an earlier call used it, or two sessions
    wrote the same to it."""
    OTHER_RULES = "other-rules"
    """Policies or settings are not those that it was made with."""
    UNKNOWN = "unknown"
    """The record does not have what it would be made of: the call is not in it or not in the index, or it is too long."""


class ComparedAnswer(NamedTuple):
    """What is compared of a decision: not its words."""

    policy: str | None
    effect: str
    would: str | None
    rules: frozenset[str]


def answer_of(decision: Decision) -> ComparedAnswer:
    """What is compared of a decision."""
    return ComparedAnswer(decision.policy, decision.effect, decision.would, frozenset(decision.rules))


def compare(then: ComparedAnswer, now: ComparedAnswer) -> Outcome:
    """What two answers show, as far as they alone tell."""
    if then.policy != now.policy:
        return Outcome.OTHER_RULES
    if then == now:
        return Outcome.SAME
    return Outcome.DIFFERENT


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was answered otherwise than the record says."""

    call: Call
    """Without its arguments and its folder."""
    sid: str
    n: int
    """The step that the call is."""
    then: Decision
    """What was answered."""
    now: Decision
    """What the record says."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One decision that was made again, or was to be."""

    outcome: Outcome
    difference: Difference | None = None

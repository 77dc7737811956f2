"""The result of making a decision again from the record, in the form in which it is reported.

Owns the form. It stands apart from `agreement`, which brings the engine along, so that anyone can be told.
"""

from __future__ import annotations

import enum

import msgspec

from tallystick.model.decision import Decision


class Outcome(enum.StrEnum):
    """What making a decision again has shown."""

    SAME = "same"
    DIFFERENT = "different"
    CHANGED = "changed"
    """The answers differ, and so may files that they rest on: one was changed since, or an earlier call used it."""
    OTHER_RULES = "other-rules"
    """Policies or settings are not those that it was made with."""
    UNKNOWN = "unknown"
    """The record does not have what it would be made of: the call is not in it or not in the index, or it is too long."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was answered otherwise than the record says."""

    agent: str
    session: str
    """The agent's own id of it."""
    tool: str
    call_id: str | None
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

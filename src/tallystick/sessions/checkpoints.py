"""Which checkpoints a session has, and which of them make room when there are too many.

Owns the words for what made a checkpoint, the limit, and what is never rolled over. Must not know where entries come from,
nor what is on disk. Sources: specs/lango.md 2.1 and 7 (rows 6 to 10); docs/checkpoints.md.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping

import msgspec

from tallystick.model.step import Json

MOST_REPLACED = 128
"""Checkpoints that one replaces at the most: their hashes are in `meta`, which is bounded."""


class Trigger(enum.StrEnum):
    """What made a checkpoint."""

    MANUAL = "manual"
    STEP_COMPLETE = "step_complete"
    POLICY_APPLIED = "policy_applied"
    SESSION_START = "session_start"
    COMPACTION = "compaction"
    PHASE = "phase"


def occasion(kind: str, meta: Mapping[str, Json]) -> Trigger | None:
    """What a step of that type is an occasion for: work that was checked and passed, a policy that asked or refused."""
    match kind:
        case "step_validation_passed":
            return Trigger.STEP_COMPLETE
        case "phase_reconcile" if meta.get("escalate") is not True and meta.get("success") is not False:
            return Trigger.STEP_COMPLETE
        case "goal_end" if meta.get("success") is not False and meta.get("status") != "failed":
            return Trigger.STEP_COMPLETE
        case "decision" if meta.get("effect") in ("ask", "deny"):
            return Trigger.POLICY_APPLIED
        case "policy_decision_applied" if meta.get("effect") not in ("allow", "warn"):
            return Trigger.POLICY_APPLIED
    return None


class WhenFull(enum.StrEnum):
    """What happens to one more checkpoint than a session may have."""

    ROLL = "roll"
    """It takes the place of the oldest automatic one."""
    REFUSE = "refuse"


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One checkpoint of a session that no other has replaced."""

    n: int
    hash: str
    trigger: Trigger
    position: int
    is_anchor: bool
    """Whether it stays whatever the limit and the retention say."""

    @property
    def is_counted(self) -> bool:
        """Whether the limit counts it: not how a session began, nor what its agent marks itself."""
        if self.trigger is Trigger.SESSION_START:
            return not self.is_anchor
        return self.trigger in (Trigger.MANUAL, Trigger.STEP_COMPLETE, Trigger.POLICY_APPLIED)

    @property
    def makes_room(self) -> bool:
        """Whether another may take its place: no one asked for it, or wants it kept."""
        return self.is_counted and self.trigger is not Trigger.MANUAL and not self.is_anchor


class Room(msgspec.Struct, frozen=True):
    """Whether there is room for one more checkpoint, and the hashes of those that it replaces."""

    is_there: bool
    replaces: tuple[str, ...] = ()


class Checkpoints:
    """The checkpoints of one session that are in force. Fed with every entry in order."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}
        self._has_start = False

    def take(self, n: int, digest: str, meta: Mapping[str, Json]) -> None:
        """Take the hash and the members of entry `n`."""
        if meta.get("type") != "checkpoint":
            return
        for replaced in _texts(meta.get("replaces")):
            if replaced in self._kept and self._kept[replaced].makes_room:
                del self._kept[replaced]
        trigger, position = meta.get("trigger"), meta.get("position")
        if not isinstance(trigger, str) or trigger not in _TRIGGERS or type(position) is not int:
            return  # the headless agent's own: not ours to count or to replace
        trigger = Trigger(trigger)
        is_first = trigger is Trigger.SESSION_START and not self._has_start
        self._has_start |= is_first
        self._kept[digest] = Kept(
            n=n, hash=digest, trigger=trigger, position=position, is_anchor=is_first or meta.get("keep") is True
        )

    def __iter__(self) -> Iterator[Kept]:
        """Those in force, oldest first."""
        return iter(self._kept.values())

    @property
    def counted(self) -> int:
        """How many the limit counts."""
        return sum(kept.is_counted for kept in self)

    def at(self, trigger: Trigger, position: int) -> Kept | None:
        """The one that marks what happened at a position already: the same event is not marked twice."""
        if trigger not in (Trigger.STEP_COMPLETE, Trigger.POLICY_APPLIED):
            return None
        return next((kept for kept in self if kept.trigger is trigger and kept.position == position), None)

    def room(self, trigger: Trigger, *, most: int, when_full: WhenFull) -> Room:
        """Whether one more may be made, where `most` is the limit; 0 is none."""
        if not self._would_count(trigger) or not most:
            return Room(is_there=True)
        over = self.counted + 1 - most
        if over <= 0:
            return Room(is_there=True)
        if when_full is WhenFull.REFUSE:
            return Room(is_there=False)
        oldest = [kept.hash for kept in self if kept.makes_room]
        # A limit that was lowered is reached step by step: one more never makes them more.
        replaced = tuple(oldest[: min(over, MOST_REPLACED)])
        return Room(is_there=bool(replaced), replaces=replaced)

    def _would_count(self, trigger: Trigger) -> bool:
        return trigger not in (Trigger.COMPACTION, Trigger.PHASE) and (
            trigger is not Trigger.SESSION_START or self._has_start
        )


_TRIGGERS = frozenset(Trigger)


def _texts(value: Json) -> list[str]:
    if isinstance(value, list):
        return [text for text in value if isinstance(text, str)]
    return []

"""More effects than are reported one by one: counts by folder instead.

Owns how many are too many, and how they are counted. Must not know what is done with a gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from tallystick.capture.watch_effects import Paired

MOST_EFFECTS = 5_000
"""So many at once are reported; a batch of more is counted."""
_MOST_A_MINUTE = 20_000
_MINUTE_S = 60.0
_MOST_FOLDERS_COUNTED = 10_000
_MOST_FOLDERS_TOLD = 200
_GATHER_S = 1.0


class WatchGap(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened, or may have happened, and is not reported path by path.

    `kinds` and `folders`: how many effects there were of each kind, and below each folder, those with most of them.
    """

    reason: str
    events: int = 1
    kinds: dict[str, int] = {}
    folders: dict[str, int] = {}
    detail: str | None = None


class Storm:
    """What was counted and not yet told."""

    def __init__(self) -> None:
        self.due: float | None = None
        """When the counts are to be reported."""
        self._kinds: Counter[str] = Counter()
        self._folders: Counter[str] = Counter()
        self._minute = float("-inf")
        self._in_minute = 0

    def is_one(self, effects: int, now: float) -> bool:
        """Whether a batch of so many effects is too much, by itself or after those of the same minute."""
        if now - self._minute >= _MINUTE_S:
            self._minute, self._in_minute = now, 0
        if effects > MOST_EFFECTS or (effects and self._in_minute + effects > _MOST_A_MINUTE):
            if self.due is None:
                self.due = now + _GATHER_S
            return True
        self._in_minute += effects
        return False

    def count(self, effects: Sequence[Paired]) -> None:
        """Count effects that are not reported one by one."""
        for item in effects:
            self._kinds[item.kind.value] += 1
            folder = item.path.rpartition("/")[0] or "/"
            if folder in self._folders or len(self._folders) < _MOST_FOLDERS_COUNTED:
                self._folders[folder] += 1

    def told(self, now: float, *, at_once: bool = False) -> list[WatchGap]:
        """The counts, once they were gathered for a while, or now."""
        if self.due is None or (now < self.due and not at_once):
            return []
        gap = WatchGap(
            reason="too-many-effects",
            events=self._kinds.total(),
            kinds=dict(self._kinds),
            folders=dict(self._folders.most_common(_MOST_FOLDERS_TOLD)),
        )
        self.due, self._kinds, self._folders = None, Counter(), Counter()
        return [gap]

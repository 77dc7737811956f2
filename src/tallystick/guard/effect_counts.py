"""How often each answer was given. Owns counting; what else is counted beside it is for anyone who counts."""

from __future__ import annotations

import msgspec

from tallystick.model.decision import Effect


class EffectCounts(msgspec.Struct, kw_only=True):
    """How many calls were denied, asked about, warned of and let through."""

    total: int = 0
    denied: int = 0
    asked: int = 0
    warned: int = 0
    silent: int = 0

    def count(self, effect: Effect) -> None:
        """Count one answer."""
        self.total += 1
        match effect:
            case Effect.DENY:
                self.denied += 1
            case Effect.ASK:
                self.asked += 1
            case Effect.WARN:
                self.warned += 1
            case Effect.ALLOW:
                self.silent += 1

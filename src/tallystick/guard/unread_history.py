"""Deciding on a call while the history of its session is still being read.

Owns what is supposed of what was not read yet, and what is answered then: what would be refused or asked about after the
worst of histories is asked about, and all else is answered as after the part that is known. Must not know policies.
"""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from tallystick.guard.leaving import NoComparison
from tallystick.lineage.taint import Trust
from tallystick.model.decision import Decision, Effect
from tallystick.policy.world import Maker, Marker, Past, Provenance

_REASON = "The history of this session is still being read, and may forbid this."
_GRAVITY = (Effect.ALLOW, Effect.WARN, Effect.ASK, Effect.DENY)


class KnownPart(Protocol):
    """What is on record before one call, as far as it was read."""

    def past(self) -> Past:
        """What the session of the call has done so far."""
        ...

    def provenance(self, path: str) -> Provenance:
        """What the record says of a path."""
        ...

    def is_approved(self, digest: str) -> bool:
        """Whether the user let content with this digest run before, when asked."""
        ...


class WorstHistory:
    """The same, where what was not read is the worst: a secret and text from outside were read, others wrote the files."""

    def __init__(self, known: KnownPart) -> None:
        self._known = known

    def past(self) -> Past:
        """What the session may have done."""
        return replace(
            self._known.past(), markers=frozenset(Marker), hosts=frozenset(), leaving=NoComparison(is_known=False)
        )

    def provenance(self, path: str) -> Provenance:
        """What a path may be."""
        found = self._known.provenance(path)
        if found.maker is not Maker.UNKNOWN:
            return found
        return replace(found, maker=Maker.OTHER_SESSION, author=Maker.OTHER_SESSION, trust=Trust.UNTRUSTED)

    def is_approved(self, digest: str) -> bool:
        """Whether the user let content with this digest run before, as far as it was read."""
        return self._known.is_approved(digest)


def cautious(known: Decision, worst: Decision, *, is_interactive: bool = True) -> Decision:
    """The answer, from what is decided after the part of the history that is known, and after the worst.

    Args:
        is_interactive: whether there is someone to be asked.
    """
    if worst.effect not in (Effect.ASK, Effect.DENY) or _GRAVITY.index(worst.effect) <= _GRAVITY.index(known.effect):
        return known
    effect = worst.effect
    if is_interactive:
        effect = Effect.ASK
    return replace(worst, effect=effect, reason=f"{worst.reason} {_REASON}".strip())

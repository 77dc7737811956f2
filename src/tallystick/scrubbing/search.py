"""One search for secrets, through all values of a step or an event.

Owns what becomes of a value in which it would take too long: the value is not recorded, only its length and digest are. Must
not know which values there are, nor how a secret is found in one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import TypeVar

from tallystick.model.step import Json
from tallystick.scrubbing.budget import STEP_WORK, Budget, Counts, TooMuchWorkError
from tallystick.scrubbing.known_values import KnownValues
from tallystick.seal.tagged import tag_unsearched

_Value = TypeVar("_Value", Json, bytes)
SCRUBBED = "scrubbed"
"""The member of `meta` that says how many secrets were replaced; absent if none."""
UNSEARCHED = "unsearched"
"""The member of `meta` that says how many values are not recorded, because the search would take too long; absent if none."""


class Search:
    """What was found so far, and how many values could not be searched."""

    def __init__(self, work: int = STEP_WORK, known: KnownValues | None = None) -> None:
        """A search that may take so much work, also for what is known to be a secret."""
        self.counts = Counts(Budget(work), known=known)
        self.unsearched = 0

    def __bool__(self) -> bool:
        """Whether anything is recorded otherwise than it came."""
        return bool(self.counts) or self.unsearched > 0

    def clean(self, value: _Value, scrub: Callable[[_Value, Counts], _Value]) -> _Value | str:
        """A value with a marker for each secret in it; where the budget does not suffice, what is kept of it instead."""
        inner = self.counts.inner()
        try:
            scrubbed = scrub(value, inner)
        except TooMuchWorkError:
            self.counts.budget.renew()
            self.unsearched += 1
            return _instead(value)
        self.counts.update(inner)
        return scrubbed

    def learn(self) -> None:
        """Remember the values that were found, for other steps."""
        if self.counts.known is not None and self.counts.repeats:
            self.counts.known.learn(self.counts.repeats.values())

    def told(self) -> dict[str, Json]:
        """The members of `meta` that tell of it."""
        said: dict[str, Json] = {}
        if self.counts:
            said[SCRUBBED] = self.counts.total()
        if self.unsearched:
            said[UNSEARCHED] = self.unsearched
        return said


def _instead(value: Json | bytes) -> str:
    """What is kept of a value: a text is measured as it is, anything else as compact JSON."""
    if isinstance(value, bytes):
        data = value
    elif isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
    else:
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return tag_unsearched(len(data), sha256(data).hexdigest())

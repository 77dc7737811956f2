"""How much work a search for secrets may be.

Owns the unit, the limit for one step, and what a search says when that is not enough. Work is counted, not timed:
the same text is over the limit on every machine and every time, live or imported. Must not know what is searched.
"""

from __future__ import annotations

import sys
from collections import Counter

from tallystick.errors import FormatError
from tallystick.scrubbing.known_values import KnownValues
from tallystick.scrubbing.repeats import Repeats

STEP_WORK = 150_000
"""For one step: a second or two at worst. On average 35 MB of source code take as much; of the densest, 1 MB."""
_BYTES_A_UNIT = 64
_SHORT, _MOST_PLAIN = 200, 4096


class TooMuchWorkError(FormatError):
    """A text has more places worth a look than the search may look at."""


class Budget:
    """What is left to spend. A unit is a literal found, or 64 bytes of a finding."""

    def __init__(self, units: int = sys.maxsize) -> None:
        """Without `units`: no limit."""
        self._most = units
        self._left = units
        self.spent = 0
        """How much was taken off in all."""

    def spend(self, units: int) -> None:
        """Take so much off.

        Raises:
            TooMuchWorkError: there is not so much left.
        """
        self._left -= units
        self.spent += units
        if self._left < 0:
            raise TooMuchWorkError(f"searching for secrets takes more than {self._most} units of work")

    def spend_on(self, size: int) -> None:
        """The same for a finding of `size` bytes."""
        self.spend(size // _BYTES_A_UNIT)

    def renew(self) -> None:
        """Begin again with half of it: however often that happens, all of it together stays below twice the first."""
        self._most //= 2
        self._left = self._most


class Counts(Counter[str]):
    """How many secrets were replaced, by kind, and what the search for more may still take."""

    def __init__(
        self, budget: Budget | None = None, repeats: Repeats | None = None, known: KnownValues | None = None
    ) -> None:
        """None yet; without a budget the search has no limit."""
        super().__init__()
        self.budget = budget or Budget()
        self.repeats = Repeats() if repeats is None else repeats
        """The values that were found."""
        self.known = known
        """Those that were found before, in any session."""

        self._plain: dict[str, int] = {}

    def inner(self) -> Counts:
        """Counts of a part, which takes from the same budget."""
        inner = Counts(self.budget, self.repeats, self.known)
        inner._plain = self._plain
        return inner

    def holds_nothing(self, text: str) -> bool:
        """Whether it is known that nothing is in a text. That takes one unit."""
        if self._plain.get(text) != len(self.repeats):  # in what was looked at, a value found since may be
            return False
        self.budget.spend(1)
        return True

    def found_nothing_in(self, text: str) -> None:
        """Remember that nothing is in a text, if it is short."""
        if len(text) <= _SHORT and len(self._plain) < _MOST_PLAIN:
            self._plain[text] = len(self.repeats)

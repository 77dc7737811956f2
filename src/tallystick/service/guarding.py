"""Looking around the store while no one waits: heads go to where they are anchored, and alarms are reported.

Owns when that is due. Nothing here holds up an answer: it runs in a thread of its own, and what cannot be reached is tried
again later. Must not know how a head is anchored, nor what an alarm is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import NamedTuple

from tallystick.errors import TallystickError
from tallystick.journal.archive import system_clock
from tallystick.journal.home import Home

_LOG = logging.getLogger(__name__)
_EVERY_SECONDS = 300.0
_FIRST_SECONDS = 5.0


class Clocks(NamedTuple):
    """The same time, twice."""

    text: Callable[[], str] = system_clock
    """RFC 3339."""
    seconds: Callable[[], float] = time.time
    """Since 1970."""


class Guarding:
    """One store, looked after."""

    def __init__(
        self,
        home: Home,
        tell: Callable[[str], object],
        *,
        clocks: Clocks | None = None,
        refused: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Look after a store.

        Args:
            tell: called with each new alarm. refused: why the signer refuses to sign, if it does.
        """
        self._refused = refused
        self._clock, self._now = clocks or Clocks()
        self._home = home
        self._tell = tell
        self._due = time.monotonic() + _FIRST_SECONDS
        self.problem: str | None = None
        """Why a place off this machine did not get the newest head."""

    @property
    def is_due(self) -> bool:
        """Whether it is time to look."""
        return time.monotonic() >= self._due

    def work(self) -> None:
        """Look around. Never raises."""
        self._due = time.monotonic() + _EVERY_SECONDS
        try:
            has_asked = self._anchor()
            from tallystick.trust.tamper_signals import Alarms

            refused = self._refused()
            found = Alarms(self._home).new(
                at=self._clock(), with_anchors=has_asked, further=() if refused is None else (refused,), now=self._now()
            )
            for alarm in found:
                _LOG.error("ALARM: %s", alarm)
                self._tell(alarm)
        except TallystickError as error:
            self.problem = str(error)
        except Exception:
            _LOG.exception("the store could not be looked after")

    def _anchor(self) -> bool:
        """Give the newest head to the places that are due; whether one was given."""
        from tallystick.trust.anchors import anchor, is_due, targets
        from tallystick.workspace.settings import read_setting

        self.problem, given = None, False
        every = 60.0 * int(str(read_setting(self._home, "anchors.every_minutes")))
        for target in targets(self._home):
            if not is_due(self._home, target, now=self._now(), every_seconds=every):
                continue
            try:
                anchor(self._home, target, clock=self._clock)
                given = True
            except TallystickError as error:
                self.problem = str(error)
                _LOG.warning("%s", error)
        return given

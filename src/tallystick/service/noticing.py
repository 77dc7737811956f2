"""Noticing what is not heard of, while the recorder runs: deliveries that no one recorded, and who took its place.

Owns when is looked, in a thread, and that what was found is reported once. Must not know how it is found.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tallystick.capture.place import stranger
from tallystick.capture.receipts import Deliveries, Unrecorded
from tallystick.errors import TallystickError

_LOG = logging.getLogger(__name__)
_FIRST_SECONDS = 1.0
_EVERY_SECONDS = 10.0
_AGAIN_SECONDS = 1.0
_MOST_STRANGERS = 16


class Teller(msgspec.Struct, frozen=True):
    """To whom it is reported. Each raises TallystickError where that cannot be recorded."""

    alarm: Callable[[str], object]
    unrecorded: Callable[[Unrecorded], object]


class Noticing:
    """One store, looked at again and again."""

    def __init__(self, spool: Path, tell: Teller) -> None:
        """Look at nothing yet. spool: where hooks leave word of whom they found in the recorder's place."""
        self._spool = spool
        self._tell = tell
        self._due = time.monotonic() + _FIRST_SECONDS
        self.deliveries: Deliveries | None = None
        """What hooks note; None: they note nothing that could be told from lies."""

    @property
    def is_due(self) -> bool:
        """Whether it is time to look."""
        return time.monotonic() >= self._due

    def work(self) -> None:
        """Look, and tell. Never raises."""
        self._due = time.monotonic() + _EVERY_SECONDS
        for look in (self._strangers, self._unrecorded):
            try:
                look()
            except TallystickError as error:
                _LOG.warning("%s", error)
            except Exception:
                _LOG.exception("what is not heard of could not be looked for")

    def _strangers(self) -> None:
        """Whom hooks found in the recorder's place and told nothing."""
        for path in sorted(self._spool.glob("*.stranger"))[:_MOST_STRANGERS]:
            if path.stem.isdigit():
                self._tell.alarm(stranger(int(path.stem[:12])))
            with contextlib.suppress(OSError):
                path.unlink()

    def _unrecorded(self) -> None:
        if self.deliveries is None:
            return
        found = self.deliveries.look()
        if found is not None:
            self._tell.unrecorded(found)
            self.deliveries.settle(found.agents)
        if self.deliveries.is_unsure:
            self._due = time.monotonic() + _AGAIN_SECONDS
        if self.deliveries.was_removed:
            self.deliveries.was_removed = False
            self._tell.alarm("the file in which hooks note what they deliver was removed, cut or filled up")

"""Once a day, what old checkpoints say is dropped, by the process that writes the index (indexer.py), while no one asks it.

Owns when. Must not know what is too old, nor how it is dropped.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime

from tallystick.errors import TallystickError
from tallystick.journal.home import Home

_LOG = logging.getLogger(__name__)
_DAY_SECONDS = 86_400.0
_SOON_SECONDS = 5.0
_MOST_AT_ONCE = 200
"""Checkpoints: anyone who asks for the index meanwhile waits no longer than these take."""


class Retaining:
    """The retention of one store. The file `run/pruned` says when it was last seen to, from one recorder to the next."""

    def __init__(self, home: Home, *, now: Callable[[], float] = time.time) -> None:
        """`now` gives the seconds since 1970."""
        self._home = home
        self._now = now
        self._stamp = home.folder / "run" / "pruned"
        self._next = self._last() + _DAY_SECONDS

    def _last(self) -> float:
        try:
            return min(self._stamp.stat().st_mtime, self._now())  # a clock that was ahead must not stop it for ever
        except OSError:
            return 0.0

    @property
    def is_due(self) -> bool:
        """Whether a day has passed."""
        return self._now() >= self._next

    def work(self) -> None:
        """Drop what is due, of very much a part, and soon the rest. Never raises: the next day it is tried again."""
        self._next = self._now() + _DAY_SECONDS
        try:
            from tallystick.review.retention import due, prune

            self._stamp.touch(mode=0o600)
            found = due(self._home, now=datetime.fromtimestamp(self._now(), UTC))
            if len(found) > _MOST_AT_ONCE:
                self._next = self._now() + _SOON_SECONDS
            if found:
                done = prune(self._home, found[:_MOST_AT_ONCE])
                _LOG.info("dropped what %d checkpoints of %d sessions said", done.checkpoints, done.sessions)
        except (TallystickError, OSError) as error:
            _LOG.warning("retention was not seen to: %s", error)

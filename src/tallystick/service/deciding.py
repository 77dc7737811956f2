"""The policies in force, loaded when a call is first to be decided, and again when their files have changed.

Owns when they are loaded, and that a policy that cannot be used never leaves a call without an answer. What is decided is
`operations.decide`'s.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from pathlib import Path

from tallystick.errors import PolicyError, TallystickError
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision, Effect
from tallystick.operations.config import read_setting
from tallystick.operations.decide import Decider, undecided

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS = 1.0


class Deciding:
    """Decides on calls for one store."""

    def __init__(self, home: Home) -> None:
        self.error: str | None = None
        """Why the policies cannot be used; None if they can."""
        self._home = home
        self._decider: Decider | None = None
        self._state: tuple[tuple[str, int, int], ...] | None = None
        self._looked_at = float("-inf")

    def warm(self) -> None:
        """Load the policies before the first call waits for them; what is wrong with them its decision will say."""
        with contextlib.suppress(PolicyError):
            self._current()

    def __call__(self, call: Call) -> Decision:
        """The decision on a call; what the setting hooks.on_error says if policy cannot decide."""
        try:
            return self._current().decide(call)
        except PolicyError as error:
            self.error = str(error)
            return undecided(self._on_error(), error)
        except Exception as error:  # a fault of ours: what cannot be decided is not let through silently
            _LOG.exception("a call of %s could not be decided", call.tool)
            fault = PolicyError(f"a fault of Tallystick: {type(error).__name__}", hint="run/recorder.log has it")
            return undecided(self._on_error(), fault)

    def _current(self) -> Decider:
        now = time.monotonic()
        if now - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = now
            state = _state(self._home.folder / "policy")
            if state != self._state or self._decider is None:
                self._state, self._decider = state, None
                self._decider = Decider(self._home, Path.home(), environment=os.environ)
                self.error = None
        if self._decider is None:
            raise PolicyError(self.error or "the policies cannot be loaded", hint="`tally doctor` says why")
        return self._decider

    def _on_error(self) -> Effect:
        try:
            return Effect(str(read_setting(self._home, "hooks.on_error")))
        except TallystickError:
            return Effect.ASK


def _state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """The policies' files as they stand: name, time of change and size of each."""
    try:
        found = [(path.name, path.stat()) for path in folder.glob("*.cedar")]
    except OSError:
        return ()
    return tuple(sorted((name, stat.st_mtime_ns, stat.st_size) for name, stat in found))

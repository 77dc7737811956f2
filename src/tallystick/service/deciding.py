"""Decisions while the recorder runs: what cannot be decided never leaves a call without an answer.

Owns when policies are loaded and what is said when something is wrong. What is decided is `guard.decide`'s.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.errors import PolicyError
from tallystick.guard.policy_change import Change
from tallystick.journal.home import Home
from tallystick.model.decision import NO_OPINION, Call, Decision
from tallystick.service.unanswered import undecided_on

if TYPE_CHECKING:
    from tallystick.guard.agreement import Agreement
    from tallystick.guard.decide import Decider
    from tallystick.guard.differing import Compared

_LOG = logging.getLogger(__name__)


class Deciding:
    """Decides on calls for one store."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._decider: Decider | None = None
        self._changed: Callable[[Change], None] | None = None
        self._loading = threading.Lock()
        self._agreement: Agreement | None = None

    def load(self) -> None:
        """Load the policies, or look at their files again. Those that cannot be used are no failure: each call says it."""
        with suppress(PolicyError):
            self._current().policies.look()

    def warm(self) -> None:
        """Load the policies before the first call waits for them. May run in a thread of its own."""
        from tallystick.guard.plain_calls import keep_plain_calls

        decider = self._current()
        keep_plain_calls(self._home, decider.policies)
        decider.warm()

    def keep(self) -> None:
        """Keep what sessions have done, where that is due, so that a resumed one is not judged again. Never raises."""
        try:
            if self._decider is not None and self._decider.states.is_due:
                self._decider.states.keep()
        except Exception:  # it is read from the journals then
            _LOG.exception("what sessions have done could not be kept")

    def compare(self) -> list[Compared]:
        """Make some recent decisions again from the record, in a quiet moment. Never raises."""
        decider = self._decider
        if decider is None or not decider.has_old_judgement:
            return []
        try:
            if self._agreement is None:
                from tallystick.guard.agreement import Agreement

                self._agreement = Agreement(self._home, decider)
            return self._agreement.work(time.time_ns() // 1000)
        except Exception:  # the next ones are made again
            _LOG.exception("recent decisions could not be made again from the record")
            return []

    def close(self) -> None:
        """Keep what sessions have done at the end. Never raises."""
        try:
            if self._decider is not None:
                self._decider.states.close()
        except Exception:
            _LOG.exception("what sessions have done could not be kept")

    def listen(self, changed: Callable[[Change], None]) -> None:
        """Have it told when another set of policies comes into force."""
        self._changed = changed
        if self._decider is not None:
            self._decider.policies.listen(changed)

    def __call__(self, call: Call) -> Decision:
        """The decision on a call; what the setting hooks.on_error says if policy cannot decide on one that has effects."""
        try:
            return self._current().decide(call)
        except PolicyError as error:
            return undecided_on(self._home, call, error)
        except Exception as error:  # a fault of ours: what cannot be decided is not let through silently
            _LOG.exception("a call of %s could not be decided", call.tool)
            fault = PolicyError(f"a fault of Tallystick: {type(error).__name__}", hint="run/decider.log has it")
            return undecided_on(self._home, call, fault)

    def look_after(self, call: Call) -> Decision:
        """What policies say of the files that a call has written; silence where that cannot be said."""
        try:
            return self._current().look_after(call)
        except PolicyError:
            return NO_OPINION
        except Exception:  # no one waits for it
            _LOG.exception("what a call of %s wrote could not be looked at", call.tool)
            return NO_OPINION

    def _current(self) -> Decider:
        with self._loading:
            return self._loaded()

    def _loaded(self) -> Decider:
        if self._decider is None:
            from tallystick.guard.decide import Decider
            from tallystick.guard.grounds import AgentMachine

            self._decider = Decider(self._home, AgentMachine(Path.home(), environment=os.environ))
            if self._changed is not None:
                self._decider.policies.listen(self._changed)
        return self._decider

"""What the pipeline of deliveries asks about them, or tells of them.

Owns the interfaces. Must not know who is behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from tallystick.agents.hooks import HookAdapter, hook_adapter
from tallystick.live.alerts import LookAfter
from tallystick.live.configuration import LiveConfiguration
from tallystick.live.presence import Processes
from tallystick.live.reading_ahead import Aside, at_once
from tallystick.model.decision import Call, Decision


class Decide(Protocol):
    """Gives the decision on a call."""

    def __call__(self, call: Call, then: Callable[[Decision], None]) -> None:
        """Decide, and call `then` once with the decision: at once, or later in the same thread.

        Never raises: what cannot be decided is answered as the setting hooks.on_error says.
        """
        ...


class Transcripts(Protocol):
    """Reads the transcripts that agents write, beside their hooks."""

    def watch(self, agent: str, session: str, path: str) -> None:
        """Follow a transcript from now on."""
        ...

    def poll(self, agent: str | None = None, session: str | None = None) -> bool:
        """Record what is new in all of them, or in one session's; whether there was anything."""
        ...

    def finish(self, agent: str, session: str) -> None:
        """Record what is left of a session, and follow its files no longer."""
        ...

    def close(self) -> None:
        """Record what is left of all sessions, and follow no file any more."""
        ...


class Helpers(msgspec.Struct, frozen=True):
    """What a pipeline asks about a delivery, or tells of it."""

    decide: Decide
    transcripts: Transcripts
    adapter: Callable[[str], HookAdapter | None] = hook_adapter
    """Which adapter understands an agent."""
    look_after: LookAfter | None = None
    configuration: LiveConfiguration | None = None
    """What sessions run under; None: it is not watched."""
    aside: Aside = at_once
    """Where long journals are read."""
    processes: Processes | None = None
    """How an agent's process is asked for; None: of the machine."""

"""Recording beside a stream that must go on whatever happens here.

Owns that an event which cannot be recorded takes no other with it, and is counted. Must not know what streams.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from tallystick.errors import TallystickError
from tallystick.model.step import Event, Loss, Opening, Step
from tallystick.recording.session_writer import SessionWriter

_MOST_FAULTS = 10


class BestEffortRecorder:
    """Records events one by one, and never raises for what a disk or an event did."""

    def __init__(self, session_writer: SessionWriter) -> None:
        self.steps = 0
        self.losses: Counter[str] = Counter()
        self.faults: list[str] = []
        """The first few things that went wrong."""
        self._session_writer = session_writer

    def record(self, events: Iterable[Event], add: Callable[[Step], object]) -> None:
        """Record events; `add` records a step."""
        for event in events:
            try:
                self._take(event, add)
            except (TallystickError, OSError, ValueError) as error:
                self.losses["unrecorded"] += 1
                if len(self.faults) < _MOST_FAULTS:
                    self.faults.append(f"{type(error).__name__}: {error}")

    def _take(self, event: Event, add: Callable[[Step], object]) -> None:
        if isinstance(event, Loss):
            self.losses[event.kind] += 1
        elif isinstance(event, Opening):
            self._session_writer.open(event)
        else:
            add(event)
            self.steps += 1

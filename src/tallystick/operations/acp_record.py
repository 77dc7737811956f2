"""What passes between an editor and an agent, recorded.

Owns the way of a line into the store: which side said it, what is recorded, and that a fault takes nothing else with it.
Must not know how lines travel.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from tallystick.agents.hooks import UNNAMED
from tallystick.agents.protocols.acp import Acp, Side
from tallystick.capture.relay import Ended, Line, Way
from tallystick.errors import TallystickError
from tallystick.model.decision import Decision
from tallystick.model.step import Event, Step
from tallystick.operations.beside import Beside
from tallystick.operations.scribe import Scribe

_JOINED = ("user", "assistant")


class Tap(Beside):
    """Records what passes. `observe` is called on one thread, the relay's."""

    def __init__(
        self, scribe: Scribe, fallback: str, decided: Callable[[bytes], Decision | None], monitor: str | None = None
    ) -> None:
        """Args: decided: gives the decision that made a line of ours."""
        self.acp = Acp(fallback, monitor)
        super().__init__(scribe)
        self._decided = decided
        self._is_closed = False

    def observe(self, line: Line) -> None:
        """Record a line, and what was said in our name."""
        side = Side.EDITOR if line.way is Way.TO_CHILD else Side.AGENT
        if line.missed:
            self._record(self.acp.missed(line.missed, line.at_ns))
        if line.size > len(line.data):
            self._record(self.acp.cut(side, line.data, line.size, line.at_ns))
            return
        self._record(self.acp.take(side, line.data, line.at_ns))
        for reply in line.replies:
            self._record(self.acp.take(side.other, reply, time.time_ns(), policy=self._decided(reply)))

    def end(self, ended: Ended) -> None:
        """The agent has exited."""
        self._record(self.acp.end(time.time_ns(), returncode=ended.returncode))

    def close(self) -> None:
        """Seal what is recorded. The agent's end stands, whatever becomes of that."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._scribe.close()
        except (TallystickError, OSError) as error:
            self.faults.append(f"{type(error).__name__}: {error}")

    def _record(self, events: Iterable[Event]) -> None:
        self.record(events, lambda step: self._scribe.add(self.acp.agent, self._placed(step)))

    def _placed(self, step: Step) -> Step:
        """The step in the session that goes on under its id.

        What an agent's history tells too gets a name of ours, so that the two are found to be one (docs/format.md 13.3).
        """
        with self._scribe.lock:
            session = self._scribe.writer.current(self.acp.agent, step.session)
            record = self._scribe.writer.find(self.acp.agent, session)
            if step.source_id is None and step.type in _JOINED and record is not None:
                step = replace(step, source_id=f"{UNNAMED}acp/{record.journal.size}")
            return replace(step, session=session) if session != step.session else step

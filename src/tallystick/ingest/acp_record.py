"""What passes between an editor and an agent, recorded.

Owns the way of a line into the store: which side said it, what is recorded, and that a fault takes nothing else with it.
Must not know how lines travel.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from tallystick.agents.hooks import UNNAMED
from tallystick.agents.protocols.acp import Acp, Side
from tallystick.capture.relay import Ended, Line, Way
from tallystick.errors import TallystickError
from tallystick.live.configuration import LiveConfiguration, Sighting
from tallystick.model.decision import Decision
from tallystick.model.step import Event, Loss, Opening, Ref, Source, Step
from tallystick.recording.best_effort_recorder import BestEffortRecorder
from tallystick.recording.corroboration import seconds_apart
from tallystick.recording.session_writer import SessionWriter

_JOINED = ("user", "assistant")
_ENDS = ("compaction", "session_end")
_LAST = 16
_MOST_APART_S = 600.0


class Tap(BestEffortRecorder):
    """Records what passes. `observe` is called on one thread, the relay's."""

    def __init__(
        self,
        session_writer: SessionWriter,
        acp: Acp,
        decided: Callable[[bytes], Decision | None],
        configuration: LiveConfiguration | None = None,
    ) -> None:
        """Args: decided: gives the decision that made a line of ours. configuration: watches what sessions run under."""
        self.acp = acp
        super().__init__(session_writer)
        self._decided = decided
        self._is_closed = False
        self._configuration = configuration

    def observe(self, line: Line) -> None:
        """Record a line, and what was said in our name."""
        if line.way is Way.TO_CHILD:
            side = Side.EDITOR
        else:
            side = Side.AGENT
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
        if self._configuration is not None:
            self._configuration.settle()
        self._record(self.acp.end(time.time_ns(), returncode=ended.returncode))

    def close(self) -> None:
        """Seal what is recorded. The agent's end stands, whatever becomes of that."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._session_writer.close()
        except (TallystickError, OSError) as error:
            self.faults.append(f"{type(error).__name__}: {error}")

    def _record(self, events: Iterable[Event]) -> None:
        told = list(events)
        self.record(told, lambda step: self._session_writer.add(self.acp.agent, self._placed(step)))
        if self._configuration is not None:
            self._watch(self._configuration, told)

    def _take(self, event: Event, add: Callable[[Step], object]) -> None:
        if isinstance(event, Opening) and event.parent is not None and event.parent.session == event.session:
            event = self._following(event, event.parent)
        super()._take(event, add)

    def _watch(self, configuration: LiveConfiguration, events: list[Event]) -> None:
        """The agent was started by this process, with its environment."""
        for event in events:
            if not isinstance(event, Loss):
                size = configuration.size(self.acp.agent, event.session)
                sighting = Sighting(self.acp.agent, event.session, size, None, lambda: os.environ)
                configuration.saw(sighting, (event,))
        configuration.tick()

    def _following(self, opening: Opening, compaction: Ref) -> Opening:
        """The session that goes on under its id, after the one that the compaction ended."""
        base, writer = opening.session, self._session_writer.writer
        number = _number(base, writer.current(opening.agent, base))
        while number > 0:
            record = writer.find(opening.agent, f"{base}~{number}")
            if record is not None and record.number_of(compaction) is not None:
                break
            number -= 1
        ended = base
        if number:
            ended = f"{base}~{number}"
        return replace(opening, session=f"{base}~{number + 1}", parent=replace(compaction, session=ended))

    def _placed(self, step: Step) -> Step:
        """The step in the session that goes on under its id.

        What an agent's history tells too gets a name of ours, so that the two are found to be one (docs/format.md 13.3).
        """
        with self._session_writer.lock:
            session = self._current(step.session)
            if step.type in _ENDS and step.source_id is not None and session != step.session:
                session = self._ended(step, session)
            record = self._session_writer.writer.find(self.acp.agent, session)
            if step.source_id is None and step.type in _JOINED and record is not None:
                step = replace(step, source_id=record.free_id(f"{UNNAMED}acp/"))
            if session != step.session:
                return replace(step, session=session)
            return step

    def _current(self, session: str) -> str:
        """What goes on under an id. Another process may have recorded the compaction, and what goes on after it."""
        writer = self._session_writer.writer
        current = writer.current(self.acp.agent, session)
        record = writer.find(self.acp.agent, current)
        if record is None:
            return current
        with record.journal.locked():
            has_ended = record.journal.ended
        if has_ended:
            writer.archive.look_anew()
        if has_ended:
            return writer.current(self.acp.agent, session)
        return current

    def _ended(self, step: Step, current: str) -> str:
        """The session that a compaction ended: the one before, if the agent's history was read first and has reported so."""
        number = _number(step.session, current)
        if number > 1:
            before = f"{step.session}~{number - 1}"
        else:
            before = step.session
        record = self._session_writer.writer.find(self.acp.agent, before)
        size = 0
        if record is not None:
            size = record.journal.size
        last = (record.read(n) for n in range(size - 1, max(size - _LAST, 0), -1)) if record is not None else ()
        told = next((each for each in last if each is not None and each.type == step.type), None)
        if record is None or told is None or told.meta.get("source") == Source.ACP.value:
            return current
        apart = seconds_apart(told.meta.get("ts"), step.ts)
        is_same = not record.known.is_seen(told.n, Source.ACP.value) and (apart is None or abs(apart) <= _MOST_APART_S)
        if is_same:
            return before
        return current


def _number(session: str, continuation: str) -> int:
    """Which continuation of a session one is, 0 for the session itself."""
    return int(continuation.removeprefix(session).lstrip("~") or 0)

"""The results of making recent decisions again: counts, and an alert for each answer that the record does not bear out.

Owns the alert's place, and that each decision gives one at most: it is made again once. Must not know how a decision is made
again (`guard.agreement`), nor when.
"""

from __future__ import annotations

from typing import Any

from tallystick.errors import TallystickError
from tallystick.graph.session_ids import step_id_of
from tallystick.guard.differing import Compared, Difference, Outcome
from tallystick.journal.archive import system_clock
from tallystick.live.alerts import LiveAlerts
from tallystick.model.step import Opening
from tallystick.policy.alert import CallPlace, alert_of_difference
from tallystick.recording.alert_chain import milliseconds_of
from tallystick.recording.own_session import RECORDER, SESSION
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter


class LiveAgreement:
    """How decisions that were made again fared, in one recorder. Any thread may tell it of one."""

    def __init__(self, session_writer: SessionWriter, alerts: LiveAlerts) -> None:
        self._session_writer = session_writer
        self._alerts = alerts
        self._counts = dict.fromkeys(Outcome, 0)
        self.last_error: str | None = None

    def note(self, compared: Compared) -> None:
        """Take note of one decision that was made again. Never raises for what a disk does."""
        self._counts[compared.outcome] += 1
        if compared.difference is None:
            return
        try:
            with self._session_writer.lock:
                self._seal(compared.difference)
        except TallystickError as error:
            self.last_error = str(error)

    def _seal(self, found: Difference) -> None:
        alert = alert_of_difference(
            found.call,
            CallPlace(name=f"{found.sid}:{found.n}", call_id=step_id_of(found.sid, found.n)),
            then=found.then,
            now=found.now,
            created_at=milliseconds_of(system_clock()),
        )
        self._alerts.of_decision(self._record_of(found), alert)

    def _record_of(self, found: Difference) -> SessionRecord:
        """The session of the call; of one that has ended, the recorder's own."""
        writer, call = self._session_writer.writer, found.call
        record = writer.find(call.agent, writer.current(call.agent, call.session))
        if record is not None and not record.journal.ended:
            return record
        return self._session_writer.open(Opening(session=SESSION, agent=RECORDER))

    def told(self) -> dict[str, Any]:
        """How many decisions were made again, by their result."""
        return {outcome.value: number for outcome, number in self._counts.items()}

"""Alerts that the recorder gives by itself: of what was done to the store, to a recorder, to hooks or to what they deliver.

Owns that each is a step of the recorder's own session, and which of them a user is shown besides. They may be given in any
thread. Must not know how any of it is found.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tallystick.errors import TallystickError
from tallystick.journal.archive import system_clock
from tallystick.live.alerts import LiveAlerts
from tallystick.live.delivery import Counts
from tallystick.live.silences import Silences
from tallystick.model.moments import write_time
from tallystick.model.step import Json, Opening
from tallystick.policy.alert import (
    ALARM,
    CHANGED_INSTRUCTIONS,
    KILLED,
    UNHEARD,
    UNHOOKED,
    UNRECORDED,
    Alert,
    alert_of_alarm,
    alert_of_changed_instructions,
    alert_of_killed,
    alert_of_silence,
    alert_of_unrecorded,
)
from tallystick.recording.alert_chain import milliseconds_of
from tallystick.recording.own_session import RECORDER, SESSION, Gaps
from tallystick.recording.session_writer import SessionWriter

if TYPE_CHECKING:
    from tallystick.capture.receipts import Unrecorded
    from tallystick.live.instruction_changes import InstructionNews
    from tallystick.recording.record import SessionRecord


class OwnAlerts:
    """The alerts of one recorder."""

    def __init__(self, session_writer: SessionWriter, alerts: LiveAlerts, gaps: Gaps, counts: Counts) -> None:
        self._session_writer = session_writer
        self._alerts = alerts
        self._gaps = gaps
        self._counts = counts
        self.silences = Silences(session_writer.home.folder / "run")

    def alarm(self, said: str) -> None:
        """Record a sign of tampering around the store."""
        self._give(alert_of_alarm(SESSION, said, created_at=_now()))

    def stranger(self, pid: int) -> None:
        """Record that another process was in the recorder's place."""
        said = f"process {pid} listened on the recorder's socket and is not the recorder"
        if self.silences.note(ALARM, said):
            self.alarm(said)

    def killed(self, pid: int) -> None:
        """Record that the recorder before this one was ended by someone else."""
        self.silences.note(KILLED, f"the recorder (process {pid}) was killed, or failed")
        self._give(alert_of_killed(SESSION, pid, created_at=_now()))

    def unhooked(self, agent: str, said: str) -> None:
        """Record that an agent's hooks are gone."""
        if self.silences.note(UNHOOKED, said, about=agent):
            self._give(alert_of_silence(SESSION, UNHOOKED, said, agent=agent, created_at=_now()))

    def unheard(self, agent: str, file: str) -> None:
        """Record that an agent works and its hooks do not speak of it. file: what shows it."""
        said = f"{agent} works in a session of which no hook speaks: {file}"
        if self.silences.note(UNHEARD, said, about=agent):
            self._give(alert_of_silence(SESSION, UNHEARD, said, agent=agent, created_at=_now()))

    def unrecorded(self, found: Unrecorded) -> None:
        """Record that hooks made deliveries which no recorder has. Raises JournalError: it cannot be recorded now."""
        meta: dict[str, Json] = {"reason": "unrecorded", "events": len(found.agents)}
        if found.moments:
            meta |= {"since": _moment(found.moments[0]), "until": _moment(found.moments[-1])}
        self._gaps.note(meta, {"content.agents": list(found.named)})
        count = len(found.agents)
        said = "1 delivery of hooks is in no record"
        if count > 1:
            said = f"{count} deliveries of hooks are in no record"
        self.silences.note(UNRECORDED, said)
        self._give(alert_of_unrecorded(SESSION, len(found.agents), found.named, created_at=_now()))

    def changed_instructions(self, record: SessionRecord, news: InstructionNews) -> None:
        """Record and show that a file of instructions, which a session loads, is not as its user saw it."""
        said = f"{news.name} changed since you last saw it: {news.change}, {news.writer}"
        evidence: dict[str, Json] = {"by": news.author.by.value, "step": news.author.step}
        if news.change.diff:
            evidence["diff"] = news.change.diff
        opening = record.opening
        session = opening.member("source_session") if opening is not None else None
        alert = alert_of_changed_instructions(
            str(session or record.sid), said, path=news.path, evidence=evidence, created_at=_now()
        )
        self._alerts.of_decision(record, alert)
        self.silences.note(CHANGED_INSTRUCTIONS, said, about=news.path)

    def _give(self, alert: Alert) -> None:
        try:
            with self._session_writer.lock:
                self._alerts.of_decision(self._session_writer.open(Opening(session=SESSION, agent=RECORDER)), alert)
        except TallystickError as failure:
            self._counts.last_error = str(failure)


def _now() -> int:
    return milliseconds_of(system_clock())


def _moment(time_ns: int) -> str:
    return write_time(datetime.fromtimestamp(time_ns // 1_000_000_000, UTC))

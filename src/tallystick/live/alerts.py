"""Alerts while the recorder runs: of decisions, of policies that cannot be used, and of what calls have left in files.

Owns when a finding is sealed as an alert, and that nothing of it holds up an answer: files are looked at in a quiet moment.
Must not know what speaks against a call or a file: functions for that are given.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial

import msgspec

from tallystick.errors import FormatError, TallystickError
from tallystick.guard.policy_change import Change
from tallystick.journal.archive import system_clock
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Json, Ref, Source, Step
from tallystick.policy.alert import Alert, alert_of_broken_policy, alert_of_decision
from tallystick.recording.alert_chain import AlertChain, known_head, milliseconds_of, place_of
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter

_MOST_ASKED = 256
_MOST_WAITING = 64
_MOST_AT_ONCE = 4
_MOST_TOLD = 1024

LookAfter = Callable[[Call, Callable[[Decision], None]], None]
"""Says, at once or later in the same thread, what policies say of the files that a call has written, as they are now."""


def decided_step(call: Step, decision: Decision) -> Step:
    """The step that a decision on a call becomes."""
    meta: dict[str, Json] = {"effect": decision.effect.value, "rules": list(decision.rules), "decided_by": "policy"}
    if decision.would is not None:
        meta["would"] = decision.would.value
    if decision.policy is not None:
        meta["policy"] = decision.policy
    if decision.severity:
        meta["severity"] = decision.severity
    if decision.grants:
        meta["grants"] = list(decision.grants)
    if decision.kept:
        meta["kept"] = decision.kept
    if decision.is_refused:
        meta["told"] = Effect.DENY.value
    meta |= {key: call.meta[key] for key in ("tool", "corr") if key in call.meta}
    values: dict[str, Json] = {"content.text": decision.reason, "content.remedy": decision.remedy}
    values["content.evidence"] = [msgspec.to_builtins(each) for each in decision.evidence]
    values["content.asked"] = [msgspec.to_builtins(scope) for scope in decision.asked]
    return Step(
        session=call.session,
        type="decision",
        source=Source.HOOK,
        source_id=f"{call.source_id}/decision",
        ts=call.ts,
        meta=meta,
        values={name: value for name, value in values.items() if value},
        after=(Ref(call.source_id),),
        within=Ref(call.source_id),
    )


class _Done(msgspec.Struct, frozen=True):
    """A call that was made, and the step of its result."""

    call: Call
    agent: str
    step: Step
    n: int


class LiveAlerts:
    """Seals alerts. Not safe for several threads, but for what takes the session_writer's lock."""

    def __init__(self, session_writer: SessionWriter, look_after: LookAfter | None) -> None:
        self._session_writer = session_writer
        self._look_after = look_after
        self._chain: AlertChain | None = None
        self._asked: OrderedDict[tuple[str, str], Call] = OrderedDict()
        self._done: deque[_Done] = deque(maxlen=_MOST_WAITING)
        self._told: OrderedDict[tuple[str, ...], None] = OrderedDict()
        self.last_error: str | None = None

    def of_decision(self, record: SessionRecord, alert: Alert | None) -> None:
        """Seal the alert of a decision, if it gives one. The decision stands without it."""
        if alert is not None:
            self._add(record, alert)

    def of_change(self, record: SessionRecord, change: Change) -> None:
        """Seal the alert of policies that cannot be used."""
        if change.error is None:
            return
        now = milliseconds_of(system_clock())
        self._add(record, alert_of_broken_policy("recorder", change.error, policy=change.digest, created_at=now))

    def _add(self, record: SessionRecord, alert: Alert) -> None:
        if self._chain is None:
            self._chain = AlertChain(self._session_writer, known_head(self._session_writer.home))
        try:
            self._chain.add(record, alert)
        except FormatError as error:
            self.last_error = str(error)

    # What was written -----------------------------------------------------------------------------------------------

    def asked(self, call: Call, decision: Decision) -> None:
        """Remember a call that may be made now."""
        if self._look_after is None or call.call_id is None or decision.effect is Effect.DENY:
            return
        self._asked[call.agent, call.call_id] = call
        while len(self._asked) > _MOST_ASKED:
            self._asked.popitem(last=False)

    def made(self, agent: str, step: Step, n: int) -> None:
        """A result came: what its call has written is looked at soon."""
        corr = step.meta.get("corr")
        call = None
        if isinstance(corr, str):
            call = self._asked.pop((agent, corr), None)
        if call is not None and step.meta.get("success") is not False:
            self._done.append(_Done(call, agent, step, n))

    def tick(self) -> None:
        """Look at what some calls have written, and seal an alert for each file that speaks against it, once a content."""
        for _ in range(min(_MOST_AT_ONCE, len(self._done))):
            done = self._done.popleft()
            if self._look_after is not None:
                self._look_after(done.call, partial(self._seen, done))

    def _seen(self, done: _Done, found: Decision) -> None:
        try:
            self._seal(done, found)
        except TallystickError as error:
            self.last_error = str(error)

    def _seal(self, done: _Done, found: Decision) -> None:
        key = (*found.rules, *(text for each in found.evidence for text in (each.target, *each.because)))
        if found.effect is Effect.ALLOW or key in self._told:
            return
        self._told[key] = None
        while len(self._told) > _MOST_TOLD:
            self._told.popitem(last=False)
        record = self._session_writer.writer.find(done.agent, done.step.session)
        if record is None:
            return
        with self._session_writer.lock:
            finding = decided_step(done.step, found)
            alert = alert_of_decision(
                finding, done.step, place_of(record, done.n), created_at=milliseconds_of(system_clock())
            )
            self.of_decision(record, alert)

"""Live: what an agent's hook said becomes steps, and the agent gets its answer.

Owns the order of one delivery: understood, decided, recorded, durable where leave was asked, answered. Must not know how
deliveries reach us, nor any agent's format.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from tallystick.agents.hooks import SILENT, UNNAMED, HookAdapter, Payload, Reply
from tallystick.agents.hooks.asks import allowing, as_told, with_command
from tallystick.capture.agent_process import AgentProcess
from tallystick.capture.programs import ANSWER, PROBE
from tallystick.errors import FormatError, TallystickError
from tallystick.guard.policy_change import Change, step_of_change
from tallystick.live.agreement import LiveAgreement
from tallystick.live.alerts import LiveAlerts, decided_step
from tallystick.live.configuration import Sighting
from tallystick.live.delivery import Counts, Delivery, Unfinished
from tallystick.live.endings import Endings
from tallystick.live.heard import Heard
from tallystick.live.helpers import Helpers
from tallystick.live.hook_process import at_home, environment_of_hook
from tallystick.live.nested_sub_agents import NestedSubAgents
from tallystick.live.notice import notice
from tallystick.live.own_alerts import OwnAlerts
from tallystick.live.presence import Attended, Presence, unfinished
from tallystick.live.reading_ahead import ReadingAhead, sessions_of
from tallystick.live.transcript_places import transcript_of
from tallystick.live.turns import Turns
from tallystick.live.undecided import Undecided
from tallystick.live.unreadable import Doubt, check_plain, read_again
from tallystick.live.working_dirs import Folders, Whereabouts
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Event, Json, Loss, Opening, Source, Step
from tallystick.policy.alert import alert_of_decision
from tallystick.recording.alert_chain import milliseconds_of, place_of
from tallystick.recording.checkpoints.auto import Checkpointing
from tallystick.recording.isolation import with_isolation
from tallystick.recording.own_session import RECORDER, SESSION, Gaps
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter, Taken
from tallystick.recording.settings_change import SettingsWatch
from tallystick.recording.synthetic_ids import Unnamed

_LOG = logging.getLogger(__name__)
Settle: TypeAlias = Callable[[], None]
"""Waits until what was recorded survives a loss of power."""
_SAME_SECONDS = 10.0
_MOST_REMEMBERED = 4096
_KEPT_OF_BAD = 16 << 10
_MOST_FOLLOWED = 256


class Done(msgspec.Struct, frozen=True):
    """A delivery that is recorded: the answer, and what must be waited for before it is given."""

    reply: Reply = SILENT
    settle: Settle | None = None
    """To be given to `settled`, in any thread."""


Then: TypeAlias = Callable[[Done | Exception], None]
"""Gets, once, how a delivery ended. An exception: a fault of ours, or for a spooled one that it has to wait."""


class _Read(msgspec.Struct, frozen=True):
    """A delivery, as far as it is understood."""

    delivery: Delivery
    adapter: HookAdapter
    payload: Payload
    key: bytes
    doubt: Doubt | None = None
    """What else it may have asked, where it cannot be read for certain."""


class HookPipeline:
    """Takes deliveries one after another. Not safe for several threads."""

    def __init__(self, session_writer: SessionWriter, helpers: Helpers, *, monotonic: Callable[[], float]) -> None:
        self.session_writer = session_writer
        self.counts = Counts()
        self.undecided = Undecided()
        self._decide = helpers.decide
        self._transcripts = helpers.transcripts
        self._adapter = helpers.adapter
        self._monotonic = monotonic
        self._turns = Turns()
        self._ahead = ReadingAhead(session_writer.writer, helpers.aside)
        self._answered: OrderedDict[bytes, tuple[float, Reply]] = OrderedDict()
        self._unnamed = Unnamed()
        self._nested = NestedSubAgents()
        self._folders = Folders()
        self.endings = Endings(monotonic)
        self._presence = Presence(monotonic, helpers.processes)
        self._followed: dict[tuple[str, str], str] = {}
        self._whereabouts = Whereabouts(monotonic)
        self._settle: Settle | None = None
        self._decided_at: str | None = None
        self.changes = 0
        """How often `unfinished` has changed."""
        self._gaps = Gaps(session_writer)
        self._alerts = LiveAlerts(session_writer, helpers.look_after)
        self.heard = Heard(session_writer.home.folder / "run" / "heard.json")
        self.own_alerts = OwnAlerts(session_writer, self._alerts, self._gaps, self.counts)
        self.agreement = LiveAgreement(session_writer, self._alerts)
        self.checkpoints = Checkpointing(session_writer)
        self._configuration = helpers.configuration
        if self._configuration is not None:
            self._configuration.tell = self.own_alerts.changed_instructions
        self._settings = SettingsWatch(session_writer.home)

    # One delivery ---------------------------------------------------------------------------------------------------

    def settled(self, settle: Settle) -> None:
        """Wait for the disk. Where it refuses, the agent has its answer all the same."""
        try:
            settle()
        except TallystickError as error:
            self.counts.last_error = str(error)

    def begin(self, delivery: Delivery, then: Then) -> None:
        """Have a delivery decided on and recorded, and tell `then`. Never raises for what an agent sent or a disk did.

        Deliveries of one session are worked on in the order in which they came; no session waits for another.
        """
        found = self._read(delivery)
        if isinstance(found, Reply):
            then(Done(found))
        else:
            self._turns.take((delivery.agent, found.payload.session), partial(self._turn, found, then))

    def _read(self, delivery: Delivery) -> _Read | Reply:
        """A delivery with what it says; the answer, if there is nothing to be done about it."""
        if delivery.data == PROBE:
            return Reply(stdout=ANSWER)
        if not delivery.data.strip():
            return SILENT  # an agent that is interrupted may start a hook and tell it nothing
        self.counts.deliveries += 1
        self.counts.spooled += delivery.spooled
        key = sha256(f"{delivery.agent}\0{delivery.event}\0".encode() + delivery.data).digest()
        adapter = self._adapter(delivery.agent)
        try:
            if adapter is None:
                raise FormatError(f"no agent {delivery.agent[:80]!r} is known", hint="`tally agents` lists them")
            payload = self._nested.placed(delivery.agent, adapter.parse(delivery.data, delivery.event))
            if payload.asks is not None:
                check_plain(delivery.data)
            return _Read(delivery, adapter, payload, key)
        except Exception as error:  # a fault of an adapter must not keep the agent from its answer either
            if not isinstance(error, FormatError):
                _LOG.exception("a payload of %s could not be read", delivery.agent)
            self._refuse(delivery, error)
            doubt = read_again(adapter, delivery, error)
            if adapter is None or doubt is None:
                return SILENT
            self.own_alerts.alarm(doubt.alarm)
            return _Read(delivery, adapter, doubt.payload, key, doubt)

    def _turn(self, read: _Read, then: Then, over: Callable[[], None]) -> None:
        """Decide on a delivery if it asks, and record it."""
        delivery, asks = read.delivery, read.payload.asks
        known = self._known_answer(read.key, read.payload)
        when_ready = self._ahead.begin(delivery.agent, sessions_of(read.payload))

        def conclude(decision: Decision | None) -> None:
            then(self._concluded(read, decision))
            over()

        def decided(decision: Decision | None) -> None:
            when_ready(partial(conclude, decision))

        if known is not None:
            self.counts.repeated += 1
            then(Done(known))
            over()
        elif asks is None or (delivery.spooled and delivery.decided is not None):
            decided(None if asks is None else delivery.decided)
        else:
            decide = self._decide
            if read.doubt is not None:
                decide = read.doubt.deciding(decide, self.session_writer.home)
            decide(at_home(asks, delivery), lambda decision: decided(self._counted(asks, decision)))

    def _counted(self, asks: Call, decision: Decision) -> Decision:
        self.counts.decisions[decision.effect.value] = self.counts.decisions.get(decision.effect.value, 0) + 1
        self._alerts.asked(asks, decision)
        return decision

    def _concluded(self, read: _Read, decision: Decision | None) -> Done | Exception:
        """Record a delivery with the decision on it."""
        self._settle = None
        if decision is not None:
            self.undecided.saw(read.delivery, decision)
        try:
            decision, self._decided_at = as_told(read.delivery.agent, read.payload, decision), None
            if read.payload.session:
                self._record_or_note(read.delivery, read.payload, decision)
            if decision is not None and decision.effect in (Effect.ASK, Effect.DENY):
                reply = read.adapter.reply(read.payload, with_command(decision, self._decided_at))
            elif decision is not None and decision.is_plain:
                reply = allowing(read.delivery.agent, read.payload)
            elif read.delivery.spooled:
                reply = SILENT
            else:
                reply = notice(read.delivery.agent, read.payload, self.own_alerts.silences)
        except Exception as error:
            return error
        self._remember(read.key, reply)
        return Done(reply, self._settle)

    def _known_answer(self, key: bytes, payload: Payload) -> Reply | None:
        """What was answered to the same event a moment ago: two handlers may be installed for one agent."""
        found = self._answered.get(key)
        if found is None or not payload.timed or self._monotonic() - found[0] > _SAME_SECONDS:
            return None
        return found[1]

    def _remember(self, key: bytes, reply: Reply) -> None:
        self._answered[key] = (self._monotonic(), reply)
        while len(self._answered) > _MOST_REMEMBERED:
            self._answered.popitem(last=False)

    # What goes on from one recorder to the next ---------------------------------------------------------------------

    @property
    def unfinished(self) -> list[Unfinished]:
        """The sessions that go on, for the next recorder to go on with if this one dies."""
        attended = {(one.agent, one.session): one for one in self._presence.attended()}
        return [
            unfinished(key, self._followed.get(key, ""), attended.get(key), is_ending=key in self.endings)
            for key in {**self._followed, **attended}
        ]

    def resume(self, unfinished: Iterable[Unfinished]) -> None:
        """Go on with what another recorder left."""
        for item in unfinished:
            self.heard.resume(item.agent, item.session, item.transcript)
            self._ahead.begin(item.agent, (item.session,))
            if item.transcript:
                self._follow(item.agent, item.session, item.transcript)
            if item.pid:
                process = AgentProcess(item.pid, item.began_ms)
                self._presence.resume((Attended(item.agent, item.session, process, item.rests),))
            if item.ending:
                self.endings.expect((item.agent, item.session))

    def _follow(self, agent: str, session: str, path: str) -> None:
        self._transcripts.watch(agent, session, path)
        self.changes += self._followed.get((agent, session)) != path
        self._followed.pop((agent, session), None)
        self._followed[(agent, session)] = path
        while len(self._followed) > _MOST_FOLLOWED:
            self._followed.pop(next(iter(self._followed)))

    # Who works where ------------------------------------------------------------------------------------------------

    def working(self) -> list[dict[str, str]]:
        """The live sessions, by their hooks: agent, the agent's own id, and the folder they work in."""
        return self._whereabouts.live()

    # Recording ------------------------------------------------------------------------------------------------------

    def _record_or_note(self, delivery: Delivery, payload: Payload, decision: Decision | None) -> None:
        try:
            self._gaps.tell()
            self._record(delivery, payload, decision)
        except Exception as error:  # a fault of ours must not keep the agent from its answer either
            if delivery.spooled:
                self.session_writer.recover()
                raise
            if not isinstance(error, TallystickError):
                _LOG.exception("a delivery of %s could not be recorded", delivery.agent)
            self.counts.lost += 1
            self.counts.last_error = f"{type(error).__name__}: {error}"
            self._gaps.count(delivery.received)
            self.session_writer.recover()

    def _record(self, delivery: Delivery, payload: Payload, decision: Decision | None) -> None:
        self._look_at_transcript(delivery.agent, payload)
        self.heard.note(delivery.agent, payload)
        if not delivery.spooled:
            self._whereabouts.note(delivery.agent, payload)
            self.changes += self._presence.note(delivery.agent, payload, delivery.peer)
        folder = None
        if payload.asks is not None:
            folder = payload.asks.cwd
        size = 0
        if self._configuration is not None:
            size = self._configuration.size(delivery.agent, payload.session)
        for event in self._leave(delivery.agent, payload) if payload.continues is not None else payload.events:
            try:
                self._record_event(delivery, self._folders.noted(delivery.agent, event, folder), decision)
            except FormatError as error:  # one that cannot be sealed does not take the others with it
                self.counts.last_error = str(error)
                self.note_gap({"reason": "unrecordable"}, {"content.error": str(error)[:2000]})
        if self._configuration is not None and not delivery.spooled:
            folder = self._whereabouts.folder(delivery.agent, payload.session)
            environment = partial(environment_of_hook, delivery)
            sighting = Sighting(delivery.agent, payload.session, size, folder, environment)
            self._configuration.saw(sighting, payload.events)
        if payload.begins:
            self.endings.hasten(delivery.agent, payload.session)
            self._begin(delivery.agent, payload.session)
        if payload.ends:
            self.changes += 1
            self.endings.expect((delivery.agent, payload.session))

    def _begin(self, agent: str, session: str) -> None:
        record = self.session_writer.writer.find(agent, self.session_writer.writer.current(agent, session))
        if record is not None:
            self._unnamed.begin(record.sid)

    def _leave(self, agent: str, payload: Payload) -> tuple[Event, ...]:
        """The agent goes on under another id: what it has left is closed too.

        Of what is not recorded, nothing is reported.
        """
        left = str(payload.continues)
        if self.session_writer.writer.find(agent, left) is None:
            return tuple(event for event in payload.events if isinstance(event, Loss) or event.session != left)
        self.changes += 1
        self.endings.expect((agent, left))
        return payload.events

    def _look_at_transcript(self, agent: str, payload: Payload) -> None:
        """Read on in the second witness's file first. Whatever is wrong with that, what the hook reported is recorded."""
        try:
            if (path := transcript_of(agent, payload)) is not None:
                self._follow(agent, payload.session, path)
            if payload.begins or payload.asks is not None:
                self._transcripts.poll(agent, payload.session)
        except Exception as error:
            if not isinstance(error, TallystickError):
                _LOG.exception("the transcript of a session of %s could not be read", agent)
            self.counts.last_error = f"{type(error).__name__}: {error}"

    def _record_event(self, delivery: Delivery, event: Event, decision: Decision | None) -> None:
        agent = delivery.agent
        if isinstance(event, Loss):
            return
        event = replace(
            event, session=self.session_writer.writer.current(agent, event.session), ts=event.ts or delivery.received
        )
        if isinstance(event, Opening):
            if self.session_writer.writer.archive.find(agent, event.session) is None:
                folder = self._whereabouts.folder(agent, event.session)
                self.session_writer.open(with_isolation(delivery.opening(event), folder, Path.home()))
            return
        with self.session_writer.lock:  # or the session might be let go of in between
            self._add(delivery, event, decision)

    def _add(self, delivery: Delivery, step: Step, decision: Decision | None) -> None:
        record = self._record_of(delivery.agent, step)
        if step.source_id is None or step.source_id.startswith(UNNAMED):
            named = self._unnamed.named(record, step, delivery.id)
            if named is None:
                return
            step = named
        if delivery.spooled:
            step = replace(step, meta={**step.meta, "spooled": True, **delivery.members})
        try:
            taken = self.session_writer.add_to(record, step)
        except TallystickError:
            self._unnamed.forget(record.sid)  # what was not recorded was not delivered: it may come again
            raise
        if step.type == "tool_call" and decision is not None:
            if decision.is_told:
                decided = decided_step(step, decision)
                told = self.session_writer.add_to(record, decided)
                self._decided_at = f"{record.sid[:12]}:{told.n}"
                self._mark(delivery, record, told, decided)
                at = milliseconds_of(delivery.received)
                alert = alert_of_decision(decided, step, place_of(record, taken.n), created_at=at)
                self._alerts.of_decision(record, alert)
            # An intent is on disk before its call is let go, and sealed where a signer guards the store: DESIGN 5.
            self._settle = self.session_writer.before_effects(taken.session)
        elif step.type == "tool_result":
            self._alerts.made(delivery.agent, step, taken.n)
        else:
            self._mark(delivery, record, taken, step)

    def _mark(self, delivery: Delivery, record: SessionRecord, taken: Taken, step: Step) -> None:
        seen = step
        if delivery.spooled:
            seen = replace(step, meta={**step.meta, "spooled": True})
        self.checkpoints.saw(record, taken, seen)

    def _record_of(self, agent: str, step: Step) -> SessionRecord:
        opening = Opening(session=step.session, agent=agent, source=step.source, ts=step.ts)
        return self.session_writer.writer.find(agent, step.session) or self.session_writer.open(opening)

    # Policies -------------------------------------------------------------------------------------------------------

    def note_policies(self, change: Change) -> None:
        """Record that another set of policies is in force, or that files of policies cannot be used."""
        try:
            with self.session_writer.lock:
                self.session_writer.add(RECORDER, step_of_change(change))
                record = self.session_writer.writer.find(RECORDER, SESSION)
                if record is not None:
                    self._alerts.of_change(record, change)
        except TallystickError as failure:
            self.counts.last_error = str(failure)

    # What is not as it should be ------------------------------------------------------------------------------------

    def _refuse(self, delivery: Delivery, error: Exception) -> None:
        """A payload that cannot be understood: the recorder's own session says so, and keeps how it begins."""
        self.counts.refused += 1
        self.counts.last_error = str(error)
        meta: dict[str, Json] = {"reason": "bad-payload", "bytes": len(delivery.data)}
        begins = delivery.data[:_KEPT_OF_BAD].decode("utf-8", "replace")
        said = {"content.agent": delivery.agent[:200], "content.error": str(error)[:2000], "content.payload": begins}
        self.note_gap(meta, said)

    def note_gap(self, meta: dict[str, Json], values: dict[str, Json]) -> None:
        """Record that something is missing from the record."""
        try:
            self._gaps.note(meta, values)
        except TallystickError as failure:
            self.counts.last_error = str(failure)

    # Time passing ---------------------------------------------------------------------------------------------------

    def tick(self, *, closing: bool = False) -> bool:
        """Read transcripts, and close sessions whose agent has ended them; whether anything was new."""
        if self._ahead.is_any and not closing:
            return True  # soon
        try:
            was_new = self._transcripts.poll()
            self._alerts.tick()
            self.session_writer.take(RECORDER, self._settings.changed())
            (self.checkpoints.settle if closing else self.checkpoints.tick)()
            if self._configuration is not None:
                (self._configuration.settle if closing else self._configuration.tick)()
            for one in self._presence.gone(for_the_last_time=closing):
                self.changes += 1
                self.endings.lose((one.agent, one.session), one.end)
            for (agent, session), is_time in self.endings.each():
                is_quiet = is_time and not self._transcripts.poll(agent, session)
                if closing or (is_quiet and not self._is_due(agent, session)):
                    self._transcripts.finish(agent, session)
                    self._end_with(agent, session)
                    self._followed.pop((agent, session), None)
                    self.endings.close((agent, session))  # only now: what a full disk refuses is tried again
        except TallystickError as error:
            self.counts.last_error = str(error)
            return False
        return was_new

    def _is_due(self, agent: str, session: str) -> bool:
        """Whether something is still to be recorded before a session ends."""
        waits = self._configuration is not None and self._configuration.is_due(agent, session)
        return waits or self.checkpoints.is_due

    def close(self) -> None:
        """Record and seal what is pending. Raises: JournalError: the store cannot be written."""
        try:
            self.tick(closing=True)
            self._transcripts.close()
        finally:
            self.session_writer.close()

    @property
    def unrecorded(self) -> int:
        """How many deliveries could not be recorded, and no gap tells of them yet."""
        return self._gaps.untold

    @property
    def is_busy(self) -> bool:
        """Whether a session is about to be closed, a decision is waited for, or something waits to be said."""
        return bool(len(self.endings) or self._gaps.untold or self._turns.is_any or self._ahead.is_any)

    def _end_with(self, agent: str, session: str) -> None:
        """A session ends, and with it those of its sub-agents that have not."""
        meta = self.endings.said((agent, session))
        for child in list(self._presence.below(agent, session)):
            self._end(agent, self.session_writer.writer.current(agent, child.session), meta)
            self._presence.forget(agent, child.session)
        self._end(agent, self.session_writer.writer.current(agent, session), meta)

    def _end(self, agent: str, session: str, meta: dict[str, Json]) -> None:
        record = self.session_writer.writer.find(agent, session)
        if record is not None and not record.journal.ended:
            end = Step(session=session, type="session_end", source=Source.HOOK, meta=meta)
            self.session_writer.add_to(record, end)
        if self._configuration is not None:
            self._configuration.end(agent, session)

"""Sessions of the session-log interface on our journals: every event becomes sealed steps, as an import of it does.

Owns numbering under the journal's lock, no matter who else records into the session, and how a session's own members
(inputs, state, outputs, status) are recorded. What steps an event gives is agents/headless/live.py's; how they come
back as events is exports/headless.py's. Must not know who calls back whom.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from tallystick.agents.headless.live import LiveLog, spelled_time
from tallystick.agents.headless.transcript import NAME
from tallystick.errors import FormatError, NotFoundError, TallystickError
from tallystick.exports.headless import own_events
from tallystick.journal.home import Home, default_folder
from tallystick.journal.known_values import KnownFile
from tallystick.journal.read import read_file
from tallystick.journal.session_keys import SessionKeys
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Source, Step
from tallystick.recording.context import owner
from tallystick.recording.record import SessionRecord
from tallystick.recording.recorder import Recorder
from tallystick.recording.session_journal_reader import JournalReader
from tallystick.recording.session_writer import SessionWriter
from tallystick.scrubbing.members import scrub_members
from tallystick.seal.tagged import json_of
from tallystick.sessions.session_changes import changes
from tallystick.sessions.session_log import Log
from tallystick.sessions.session_spelling import as_read
from tallystick.sessions.session_words import Status
from tallystick.workspace.settings import read_setting

_MOST_LIVE = 64
_STATUSES = {Status.COMPLETE.value: "completed"}
_STATE = ("inputs", "state", "outputs", "result", "error")
_EMPTY: dict[str, Json] = {"inputs": {}, "state": {}, "outputs": {}, "result": "", "error": ""}


class _Live:
    """What must be known of a session to go on with it."""

    def __init__(self, session_writer: SessionWriter, session: str) -> None:
        self.session_writer = session_writer
        self.events = LiveLog(session)
        self.state = dict(_EMPTY)
        self.status: Json = None
        """How the session ended last."""
        self.woven = 0
        """How many entries of the journal are taken into account."""

    def take(self, steps: list[Recorded]) -> None:
        """Take into account what others recorded."""
        for members in own_events(steps):
            self.events.steps(members)
        for step in steps:
            if step.type in ("session_start", "session_update", "session_end"):
                found = {name: step.values.get(f"content.{name}") for name in _STATE}
                self.state |= {name: value for name, value in found.items() if value is not None}
                self.status = step.member("status") or self.status


class JournalStore:
    """Sessions in a store of Tallystick. Safe to use from several threads; several processes may use one store."""

    def __init__(self, home: str | Path | None = None) -> None:
        """Use the store at `home` (default: TALLY_HOME, else ~/.tally); it is made if it is not there.

        One that is there is opened for writing when something is recorded: reading needs neither a lock nor a write.

        Raises:
            JournalError: it cannot be made. FormatError: its config.toml is damaged.
        """
        self.home = Home(Path(home) if home is not None else default_folder(os.environ))
        self._opened: Recorder | None = None
        self._opening = threading.Lock()
        self._keys = SessionKeys(self.home)
        if not self.home.exists:
            self._opened = Recorder(self.home.folder)
        self._known = KnownFile(self.home)
        self._scrubs = read_setting(self.home, "secrets.scrub") == "on"
        self._live: OrderedDict[str, _Live] = OrderedDict()
        self._halves: dict[str, list[Step]] = {}
        self._late: TallystickError | None = None

    @property
    def recorder(self) -> Recorder:
        """What records into the store. Raises JournalError: the store cannot be opened for writing."""
        with self._opening:
            if self._opened is None:
                self._opened = Recorder(self.home.folder)
            return self._opened

    # Whole sessions -------------------------------------------------------------------------------------------------

    def create(self, log: Log) -> None:
        """Begin a session's journal; nothing if it has one. Raises what Writer.open raises."""
        ts, spelling = spelled_time(log.created_at)
        values = {
            "content.title": log.workflow_name,
            "content.inputs": dict(log.inputs) or None,
            "personal.cwd": _working_folder(),
        }
        self.recorder.session_writer.open(
            Opening(
                session=log.id,
                agent=NAME,
                source=Source.SDK,
                ts=ts,
                meta=spelling,
                values={name: json_of(value) for name, value in values.items() if value is not None},
            )
        )

    def load(self, session: str) -> Log:
        """The session as it is recorded.

        Raises:
            NotFoundError: it is not.
        """
        return self.reader(session).whole()

    def sessions(self) -> list[str]:
        """The ids of all sessions of this agent in the store, also of those that were imported."""
        self._keys.look_again()
        return self._keys.of_agent(NAME)

    def reader(self, session: str) -> JournalReader:
        """What reads a session as it grows. Raises NotFoundError: it is not recorded."""
        sid = self._keys.find(NAME, session)
        if sid is None:
            self._keys.look_again()
            sid = self._keys.find(NAME, session)
        path = None
        if sid is not None:
            path = self.home.journal(sid)
        if path is None:
            raise self._not_found(session)
        return JournalReader(self.home, path, session)

    def _not_found(self, session: str) -> NotFoundError:
        return NotFoundError(f"no session {session[:80]!r} of the session log in {self.home.folder}")

    # One thing after the other --------------------------------------------------------------------------------------

    def append(self, session: str, members: Mapping[str, Json]) -> int:
        """Record an event under the next number, which is returned. It survives the process at once.

        Raises:
            NotFoundError: there is no such session. FormatError: the event cannot be sealed.
            JournalError: it cannot be written.
        """
        with self._locked(session) as (record, live):
            self.recorder.checkpoints.tick()
            self._catch_up(record, live)
            self._finish(session, live.session_writer, record)
            seq = live.events.last_seq + 1
            undo = live.events.undo()
            steps = live.events.steps({**members, "seq": seq})
            try:
                self._add(live.session_writer, record, steps[0])
            except BaseException:
                undo()
                raise
            self._halves[session] = steps[1:]
            # The event has its number; `sync` raises what is in the way of the rest.
            with suppress(TallystickError):
                self._finish(session, live.session_writer, record)
            return seq

    def _finish(self, session: str, session_writer: SessionWriter, record: SessionRecord) -> None:
        """Record the steps that are still missing of the last event. One that can never be recorded is let go, and told."""
        missing = self._halves.get(session, [])
        while missing:
            try:
                self._add(session_writer, record, missing[0])
            except FormatError as error:
                self._late = error
            missing.pop(0)
        self._halves.pop(session, None)

    def _add(self, session_writer: SessionWriter, record: SessionRecord, step: Step) -> None:
        """Record a step; it may be an occasion for a checkpoint."""
        if step.source_id is not None and record.known.find(step.source_id) is not None:
            step = replace(
                step, source_id=record.free_id(f"{step.source_id[:150]}~")
            )  # an id that the agent gave twice
        before = record.journal.size
        try:
            taken = session_writer.add_to(record, replace(step, source=Source.SDK))
        except TallystickError as error:
            if record.journal.size == before:
                raise
            self._late = error  # it is recorded: what failed is to seal what was there before
        else:
            self.recorder.checkpoints.saw(record, taken, step)

    def note_gap(self, session: str, *, events: int, reason: str, timestamp: str) -> None:
        """Record that events could not be."""
        values = {"content.reason": json_of(reason)}
        missed = {"reason": "not-recorded", "events": events}
        with self._locked(session) as (record, live):
            self._add(live.session_writer, record, _step(session, "gap", timestamp, missed, values))

    def update(self, log: Log, *, since: Log | None = None) -> None:
        """Record how a session stands, if it is not recorded so, and make it durable: what differs from `since`, else all.

        Raises what `append` raises.
        """
        self.recorder.checkpoints.settle()
        name, at = log.id, log.updated_at
        with self._locked(name) as (record, live):
            now: dict[str, Json] = {name: json_of(getattr(log, name)) for name in _STATE}
            if since is not None:
                kept = as_read(Log, {"status": _standing(record, live), **live.state})
                log = changes(_said(since), _said(log)).apply(kept)
                now = {name: getattr(log, name) for name in _STATE}
            changed = {name: value for name, value in now.items() if value != live.state[name]}
            status = _STATUSES.get(str(log.status), str(log.status))
            ends = status not in ("", Status.RUNNING)
            if "inputs" in changed or (changed and not ends) or (not ends and record.journal.ended):
                self._add(live.session_writer, record, _step(name, "session_update", at, {}, _content(changed)))
            if ends and (changed or not record.journal.ended or status != live.status):
                values = {name: value for name, value in now.items() if name != "inputs" and (value or name in changed)}
                end = _step(name, "session_end", at, {"status": status}, _content(values))
                self._add(live.session_writer, record, replace(end, source_id=f"#{live.events.last_seq}/end"))
                live.status = status
            live.state = now
            sid = record.sid
        self.recorder.session_writer.make_durable(sid)

    def sync(self, session: str, *, updated_at: str) -> None:
        """Make what was recorded of a session survive a loss of power.

        Raises:
            JournalError: the disk refuses, or refused since the last time.
        """
        with self._locked(session) as (record, live):
            self._finish(session, live.session_writer, record)
        live.session_writer.make_durable(record.sid)
        late, self._late = self._late, None
        if late is not None:
            raise late

    def settle(self) -> None:
        """Nothing: what records has a thread of its own for that."""

    def release(self, session: str) -> None:
        """Seal what was recorded, in an event loop a moment later: no one adds to the session for now."""
        self._live.pop(session, None)
        if self._opened is None:
            return
        if owner().task:
            self.recorder.session_writer.seal_soon()
            return
        self.recorder.checkpoints.settle()
        self.recorder.seal()

    def last_seq(self, session: str) -> int:
        """The highest number of a session's events so far."""
        with self._locked(session) as (_, live):
            return live.events.last_seq

    def clean(self, members: Mapping[str, Json]) -> Mapping[str, Json]:
        """An event as it is recorded: with markers in the places of secrets, unless the store's settings say otherwise."""
        if self._scrubs:
            return scrub_members(members, self._known.current())
        return members

    def close(self) -> None:
        """Seal what is pending and close the store's files."""
        self._live.clear()
        if self._opened is not None:
            self._opened.close()

    # Journals -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _locked(self, session: str) -> Iterator[tuple[SessionRecord, _Live]]:
        """Hold a session's journal, with everything in it taken into account."""
        session_writer = self.recorder.session_writer
        with session_writer.lock:
            record = self._record(session_writer, session)
            live = self._live.pop(session, None)
            if live is not None and live.session_writer is not session_writer:
                self._halves.clear()  # in a forked child: what is missing is its parent's to record
                live = None
            live = live or _Live(session_writer, session)
            with record.journal.locked():
                self._catch_up(record, live)
                try:
                    yield record, live
                except BaseException:
                    if record.journal.size == live.woven:  # else the journal says what of the event is there
                        self._keep(session, live)
                    raise
                live.woven = record.journal.size
            self._keep(session, live)

    def _keep(self, session: str, live: _Live) -> None:
        self._live[session] = live
        if len(self._live) > _MOST_LIVE:
            self._live.popitem(last=False)

    def _record(self, session_writer: SessionWriter, session: str) -> SessionRecord:
        record = session_writer.writer.find(NAME, session)
        if record is None:
            session_writer.archive.look_anew()
            record = session_writer.writer.find(NAME, session)
        if record is None:
            raise self._not_found(session)
        return record

    def _catch_up(self, record: SessionRecord, live: _Live) -> None:
        size = record.journal.size
        if live.woven >= size:
            return
        steps = []
        for placed in read_file(self.home, record.journal.path, start=record.known.offset_of(live.woven)):
            steps.append(placed.step)
            if placed.step.n + 1 >= size:
                break
        live.take(steps)
        live.woven = size


def _said(log: Log) -> Log:
    """A session's own members as they are read back."""
    return replace(log, **{name: json_of(getattr(log, name)) for name in _STATE})


def _standing(record: SessionRecord, live: _Live) -> str:
    """The session's status as it is recorded, in the words of the agent."""
    if not record.journal.ended:
        return Status.RUNNING
    word = str(live.status or "completed")
    return next((own for own, ours in _STATUSES.items() if ours == word), word)


def _working_folder() -> str | None:
    """Where the program works: what git says there belongs to the session's checkpoints."""
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return None


def _step(session: str, kind: str, time: str, meta: Mapping[str, Json], values: Mapping[str, Json]) -> Step:
    ts, spelling = spelled_time(time)
    return Step(session=session, type=kind, source=Source.SDK, ts=ts, meta={**spelling, **meta}, values=values)


def _content(values: Mapping[str, Json]) -> dict[str, Json]:
    return {f"content.{name}": value for name, value in values.items()}

"""What live sessions run under, and that it changed: sealed while no one waits.

Owns when it is looked at. A session's inputs are gathered in a thread once it has begun, and become the checkpoint of its
start; while it is live, a change of a file, of its model or of its mode becomes a `config_change`. Must not know what counts
as an input: `configured` does. Source: decision 0022.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from tallystick.agents.settings.inputs import LOCATIONS, switches
from tallystick.errors import CheckpointError, TallystickError
from tallystick.journal.keys import configuration_key
from tallystick.live.hook_process import home_in
from tallystick.live.watched_places import Found, Look, Place, Places, working_folder
from tallystick.model.ids import SessionId
from tallystick.model.step import Event, Json, Opening, Step
from tallystick.recording.checkpoints.auto import folder_of, git_of
from tallystick.recording.checkpoints.write import Mark, mark
from tallystick.recording.isolation import MEMBER
from tallystick.recording.record import SessionRecord
from tallystick.recording.run_config.recorded import known_configuration
from tallystick.recording.run_config.steps import change_step
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.checkpoints import Trigger
from tallystick.sessions.configuration import ENVIRONMENT, HOOKS, Configuration, configuration, differences
from tallystick.sessions.declared_config import Told, carried, told_inputs

if TYPE_CHECKING:
    from tallystick.capture.surroundings import Surroundings
    from tallystick.journal.home import Home
    from tallystick.live.instruction_changes import InstructionNews
    from tallystick.recording.run_config.authors import Authors
    from tallystick.recording.run_config.gathered import Gathered

_LOG = logging.getLogger(__name__)
_MOST_SESSIONS = 128
_LIVE_SECONDS = 600.0
"""For how long after its last word a session's files are looked at."""
_MOST_SECONDS = 5.0


class _Session(msgspec.Struct):
    """A session that is watched."""

    agent: str
    place: Place
    told: Told
    start: int
    """The newest entry when it was first watched."""
    spoke: float
    since: int
    """How many entries there were when something was reported again."""
    ticket: int = 0
    """Until its start is recorded: what is found with this ticket, or a later one, says where the repository stood then."""
    current: Configuration | None = None
    """Under which it is, as far as is recorded."""
    turn: int = -1
    """Which gathering of its place that has."""
    is_told: bool = False
    """What it says of itself is part of `current`."""
    home: str | None = None
    """The home folder that the process of its hook had, where that was seen."""


Tell = Callable[[SessionRecord, "InstructionNews"], object]


class AgentUser(msgspec.Struct, frozen=True):
    """The user whom agents run as: the home folder and the environment."""

    home: Path
    environment: Mapping[str, str]


class Sighting(msgspec.Struct, frozen=True):
    """A session of an agent, by the agent's own id, in which events were recorded."""

    agent: str
    session: str
    size: int
    """How many entries it had before."""
    folder: str | None
    """That it works in, if it has not said so when it began."""
    environment: Callable[[], Mapping[str, str] | None]
    """Of the agent; None: it is not seen."""


class LiveConfiguration:
    """Watches what the sessions of one session_writer run under.

    `tick` records what was found: anyone who records calls it.
    """

    def __init__(
        self,
        session_writer: SessionWriter,
        user: AgentUser,
        *,
        monotonic: Callable[[], float],
        look: Look | None = None,
    ) -> None:
        """Watch sessions. `user`: where agents' files are, as far as their own environment is not seen."""
        self.failures = 0
        self.last_error: str | None = None
        self._session_writer = session_writer
        self._user = user
        self._monotonic = monotonic
        self._key: bytes | None = None
        self._sessions: OrderedDict[SessionId, _Session] = OrderedDict()
        look = look or Look(_gathered, git_of)
        self._changes = look.changes
        self._places = Places(look, self._secret, failed=self._note)
        self.tell: Tell = lambda record, news: None
        """Given each file of instructions that is new to its user, with the session that loads it."""

    # What sessions say ------------------------------------------------------------------------------------------------

    def size(self, agent: str, session: str) -> int:
        """How many entries a session has."""
        record = self._known(agent, session)
        if record is None:
            return 0
        return record.journal.size

    def saw(self, sighting: Sighting, events: Iterable[Event]) -> None:
        """Events were recorded in a session. Never raises."""
        try:
            record = self._known(sighting.agent, sighting.session)
            if record is None or record.journal.ended:
                return
            said = _told_settings(events)
            if record.sid in self._sessions:
                self.say(record.sid, size=sighting.size, **said)
            else:
                told = replace(Told(agent=sighting.agent), **said)
                folder = sighting.folder or folder_of(record)
                self.begin(record, told, folder=folder, environment=sighting.environment())
        except Exception as error:  # what was recorded is recorded
            if not isinstance(error, TallystickError):
                _LOG.exception("a session of %s cannot be watched", sighting.agent)
            self._note(error)

    def _known(self, agent: str, session: str) -> SessionRecord | None:
        return self._session_writer.writer.find(agent, self._session_writer.writer.current(agent, session))

    def begin(
        self, record: SessionRecord, told: Told, *, folder: str | None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Watch a session from now on.

        Args:
            environment: of the agent; None: it is not seen.
        """
        known = known_configuration(record)
        if environment is not None and (known is None or ENVIRONMENT not in known.sections):
            told = replace(told, switches=switches(environment))  # a later hook of the session may be given others
        seen = environment
        if seen is None:
            seen = self._user.environment
        variables = tuple((name, seen[name]) for name in LOCATIONS if seen.get(name))
        user = Path(seen.get("HOME") or self._user.home)
        place = Place(told.agent, user, working_folder(folder), variables)
        self._sessions[record.sid] = _Session(
            agent=record.agent,
            place=place,
            told=told,
            start=max(record.journal.size - 1, 0),
            spoke=self._monotonic(),
            since=record.journal.size,
            ticket=self._places.ask_git(place) if known is None else 0,
            current=known,
            home=home_in(environment),
        )
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        self._want()

    def say(self, sid: SessionId, *, size: int, **said: str | None) -> None:
        """A session spoke. What it says of its model, its version or its mode holds from entry `size` on."""
        session = self._sessions.get(sid)
        if session is None:
            return
        session.spoke = self._monotonic()
        self._sessions.move_to_end(sid)
        news = {name: text for name, text in said.items() if text is not None and text != getattr(session.told, name)}
        if news:
            session.told, session.is_told, session.since = replace(session.told, **news), False, size

    def end(self, agent: str, session: str) -> None:
        """A session has ended."""
        record = self._known(agent, session)
        if record is not None:
            self._sessions.pop(record.sid, None)

    def is_due(self, agent: str, session: str) -> bool:
        """Whether it is still to be recorded what a session began under: it should not end before."""
        record = self._known(agent, session)
        found = None
        if record is not None:
            found = self._sessions.get(record.sid)
        return found is not None and found.turn < 0 and self._monotonic() - found.spoke < _MOST_SECONDS

    def _want(self) -> None:
        """Have the files of live sessions looked at, and no others."""
        since = self._monotonic() - _LIVE_SECONDS
        self._places.want({session.place for session in self._sessions.values() if session.spoke >= since})

    def _secret(self) -> bytes:
        if self._key is None:
            self._key = configuration_key(self._session_writer.home)
        return self._key

    # Recording --------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Record what was found since the last time. Never raises."""
        self._want()
        for sid, session in list(self._sessions.items()):
            found = self._places.found(session.place)
            if found is None or found.ticket < session.ticket or (found.turn == session.turn and session.is_told):
                continue
            try:
                self._record(sid, session, found)
            except TallystickError as error:
                self._note(error)
            session.turn, session.is_told, session.ticket = found.turn, True, 0

    def settle(self, *, seconds: float = _MOST_SECONDS) -> None:
        """Record what is known of all sessions, and look at none any more."""
        self._want()
        self._places.wait(seconds=seconds)
        self.tick()
        self._places.want(())

    def _record(self, sid: SessionId, session: _Session, found: Found) -> None:
        key = self._secret()
        before = session.current
        told, earlier = told_inputs(session.told, key), carried(before, session.told)
        now = session.current = configuration(key, told, earlier, found.digested)
        self._tell(sid, session, found)
        if before is not None and before.fingerprint == now.fingerprint:
            return
        with self._session_writer.lock:  # or the session might be let go of in between
            record = self._session_writer.writer.record_of(sid, session.agent)
            if record.journal.ended:
                return
            if before is None:
                started = _start_mark("session start", session.start, found.git)
                self._mark(record, now, replace(started, values=_at_home(session.home)))
            elif _completes(before, now):
                self._mark(record, now, _start_mark("session start, told more", None))
            else:
                self._change(record, session, before, now)

    def _tell(self, sid: SessionId, session: _Session, found: Found) -> None:
        """Report what changed in files of instructions, each version once."""
        for news in found.news:
            if self._changes is not None and self._changes.told(news):
                with self._session_writer.lock:
                    self.tell(self._session_writer.writer.record_of(sid, session.agent), news)

    def _mark(self, record: SessionRecord, now: Configuration, wanted: Mark) -> None:
        """Make a checkpoint that holds a configuration."""
        meta, values = now.told()
        first = record.read(0)
        if first is not None and type(first.meta.get(MEMBER)) is bool:
            meta[MEMBER] = first.meta[MEMBER]
        try:
            mark(self._session_writer, record, replace(wanted, meta=meta, values={**values, **wanted.values}))
        except CheckpointError as error:  # they are off, or there are too many
            self.last_error = str(error)

    def _change(self, record: SessionRecord, session: _Session, before: Configuration, now: Configuration) -> None:
        if session.is_told:
            since = record.journal.size
        else:
            since = session.since
        step = change_step(record.sid, session.told, before, now, since=since)
        taken = self._session_writer.add_to(record, step)
        if any(difference.section == HOOKS for difference in differences(before, now)):
            self._mark(record, now, _start_mark("hooks registered", taken.n))

    def _note(self, error: Exception) -> None:
        self.failures += 1
        _LOG.warning("what sessions run under: %s", error)
        self.last_error = f"{type(error).__name__}: {error}"


def _start_mark(label: str, position: int | None, git: Mapping[str, Json] | None = None) -> Mark:
    return Mark(trigger=Trigger.SESSION_START, label=label, position=position, git=git)


def _at_home(folder: str | None) -> Mapping[str, Json]:
    return {} if folder is None else {"personal.home": folder}


def _completes(before: Configuration, now: Configuration) -> bool:
    """Whether nothing is another, and a session has only told more of itself: that comes bit by bit."""
    found = differences(before, now)
    return all(each.not_seen == "first" or (each.untold and not each.names) for each in found)


def look_for(home: Home, is_current: Callable[[], bool]) -> Look:
    """How a recorder looks at files: with who wrote each. is_current: whether the index has all that was sealed."""
    from tallystick.live.instruction_changes import InstructionChanges

    return Look(_gathered, git_of, authored=_Authored(home, is_current), changes=InstructionChanges(home))


class _Authored:
    """Who wrote what was gathered. What asks the index is loaded in the thread."""

    def __init__(self, home: Home, is_current: Callable[[], bool]) -> None:
        self._home = home
        self._is_current = is_current
        self._authors: Authors | None = None

    def __call__(self, gathered: Gathered) -> Gathered:
        if self._authors is None:
            from tallystick.recording.run_config.authors import Authors

            self._authors = Authors(self._home, self._is_current)
        return self._authors(gathered)


def _gathered(agent: str, where: Surroundings) -> Gathered:
    from tallystick.recording.run_config.gathered import gather

    return gather(agent, where)


def _told_settings(events: Iterable[Event]) -> dict[str, str]:
    """What events say of the session itself; a sub-agent's model is none of its."""
    found: dict[str, str] = {}
    for event in events:
        if isinstance(event, Opening) or (isinstance(event, Step) and not event.type.startswith("subagent")):
            for ours, theirs in (("model", "model"), ("version", "agent_version"), ("mode", "permission_mode")):
                if isinstance(text := event.meta.get(theirs), str) and text:
                    found[ours] = text[:200]
    return found

"""The ACP tap: an agent between its editor and itself, recorded as they talk.

Owns joining the relay, the record, our provenance and policy's answers, and that the agent is started before all of these are
loaded. Must not know any of their rules. The agent and the editor get the bytes they would get without it, but for our member
of `_meta` and, if asked for, refusals in the user's place.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tallystick.capture.relay import STANDARD_STREAMS, Ended, Later, Line, Passing, Streams, Way, relay
from tallystick.errors import PolicyError, TallystickError
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision
from tallystick.sessions.hermes_provenance import Rule

if TYPE_CHECKING:
    from tallystick.guard.decide import Decider
    from tallystick.ingest.acp_inline import Inline
    from tallystick.ingest.acp_record import Tap


class Tapped(msgspec.Struct, frozen=True, kw_only=True):
    """How a conversation between an editor and an agent went."""

    ended: Ended
    agent: str
    sessions: tuple[str, ...]
    """The agent's own ids."""
    steps: int
    losses: Mapping[str, int]
    """What could not be recorded, by kind."""
    faults: tuple[str, ...]
    """What went wrong in the tap itself."""


class Adding(msgspec.Struct, frozen=True, kw_only=True):
    """What the tap adds to a conversation."""

    decide: Callable[[Call], Decision] | None = None
    """Answers permission requests that it denies; what it does not deny is the user's to answer."""
    inject: bool = True
    """Whether our provenance is added to what the agent says of its sessions."""
    hermes_rule: Rule | None = None
    """Add it in Hermes' words as well, by this rule, where the agent does not say it itself."""
    within: str | None = None
    """The session of the `tally run` that this is part of: the agent's sessions belong to it."""
    environment: Mapping[str, str] | None = None
    """Where Hermes keeps its store is looked up here; None: in this process's."""
    user_home: Path | None = None

    def hermes_store(self) -> Path:
        """Where Hermes keeps its store."""
        from tallystick.capture.hermes_store import default_store

        known = os.environ if self.environment is None else self.environment
        return default_store(known, self.user_home or Path.home())


def tap(
    home: Home, command: Sequence[str], adding: Adding | None = None, *, streams: Streams = STANDARD_STREAMS
) -> Tapped:
    """Run an agent's command on our stdin and stdout, and record what it and its editor say.

    Args:
        streams: what the editor writes to and reads from.

    A store that cannot be opened, or written, leaves the agent as it is, and is reported in `faults`.

    Raises:
        SourceError: the command cannot be started.
    """
    adding = adding or Adding()
    parts = _Parts(home, command[0], adding)
    change = None
    if adding.inject or adding.decide is not None:
        change = parts.change
    try:
        ended = relay(command, change=change, observe=parts.observe, streams=streams)
        return parts.end(ended)
    finally:
        parts.close()


class _Parts:
    """What stands beside the stream. It is loaded while the agent starts; the first line waits for it."""

    def __init__(self, home: Home, fallback: str, adding: Adding) -> None:
        self._home = home
        self._fallback = fallback
        self._adding = adding
        self._fault: str | None = None
        self._record: Tap | None = None
        self._inline: Inline | None = None
        self._loading = threading.Thread(target=self._load, name="acp-load", daemon=True)
        self._loading.start()

    def _load(self) -> None:
        from tallystick.agents.protocols.acp import Acp
        from tallystick.ingest.acp_inline import Inline
        from tallystick.ingest.acp_lineage import Lineage
        from tallystick.ingest.acp_record import Tap
        from tallystick.live.configuration import AgentUser, LiveConfiguration
        from tallystick.recording.session_writer import SessionWriter

        fallback, adding = self._fallback, self._adding
        try:
            session_writer = SessionWriter(self._home)
        except (TallystickError, OSError) as error:
            self._fault = f"nothing is recorded: {error}"
            self._inline = Inline(fallback, None, adding.decide)
            return
        lineage = None
        if adding.inject:
            lineage = Lineage(session_writer, adding.hermes_store(), adding.hermes_rule)
        self._inline = inline = Inline(fallback, lineage, adding.decide, adding.within)
        configuration = LiveConfiguration(session_writer, AgentUser(Path.home(), os.environ), monotonic=time.monotonic)
        self._record = Tap(session_writer, Acp(fallback, adding.within), inline.decided.get, configuration)

    def change(self, way: Way, line: bytes) -> Passing | Later | None:
        """What becomes of a line."""
        self._loading.join()
        if self._inline is None:
            return None
        return self._inline(way, line)

    def observe(self, line: Line) -> None:
        """Record a line."""
        self._loading.join()
        if self._record is not None:
            self._record.observe(line)

    def end(self, ended: Ended) -> Tapped:
        """Record the end, and say how it went."""
        self._loading.join()
        record = self._record
        if record is None:
            faults = (self._fault,) if self._fault is not None else ()
            return Tapped(ended=ended, agent="", sessions=(), steps=0, losses={}, faults=(*faults, *ended.faults))
        record.end(ended)
        record.close()
        return Tapped(
            ended=ended,
            agent=record.acp.agent,
            sessions=tuple(record.acp.sessions),
            steps=record.steps,
            losses=dict(record.losses),
            faults=(*ended.faults, *record.faults),
        )

    def close(self) -> None:
        """Seal what is recorded, if `end` was not reached."""
        self._loading.join()
        if self._record is not None:
            self._record.close()


def policy(home: Home, user_home: Path, environment: Mapping[str, str]) -> Callable[[Call], Decision]:
    """Decisions by the policies in force. They are loaded when the first is wanted: no agent waits for it at its start."""

    @cache
    def decider() -> Decider:
        from tallystick.guard.decide import Decider
        from tallystick.guard.grounds import AgentMachine

        return Decider(home, AgentMachine(user_home, environment=environment))

    def decide(call: Call) -> Decision:
        try:
            return decider().decide(call)
        except PolicyError as error:
            from tallystick.guard.fallback_decision import undecided_in

            return undecided_in(home, error)

    return decide

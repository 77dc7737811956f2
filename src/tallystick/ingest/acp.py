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

from tallystick.capture.relay import Ended, Later, Line, Passing, Way, relay
from tallystick.errors import PolicyError, TallystickError
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision, Effect
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


def tap(
    home: Home,
    command: Sequence[str],
    *,
    decide: Callable[[Call], Decision] | None = None,
    inject: bool = True,
    hermes_rule: Rule | None = None,
    within: str | None = None,
    environment: Mapping[str, str] | None = None,
    user_home: Path | None = None,
    stdin: int = 0,
    stdout: int = 1,
) -> Tapped:
    """Run an agent's command on our stdin and stdout, and record what it and its editor say.

    Args: decide: answers permission requests that it denies; what it does not deny is the user's to answer. inject: add
    our provenance to what the agent says of its sessions. hermes_rule: add it in Hermes' words as well, by this rule,
    where the agent does not say it itself. within: the session of the `tally run` that this is part of: the agent's
    sessions belong to it. environment: where Hermes keeps its store is looked up here. stdin, stdout: the descriptors
    that the editor writes to and reads from.

    A store that cannot be opened, or written, leaves the agent as it is, and is reported in `faults`.

    Raises:
        SourceError: the command cannot be started.
    """
    known = os.environ if environment is None else environment
    looked_up = (known, user_home or Path.home()) if inject else None
    parts = _Parts(home, command[0], looked_up, hermes_rule, decide, within)
    change = parts.change if inject or decide is not None else None
    try:
        ended = relay(command, change=change, observe=parts.observe, stdin=stdin, stdout=stdout)
        return parts.end(ended)
    finally:
        parts.close()


class _Parts:
    """What stands beside the stream. It is loaded while the agent starts; the first line waits for it."""

    def __init__(
        self,
        home: Home,
        fallback: str,
        looked_up: tuple[Mapping[str, str], Path] | None,
        hermes_rule: Rule | None,
        decide: Callable[[Call], Decision] | None,
        within: str | None,
    ) -> None:
        self._arguments = home, fallback, looked_up, hermes_rule, decide, within
        self._fault: str | None = None
        self._record: Tap | None = None
        self._inline: Inline | None = None
        self._loading = threading.Thread(target=self._load, name="acp-load", daemon=True)
        self._loading.start()

    def _load(self) -> None:
        from tallystick.capture.hermes_store import default_store
        from tallystick.ingest.acp_inline import Inline
        from tallystick.ingest.acp_lineage import Lineage
        from tallystick.ingest.acp_record import Tap
        from tallystick.live.configuration import LiveConfiguration
        from tallystick.recording.session_writer import SessionWriter

        home, fallback, looked_up, hermes_rule, decide, within = self._arguments
        try:
            session_writer = SessionWriter(home)
        except (TallystickError, OSError) as error:
            self._fault = f"nothing is recorded: {error}"
            self._inline = Inline(fallback, None, decide)
            return
        lineage = None
        if looked_up is not None:
            lineage = Lineage(session_writer, default_store(*looked_up), hermes_rule)
        self._inline = inline = Inline(fallback, lineage, decide, within)
        configuration = LiveConfiguration(
            session_writer, monotonic=time.monotonic, user=Path.home(), environment=os.environ
        )
        self._record = Tap(session_writer, fallback, inline.decided.get, within, configuration)

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

        return Decider(home, user_home, environment=environment)

    def decide(call: Call) -> Decision:
        try:
            return decider().decide(call)
        except PolicyError as error:
            return _undecided(home, error)

    return decide


def _undecided(home: Home, error: PolicyError) -> Decision:
    from tallystick.guard.fallback_decision import undecided
    from tallystick.workspace.settings import read_setting

    return undecided(Effect(str(read_setting(home, "hooks.on_error"))), error)

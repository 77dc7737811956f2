"""The MCP proxy: an agent and an MCP server on stdio, recorded as they talk.

Owns joining the relay, the protocol's mapping and the SessionWriter. Must not know any of their rules. Both sides get the
bytes that they would get without it.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from tallystick.agents.protocols.mcp import AGENT, Mcp, Side
from tallystick.capture.relay import Ended, Line, Way, relay
from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.model.step import Event
from tallystick.recording.best_effort_recorder import BestEffortRecorder
from tallystick.recording.session_writer import SessionWriter


class Proxied(msgspec.Struct, frozen=True, kw_only=True):
    """How a conversation with a server went."""

    ended: Ended
    session: str
    steps: int
    losses: Mapping[str, int]
    """What is not recorded, by kind."""
    faults: tuple[str, ...]
    """What went wrong in recording; the conversation went on."""


class Watcher(BestEffortRecorder):
    """Records what passes. `observe` is called on one thread, the relay's."""

    def __init__(self, session_writer: SessionWriter, mcp: Mcp) -> None:
        super().__init__(session_writer)
        self._mcp = mcp

    def observe(self, line: Line) -> None:
        """Record a line."""
        if line.way is Way.TO_CHILD:
            side = Side.CLIENT
        else:
            side = Side.SERVER
        if line.missed:
            self._record(self._mcp.missed(line.missed, line.at_ns))
        if line.size > len(line.data):
            self._record(self._mcp.cut(side, line.data, line.size, line.at_ns))
        else:
            self._record(self._mcp.take(side, line.data, line.at_ns))

    def end(self, ended: Ended) -> None:
        """The server has exited."""
        self._record(self._mcp.end(time.time_ns(), returncode=ended.returncode))

    def _record(self, events: Iterable[Event]) -> None:
        self.record(events, lambda step: self._session_writer.add(AGENT, step))


def proxy(home: Home, command: Sequence[str], *, name: str | None = None, within: str | None = None) -> Proxied:
    """Run an MCP server's command on our stdin and stdout, and record what it and its client say.

    Args:
        name: what the server is called in the names of tools; None: as it calls itself.
        within: the session of `tally run` in which this happens.

    If the store cannot be opened the server runs all the same, unrecorded, and `faults` says so: no agent loses its tools
    because of us.

    Raises:
        SourceError: the command cannot be started.
    """
    session = f"mcp-{uuid.uuid4()}"  # the protocol has no name for a conversation on stdio
    mcp = Mcp(session, Path(command[0]).name, name=name, within=within)
    try:
        session_writer = SessionWriter(home)
    except (TallystickError, OSError) as error:
        ended = relay(command)
        return Proxied(ended=ended, session=session, steps=0, losses={}, faults=(f"nothing was recorded: {error}",))
    with session_writer:
        watcher = Watcher(session_writer, mcp)
        ended = relay(command, observe=watcher.observe)
        watcher.end(ended)
        return Proxied(
            ended=ended,
            session=session,
            steps=watcher.steps,
            losses=dict(watcher.losses),
            faults=(*ended.faults, *watcher.faults),
        )

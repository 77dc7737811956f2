"""What a session of the session-log interface asks of the store that keeps it.

Owns the Protocol. FileStore keeps sessions as files of the agent's format, JournalStore as sealed journals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

from tallystick.model.step import Json
from tallystick.sessions.session_events import Events
from tallystick.sessions.session_log import Event, Log


class Reader(Protocol):
    """One session of a store, read as it grows. It takes no lock and writes nothing."""

    def log(self) -> Log:
        """How the session stands, without its events. Raises NotFoundError: it is not there any more."""

    def events(self) -> Events:
        """Its events so far."""

    def last_seq(self) -> int:
        """The highest number of them."""

    def blocks(self) -> Iterator[Event]:
        """Those that tell of blocks of content."""


class Store(Protocol):
    """What keeps sessions. Safe to use from several threads; several processes may have the same sessions."""

    def create(self, log: Log) -> None:
        """Begin a session; nothing if it is there."""

    def load(self, session: str) -> Log:
        """The session with all its events. Raises NotFoundError: it is not there."""

    def sessions(self) -> Collection[str]:
        """The ids of all its sessions."""

    def reader(self, session: str) -> Reader:
        """What reads the session. Raises NotFoundError: it is not there."""

    def append(self, session: str, members: Mapping[str, Json]) -> int:
        """Keep an event under the next number of the session, no matter who else adds to it. It survives the process."""

    def note_gap(self, session: str, *, events: int, reason: str, timestamp: str) -> None:
        """Keep that events could not be kept."""

    def update(self, log: Log, *, since: Log | None = None) -> None:
        """Keep how the session stands, durably: what differs from `since`, all of it where that is None."""

    def sync(self, session: str, *, updated_at: str) -> None:
        """Make what was kept survive a loss of power."""

    def settle(self) -> None:
        """The same for all sessions, in the background."""

    def release(self, session: str) -> None:
        """No one adds to the session for now."""

    def last_seq(self, session: str) -> int:
        """The highest number of the session's events."""

    def clean(self, members: Mapping[str, Json]) -> Mapping[str, Json]:
        """An event as it is kept, without secrets."""

    def close(self) -> None:
        """Give up what is open."""

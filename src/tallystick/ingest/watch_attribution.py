"""In whose session effects are recorded.

Owns the rule: in the session of an agent only if that is the one live session that works in the watched folders, else in the
watcher's own. Must not know what an effect is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from tallystick.capture.recorder import working
from tallystick.capture.watch_tree import Root
from tallystick.journal.home import Home
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter

_ASK_S = 1.0


class Working(msgspec.Struct, frozen=True):
    """A live session of an agent, by the agent's own id, and the folder that it works in."""

    agent: str
    session: str
    folder: str


def working_now(home: Home) -> list[Working]:
    """The live sessions that the recorder of a store knows; none, if none runs."""
    return [Working(item["agent"], item["session"], item["folder"]) for item in working(home.folder)]


def is_within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def only_one(found: Iterable[Working], roots: Sequence[Root]) -> Working | None:
    """The one live session that works in a watched folder, or None, or more than one.

    Sub-agents work in the session that started them.
    """
    folders = [root.path for root in roots if not root.is_sensitive]
    inside = [item for item in found if any(is_within(item.folder, folder) for folder in folders)]
    tops = [
        item
        for item in inside
        if not any(item.session.startswith(f"{other.session}/") for other in inside if other.agent == item.agent)
    ]
    if len(tops) == 1:
        return tops[0]
    return None


class Whose:
    """Finds the session that effects are recorded in."""

    def __init__(
        self,
        session_writer: SessionWriter,
        own: SessionRecord,
        ask: Callable[[], Working | None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Record into `own` where there is not one session of an agent. `ask` tells which one there is (`only_one`)."""
        self._session_writer = session_writer
        self._own = own
        self._ask = ask
        self._clock = clock
        self._asked_at = float("-inf")
        self._found: Working | None = None

    def __call__(self) -> SessionRecord:
        """The record of the session. Which ones are live is asked for once a second at most."""
        now = self._clock()
        if now - self._asked_at >= _ASK_S:
            self._asked_at = now
            self._found = self._ask()
        if self._found is not None:
            current = self._session_writer.writer.current(self._found.agent, self._found.session)
            record = self._session_writer.writer.find(self._found.agent, current)
            if record is not None and not record.journal.ended:
                return record
        return self._own

"""Who works where: the sessions whose hooks spoke lately and the folder each works in, and where each call runs.

Owns for how long a session counts as live, that its folder is the one in which it began, and noting a folder with the
first call that runs in it: relative paths of a call mean nothing without it. Must not know what is recorded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from msgspec.structs import replace

from tallystick.agents.hooks import Payload
from tallystick.agents.kit.reading import text_of
from tallystick.model.step import Event, Opening, Step

_FOLDER = "personal.cwd"
_MOST_NOTED = 1024


class Folders:
    """The folder of each session's last call, for the sessions used last."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], str] = OrderedDict()

    def noted(self, agent: str, event: Event, folder: str | None) -> Event:
        """The event, with its folder if that is news.

        Args:
            folder: where the call runs, if the event is a call and its source says so.
        """
        if not isinstance(event, Step) or event.type != "tool_call" or not folder or _FOLDER in event.values:
            return event
        key = (agent, event.session)
        if self._known.get(key) == folder:
            return event
        self._known[key] = folder
        self._known.move_to_end(key)
        if len(self._known) > _MOST_NOTED:
            self._known.popitem(last=False)
        return replace(event, values={**event.values, _FOLDER: folder})


_MOST_SESSIONS = 256
_LIVE_SECONDS = 600.0
"""For how long after its last word a session that has not ended counts as live."""


class Whereabouts:
    """Fed with what hooks tell, in order."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._known: OrderedDict[tuple[str, str], tuple[float, str]] = OrderedDict()

    def note(self, agent: str, payload: Payload) -> None:
        """Take in what a hook reported."""
        openings = (text_of(event.values.get("personal.cwd")) for event in payload.events if isinstance(event, Opening))
        if payload.asks is not None:
            said = payload.asks.cwd
        else:
            said = next(openings, None)
        known = self._known.pop((agent, payload.session), None)
        if payload.ends or not (said or known):
            return
        # where it began: a call may run elsewhere
        if known is not None:
            folder = known[1]
        else:
            folder = str(said)
        self._known[(agent, payload.session)] = (self._monotonic(), folder)
        while len(self._known) > _MOST_SESSIONS:
            self._known.popitem(last=False)

    def live(self) -> list[dict[str, str]]:
        """The sessions that are live: agent, the agent's own id, and the folder they work in."""
        since = self._monotonic() - _LIVE_SECONDS
        return [
            {"agent": agent, "session": session, "folder": folder}
            for (agent, session), (at, folder) in self._known.items()
            if at >= since
        ]

    def folder(self, agent: str, session: str) -> str | None:
        """Where a session works; of a sub-agent that has not said, where that works which called it."""
        known = self._known.get((agent, session)) or self._known.get((agent, session.partition("/")[0]))
        if known is None:
            return None
        return known[1]

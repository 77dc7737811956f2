"""Where the calls of live sessions run.

Owns noting a folder with the first call that runs in it: hooks tell it with each call, and it seldom changes. Must not know
how a call is recorded. Relative paths of a call mean nothing without it, and the start of a session may come from a
transcript that does not tell it.
"""

from __future__ import annotations

from collections import OrderedDict

from msgspec.structs import replace

from tallystick.model.step import Event, Step

_FOLDER = "personal.cwd"
_MOST_SESSIONS = 1024


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
        if len(self._known) > _MOST_SESSIONS:
            self._known.popitem(last=False)
        return replace(event, values={**event.values, _FOLDER: folder})

"""Where the calls of live sessions run.

Owns noting a folder with the first call that runs in it: hooks tell it with each call, and it seldom changes. Must not know
how a call is recorded. Relative paths of a call mean nothing without it.
"""

from __future__ import annotations

from collections import OrderedDict

from msgspec.structs import replace

from tallystick.model.step import Event, Opening, Step

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
        if isinstance(event, Opening):
            said = event.values.get(_FOLDER)
            if isinstance(said, str) and (agent, event.session) not in self._known:
                self._note((agent, event.session), said)
        elif isinstance(event, Step) and event.type == "tool_call" and self._is_news(agent, event, folder):
            assert folder is not None, "only a folder is news"
            self._note((agent, event.session), folder)
            return replace(event, values={**event.values, _FOLDER: folder})
        return event

    def _is_news(self, agent: str, step: Step, folder: str | None) -> bool:
        return bool(folder) and _FOLDER not in step.values and self._known.get((agent, step.session)) != folder

    def _note(self, key: tuple[str, str], folder: str) -> None:
        self._known[key] = folder
        self._known.move_to_end(key)
        if len(self._known) > _MOST_SESSIONS:
            self._known.popitem(last=False)

"""GitHub Copilot: the event logs of its command line, and the chats of its VS Code extension.

Owns telling the two kinds of file apart. A sub-agent of the command line has its events in the same log and becomes a
child session; a hook run is one step. Must not know what the events say.

Stated normalisation (docs/format.md 13.3): arguments that are JSON text become the object they hold; `tokens.input`
leaves out what the cache gave. Native ids are unique in a session only: call ids are the model provider's.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.copilot import tools
from tallystick.agents.copilot.chat import ChatLog
from tallystick.agents.copilot.events import event
from tallystick.agents.copilot.session import AGENT, Conversation, parse
from tallystick.agents.kit.reading import BadJson, dict_of, events_of_object, loads, text_of
from tallystick.agents.recognition import IN_ITS_PLACE, count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Loss

NAME = AGENT
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_MEMBERS = ("id", "timestamp", "parentId", "data.sessionId", "data.copilotVersion")


def locate() -> tuple[str, ...]:
    """Where Copilot keeps its logs and chats, below the home folder."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is one of Copilot's, by its first line."""
    first = first_object(head)
    if text_of(first.get("type")) == "session.start":
        data = dict_of(first.get("data"))
        is_ours = "copilotVersion" in data or data.get("producer") == "copilot-agent"
        in_place = 0
        if "/.copilot/" in path:
            in_place = IN_ITS_PLACE
        if is_ours or in_place:
            return count_members(first, "data", also=_MEMBERS) + in_place
        return 0
    if first.get("kind") != 0:
        return 0
    in_place = 0
    if "/chatSessions/" in path:
        in_place = IN_ITS_PLACE
    return count_members(first, "kind", "v.requests", also=("v.version", "v.sessionId")) + in_place


def reader(file: SourceFile) -> Reader:
    """A reader for one log or chat."""
    name = posixpath.basename(file.path)
    stem = name.rpartition(".")[0] or name
    return _Either(posixpath.basename(posixpath.dirname(file.path)) if stem == "events" else stem)


class _Either:
    """Reads a file as what its first line says it is."""

    def __init__(self, name: str) -> None:
        self._name = name or NAME
        self._reader: Reader | None = None

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        if self._reader is None:
            is_chat = _begins_chat(data)
            if is_chat:
                self._reader = ChatLog(self._name, AGENT)
            else:
                self._reader = _EventLog(self._name)
        yield from self._reader.feed(data, offset)

    def finish(self) -> Iterator[Event]:
        """What was held back."""
        if self._reader is not None:
            yield from self._reader.finish()


def _begins_chat(line: bytes) -> bool:
    try:
        first = dict_of(loads(line).value)
    except BadJson:
        return False
    return first.get("kind") == 0 and isinstance(first.get("v"), dict)


class _EventLog:
    """Reads the log of one session of the command line. Holds back the hook runs that have not ended."""

    def __init__(self, name: str) -> None:
        self._talk = Conversation(name)

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        otherwise = Loss(kind="unknown_line", detail=f"byte {offset}: not an object")
        return events_of_object(data, offset, lambda value: event(self._talk, parse(value, offset)), otherwise)

    def finish(self) -> Iterator[Event]:
        """What was held back."""
        yield from tools.unfinished(self._talk)

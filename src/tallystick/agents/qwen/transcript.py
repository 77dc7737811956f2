"""Qwen Code: its chats, and those of their sub-agents.

Owns the file: records that name their parent, one a line, and the description beside a sub-agent's file. A record whose
parent is not the one before it begins a branch. Must not know what records say.

Stated normalisation (docs/format.md 13.3): a result that is only `{"output": …}` becomes the output; whole copies of
edited files are left out; `tokens.input` leaves out what the cache gave. Native ids are unique in a chat only: call ids
are the model provider's.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.reading import BadJson, dict_of, events_of_object, loads
from tallystick.agents.qwen.records import steps
from tallystick.agents.qwen.session import AGENT, QwenChat, Record, parse
from tallystick.agents.recognition import IN_ITS_PLACE, count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss

NAME = AGENT
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ("{stem}.meta.json",)

_OURS = ("message.parts", "systemPayload", "provenance")


def locate() -> tuple[str, ...]:
    """Where Qwen Code keeps its chats and those of sub-agents, below the home folder."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a chat, by its first line."""
    first = first_object(head)
    in_place = 0
    if "/.qwen/" in path:
        in_place = IN_ITS_PLACE
    marks = sum(count_members(first, mark) for mark in _OURS)
    members = count_members(first, "uuid", "parentUuid", "sessionId", also=("timestamp", "type"))
    if members and (marks or in_place):
        return members + marks + in_place
    return 0


def reader(file: SourceFile) -> Reader:
    """A reader for one chat."""
    name = posixpath.basename(file.path)
    return _ChatFile(QwenChat(name.rpartition(".")[0] or name or NAME, _description(file)))


def _description(file: SourceFile) -> dict[str, Json]:
    try:
        return dict_of(loads(file.companions.get(COMPANIONS[0], b"{}")).value)
    except BadJson:
        return {}


class _ChatFile:
    """Reads one chat. Holds nothing back."""

    def __init__(self, chat: QwenChat) -> None:
        self._chat = chat

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        otherwise = Loss(kind="unknown_line", detail=f"byte {offset}: not an object")
        return events_of_object(data, offset, lambda value: self._record(parse(value, offset)), otherwise)

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def _record(self, record: Record) -> Iterator[Event]:
        yield from self._chat.open(record)
        self._chat.follow(record)
        events = list(steps(self._chat, record))
        yield from events or [Loss(kind="empty_record", detail=record.id)]
        self._chat.leave(record)

"""Gemini CLI: its chats as lines.

Owns the file: a header, messages, and patches (`$set`, `$rewindTo`). A message is written again whenever its tool calls
get on, so it is held back until another message comes; the last writing counts. Must not know what messages say.

Stated normalisation (docs/format.md 13.3): a result that is only `{"output": …}` becomes the output; whole copies of
edited files are left out; `tokens.input` leaves out what the cache gave. Native ids are unique in a chat only.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.gemini.chat import AGENT, Chat
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.reading import dict_of, events_of_object, list_of, text_of
from tallystick.agents.recognition import count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss

NAME = AGENT
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_TIMES = ("startTime", "lastUpdated", "kind")


def locate() -> tuple[str, ...]:
    """Where Gemini CLI keeps its chats and those of sub-agents, below the home folder."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a chat, by its first line."""
    first = first_object(head)
    if "projectHash" in first:
        if "messages" in first:
            return 0
        return count_members(first, "sessionId", "projectHash", also=_TIMES)
    is_message = text_of(first.get("type")) in ("user", "gemini")
    if is_message:
        return count_members(first, "id", "timestamp", "type", "content")
    return 0


def reader(file: SourceFile) -> Reader:
    """A reader for one chat. A sub-agent's is in a folder named after its parent's session."""
    folder, name = posixpath.split(file.path)
    above = posixpath.basename(posixpath.dirname(folder))
    parent = None
    if above == "chats":
        parent = posixpath.basename(folder)
    return _ChatFile(Chat(name.rpartition(".")[0] or name or NAME, parent))


class _ChatFile:
    """Reads one chat. Holds back the last message."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._held: tuple[str, dict[str, Json]] | None = None

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        otherwise = Loss(kind="unknown_line", detail=f"byte {offset}: not an object")
        return events_of_object(data, offset, lambda value: self._record(value, f"@{offset}"), otherwise)

    def finish(self) -> Iterator[Event]:
        """What was held back."""
        yield from self._release()

    def _record(self, record: dict[str, Json], at: str) -> Iterator[Event]:
        if "$rewindTo" in record:
            yield from self._release()
            yield from self._chat.rewind(str(record["$rewindTo"]), at)
        elif "$set" in record:
            yield from self._patch(dict_of(record["$set"]), at)
        elif "type" in record or "id" in record:
            yield from self._message(record, text_of(record.get("id")) or at)
        elif "sessionId" in record:
            yield from self._chat.header(record)
            for number, message in enumerate(list_of(record.get("messages"))):
                yield from self._message(dict_of(message), text_of(dict_of(message).get("id")) or f"{at}/{number}")
        else:
            yield unknown(None, at)

    def _message(self, record: dict[str, Json], name: str) -> Iterator[Event]:
        if self._held is not None and self._held[0] == name:
            yield Loss(kind="rewritten_message", detail=name)
        else:
            yield from self._release()
        self._held = (name, record)

    def _patch(self, members: dict[str, Json], at: str) -> Iterator[Event]:
        if "messages" in members:
            yield from self._release()
            messages, ts = list_of(members["messages"]), text_of(members.get("lastUpdated"))
            yield from self._chat.checkpoint(messages, at, ts)
        else:
            if members.keys() > {"lastUpdated"}:
                yield from self._release()
            yield from self._chat.update(members, at)

    def _release(self) -> Iterator[Event]:
        held, self._held = self._held, None
        if held is not None:
            yield from self._chat.message(held[1], held[0])

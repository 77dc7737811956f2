"""Gemini CLI: its chats as lines.

Owns the file: a header, messages, and patches (`$set`, `$rewindTo`). A message is written again whenever its tool calls
get on, so it is held back until another message comes; the last writing counts. Must not know what messages say.

Stated normalisation (docs/format.md 13.3): a result that is only `{"output": …}` becomes the output; whole copies of
edited files are left out; `tokens.input` leaves out what the cache gave. Native ids are unique in a chat only.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents._gemini_chat import AGENT, Chat
from tallystick.agents._losses import unknown
from tallystick.agents.reading import dict_of, events_of_object, list_of, text_of
from tallystick.model.step import Event, Json, Loss

NAME = AGENT
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_HEADER = re.compile(rb'\s*\{"sessionId"\s*:\s*"[^"]*"\s*,\s*"projectHash"\s*:')
_MESSAGE = re.compile(
    rb'\s*\{"id"\s*:\s*"[^"]*"\s*,\s*"timestamp"\s*:\s*"[^"]*"\s*,\s*"type"\s*:\s*"(?:user|gemini)"\s*,'
)


def locate() -> tuple[str, ...]:
    """Where Gemini CLI keeps its chats and those of sub-agents, below the home folder."""
    return (".gemini/tmp/*/chats/session-*.jsonl", ".gemini/tmp/*/chats/*/*.jsonl")


def recognises(path: str, head: bytes) -> bool:
    """Whether a file is a chat, by its first line."""
    line = head.partition(b"\n")[0]
    if _HEADER.match(line):
        return b'"messages"' not in line
    return _MESSAGE.match(line) is not None


def reader(file: SourceFile) -> Reader:
    """A reader for one chat. A sub-agent's stands in a folder named after its parent's session."""
    folder, name = posixpath.split(file.path)
    above = posixpath.basename(posixpath.dirname(folder))
    parent = posixpath.basename(folder) if above == "chats" else None
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

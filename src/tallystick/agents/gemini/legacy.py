"""Gemini CLI: its chats as they were before they became lines, one JSON document each.

Owns that shape. The steps are those of gemini.py, under the same agent and with the same source ids: when Gemini CLI
goes on with such a chat, it writes the same messages again as lines.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.gemini.chat import Chat
from tallystick.agents.kit.reading import dict_of, events_of_object, list_of, text_of
from tallystick.agents.recognition import count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss

NAME = "gemini-legacy"
SHAPE = Shape.DOCUMENT
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()


def locate() -> tuple[str, ...]:
    """Where Gemini CLI kept its chats, below the home folder."""
    return AGENTS["gemini"].histories["legacy"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a chat in one document, by its first members."""
    first = first_object(head)
    if "messages" not in first and not path.endswith(".json"):
        return 0
    return count_members(first, "sessionId", "projectHash", also=("messages", "startTime", "lastUpdated"))


def reader(file: SourceFile) -> Reader:
    """A reader for one chat."""
    name = posixpath.basename(file.path)
    return _Document(Chat(name.rpartition(".")[0] or name or NAME))


class _Document:
    """Reads one document."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """All events of the chat."""
        otherwise = Loss(kind="unknown_document", detail="not an object", fault=True)
        return events_of_object(data, offset, self._document, otherwise)

    def _document(self, document: dict[str, Json]) -> Iterator[Event]:
        yield from self._chat.header(document)
        for number, message in enumerate(list_of(document.get("messages"))):
            record = dict_of(message)
            yield from self._chat.message(record, text_of(record.get("id")) or f"#{number}")

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        yield from ()

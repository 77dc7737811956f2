"""Amp's threads: one JSON document each.

Owns its messages, which hold blocks as the Anthropic API has them, and results of its own form. Source: code that reads these
files; Amp was never run here. A newer Amp keeps threads on its server, and only those that it also left on disk are read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.blocks import events_of_blocks
from tallystick.agents.kit.columns import moment_ms, word
from tallystick.agents.kit.conversation import Conversation
from tallystick.agents.kit.reading import dict_of, events_of_object, int_of, list_of, opposite_of, text_of
from tallystick.agents.kit.spelling import names
from tallystick.agents.recognition import count_members, first_object, in_place
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss

NAME = "amp"
SHAPE = Shape.DOCUMENT
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
_TOKENS = names("amp", "counts")
_ENDED = {"done": True, "error": False, "cancelled": False, "rejected-by-user": False}


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match its threads."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a document is a thread: by its place, and by its id and members."""
    first = first_object(head)
    is_thread = (text_of(first.get("id")) or "").startswith("T-")
    members = count_members(first, "id", "created", also=("messages", "env", "v", "nextMessageId", "agentMode"))
    if members and is_thread:
        return members + in_place("/amp/threads/" in path and posixpath.basename(path).startswith("T-"))
    return 0


def reader(file: SourceFile) -> Reader:
    """A reader for one thread."""
    return _Reader(posixpath.basename(file.path).removesuffix(".json") or NAME)


class _Reader:
    def __init__(self, session: str) -> None:
        self._talk = Conversation(NAME, session)

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of the document."""
        otherwise = Loss(kind="bad_document", detail="a thread that is not an object", fault=True)
        return events_of_object(data, offset, self._document, otherwise)

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def _document(self, thread: dict[str, Json]) -> Iterator[Event]:
        self._talk.session = word(thread.get("id")) or self._talk.session
        trees = list_of(dict_of(dict_of(thread.get("env")).get("initial")).get("trees"))
        folder = None
        if trees:
            folder = text_of(dict_of(trees[0]).get("uri"))
        values = {"content.title": thread.get("title"), "personal.cwd": (folder or "").removeprefix("file://") or None}
        yield self._talk.opening({}, values, ts=moment_ms(thread.get("created")))
        messages = list_of(thread.get("messages"))
        if not messages:
            yield Loss(kind="no_messages")
        for place, item in enumerate(messages):
            yield from self._message(f"#{place}", dict_of(item))

    def _message(self, source_id: str, message: dict[str, Json]) -> Iterator[Event]:
        ts = moment_ms(dict_of(message.get("meta")).get("sentAt"))
        usage = dict_of(message.get("usage"))
        if usage:
            tokens = {name: int_of(usage.get(member)) for name, member in _TOKENS.items()}
            yield self._talk.model_call(self._talk.at(f"{source_id}/usage", ts), usage.get("model"), tokens)
        content = [self._plain(block) for block in list_of(message.get("content"))]
        yield from events_of_blocks(
            self._talk, source_id, message.get("role"), content or message.get("content"), ts=ts
        )

    def _plain(self, item: Json) -> Json:
        """A result of Amp's form as one of the API's; any other block as it is."""
        block = dict_of(item)
        if block.get("type") != "tool_result":
            return item
        run = dict_of(block.get("run"))
        success = _ENDED.get(text_of(run.get("status")) or "")
        return {
            "type": "tool_result",
            "tool_use_id": block.get("toolUseID"),
            "content": run.get("result", run.get("error")),
            "is_error": opposite_of(success),
        }

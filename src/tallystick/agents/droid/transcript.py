"""Factory Droid's sessions: one JSONL file each, in a folder for each working directory.

Owns its lines: a header, messages of blocks, states of its list of things to do. Source: a published session of version 2;
Droid was never run here. Models and tokens are in a settings file beside it, as sums, and are not read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.blocks import events_of_blocks
from tallystick.agents.kit.columns import word
from tallystick.agents.kit.conversation import Conversation
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.reading import dict_of, events_of_object, text_of
from tallystick.agents.recognition import count_members, first_object, in_place
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss

NAME = "droid"
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
BOOKKEEPING = frozenset({"todo_state", "session_end"})
"""Lines that say nothing that a call does not say."""


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match its sessions."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a session: by its place, and by its header."""
    first = first_object(head)
    if text_of(first.get("type")) != "session_start":
        return 0
    members = count_members(first, "type", "id", "cwd", also=("title", "owner", "version", "sessionTitle"))
    if members:
        return members + in_place("/.factory/sessions/" in path)
    return 0


def reader(file: SourceFile) -> Reader:
    """A reader for one session."""
    return _Reader(posixpath.basename(file.path).removesuffix(".jsonl") or NAME)


class _Reader:
    def __init__(self, session: str) -> None:
        self._talk = Conversation(NAME, session)
        self._lines = 0
        self._ids: set[str] = set()

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        number = self._lines
        self._lines += 1
        yield from events_of_object(
            data, offset, lambda line: self._line(line, number), Loss(kind="unknown_line", detail=f"byte {offset}")
        )

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def _line(self, line: dict[str, Json], number: int) -> Iterator[Event]:
        kind = text_of(line.get("type"))
        if kind == "session_start":
            if number == 0:
                self._talk.session = word(line.get("id")) or self._talk.session
            values = {"content.title": line.get("title"), "personal.cwd": line.get("cwd")}
            yield self._talk.opening({}, values | {"personal.user": line.get("owner")})
        elif kind == "message":
            message = dict_of(line.get("message"))
            source_id = self._id(line.get("id"), number)
            ts = text_of(line.get("timestamp"))
            yield from events_of_blocks(self._talk, source_id, message.get("role"), message.get("content"), ts=ts)
        elif kind in BOOKKEEPING:
            yield Loss(kind=str(kind))
        else:
            yield unknown(line.get("type"), f"line {number}")

    def _id(self, value: Json, number: int) -> str:
        """A message's own id, unless it has none or it is another's."""
        found = word(value)
        if found is None or found in self._ids:
            return f"#{number}"
        self._ids.add(found)
        return found

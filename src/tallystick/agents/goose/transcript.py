"""goose's sessions as its versions before 1.10 keep them: one JSONL file each, the session first, then its messages.

Owns its lines and its blocks of content. Source: its documentation and code that reads these files; goose was never run here.
Newer versions keep sessions in a database, which is not read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.columns import moment, number, word
from tallystick.agents.kit.conversation import Conversation, Outcome
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import dict_of, events_of_object, list_of, text_of
from tallystick.agents.recognition import IN_ITS_PLACE, count_members, first_object, objects
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss

NAME = "goose"
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
_HEADER = ("working_dir", "description", "message_count", "total_tokens", "accumulated_total_tokens")
_REQUESTS = ("toolRequest", "frontendToolRequest")


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match its sessions."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a session: by its place, and by its header or its messages."""
    header = count_members(first_object(head), "working_dir", "description", also=_HEADER[2:])
    messages = [line for line in objects(head)[:5] if isinstance(line.get("content"), list)]
    members = header + max((count_members(line, "role", "created", "content") for line in messages), default=0)
    return members + (IN_ITS_PLACE if members and "/goose/sessions/" in path else 0)


def reader(file: SourceFile) -> Reader:
    """A reader for one session."""
    return _Reader(posixpath.basename(file.path).removesuffix(".jsonl") or NAME)


class _Reader:
    def __init__(self, session: str) -> None:
        self._talk = Conversation(NAME, session)
        self._lines = 0

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

    def _line(self, line: dict[str, Json], number_: int) -> Iterator[Event]:
        if "role" not in line:
            if any(name in line for name in _HEADER):
                values = {"content.title": line.get("description"), "personal.cwd": line.get("working_dir")}
                yield self._talk.opening({}, values)
            else:
                yield unknown(line.get("type"), f"line {number_}")
            return
        ts = moment(number(line.get("created")))
        blocks = list_of(line.get("content"))
        if not blocks:
            yield Loss(kind="empty_message", detail=f"line {number_}")
        for place, item in enumerate(blocks):
            yield self._block(self._talk.at(f"#{number_}/{place}", ts), line.get("role"), dict_of(item))

    def _block(self, at: Point, role: Json, block: dict[str, Json]) -> Event:
        kind = text_of(block.get("type"))
        if kind == "text":
            return self._talk.said(at, role, block.get("text"))
        if kind in ("thinking", "redactedThinking"):
            return self._talk.thought(at, block.get("thinking"))
        if kind in _REQUESTS:
            call = dict_of(dict_of(block.get("toolCall")).get("value"))
            args, call_id = call.get("arguments"), block.get("id")
            return self._talk.call(at, call.get("name"), args, call_id=call_id)
        if kind == "toolResponse":
            return self._result(at, block)
        if kind == "image":
            return self._talk.attached(at, role, block)
        if kind in ("toolConfirmationRequest", "frontendToolConfirmationRequest"):
            return Loss(kind="confirmation", detail=word(block.get("id")))
        if kind in ("contextLengthExceeded", "summarizationRequested"):
            return Loss(kind="context_limit")
        return unknown(block.get("type"), f"block {at.source_id}")

    def _result(self, at: Point, block: dict[str, Json]) -> Event:
        result = dict_of(block.get("toolResult"))
        status, success = text_of(result.get("status")), None
        if status is not None:
            success = status == "success"
        outcome = Outcome(success=success, error=result.get("error"))
        return self._talk.result(at, result.get("value"), call_id=block.get("id"), outcome=outcome)

"""Cursor's agent transcripts: one JSONL file a conversation, in `agent-transcripts` of each project.

A line is a role and blocks of content. Nothing has an id or a time, and most versions write no results: steps are named by
their line and block, a result belongs to the oldest call that has none. Which model was asked, and what it cost, Cursor
does not say, so no model call is recorded.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.calls import result_id
from tallystick.agents.kit.columns import known, word
from tallystick.agents.kit.conversation import speaker
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.point import Point, below
from tallystick.agents.kit.reading import (
    BadJson,
    bad_line,
    blocks_of,
    dict_of,
    duplicate_key_losses,
    loads,
    opposite_of,
    text_of,
)
from tallystick.agents.kit.trail import Trail
from tallystick.agents.recognition import IN_ITS_PLACE, count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Opening, Step

NAME = "cursor"
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
_PLACE = re.compile(r"/\.cursor/projects/([^/]+)/agent-transcripts/")
_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
_TAG = re.compile(r"\s*<[a-z_]+>")


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match transcripts, those of sub-agents among them."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a transcript: by its place, or by a first line that is nothing but a role and a message."""
    if not path.endswith(".jsonl"):
        return 0
    first = first_object(head)
    is_ours = first.keys() == {"role", "message"} and text_of(first["role"]) in ("user", "assistant")
    members = 0
    if is_ours:
        members = count_members(first, "role", "message.content")
    return members + (IN_ITS_PLACE if _PLACE.search(path) else 0)


def reader(file: SourceFile) -> Reader:
    """A reader for one transcript."""
    return _Reader(file.path)


class _Reader:
    def __init__(self, path: str) -> None:
        self._session, self._parent = session_names(path)
        place = _PLACE.search(path)
        self._project = None
        if place is not None:
            self._project = place[1]
        self._trail = Trail()
        self._lines = 0
        self._open: deque[str] = deque()
        """Calls without a result, oldest first."""
        self._calls: dict[str, str] = {}
        """Source ids of calls by Cursor's ids, where it gives some."""

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        number = self._lines
        self._lines += 1
        if not number:
            yield self._opening()
        try:
            text = loads(data)
        except BadJson as error:
            yield bad_line(error, offset)
            return
        yield from duplicate_key_losses(text, offset)
        line = dict_of(text.value)
        role, message = line.get("role"), dict_of(line.get("message"))
        content = message.get("content")
        if role in ("user", "assistant", "system", "tool") and content:
            yield from self._message(f"#{number}", str(role), content, line)
        elif line.get("type") == "turn_ended":
            yield Loss(kind="turn_ended")
        elif role is None:
            yield unknown(line.get("type"), f"byte {offset}")
        else:
            yield Loss(kind="empty_message", detail=f"byte {offset}")

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def _opening(self) -> Opening:
        kind, parent = below(self._parent)
        values = known({"personal.project": self._project})
        return Opening(session=self._session, agent=NAME, kind=kind, parent=parent, values=values)

    def _message(self, source_id: str, role: str, content: Json, line: dict[str, Json]) -> Iterator[Event]:
        blocks = blocks_of(content)
        if not blocks:
            yield Loss(kind="empty_message", detail=f"line {source_id}")
        ts = text_of(line.get("timestamp"))
        for place, item in enumerate(blocks):
            block = dict_of(item)
            for event in self._block(f"{source_id}/{place}", role, block):
                if isinstance(event, Step):
                    yield msgspec.structs.replace(event, ts=ts)
                else:
                    yield event

    def _block(self, source_id: str, role: str, block: dict[str, Json]) -> Iterator[Event]:
        kind = block.get("type")
        if kind == "text":
            yield self._text(source_id, role, block)
        elif kind == "thinking":
            values = {"content.thinking": block.get("thinking") or block.get("text")}
            yield self._along("assistant", source_id, {}, values)
        elif kind == "tool_use":
            yield self._call(source_id, block)
        elif kind == "tool_result":
            yield self._result(source_id, block)
        elif kind in ("image", "image_url", "document", "file"):
            found, raw = take_out([block])
            step = self._along(speaker(role), source_id, {"origin": "attached"}, {"content.parts": found})
            yield msgspec.structs.replace(step, raw=raw)
        else:
            yield unknown(kind, f"block {source_id}")

    def _text(self, source_id: str, role: str, block: dict[str, Json]) -> Step:
        text = text_of(block.get("text"))
        if role != "user" or text is None:
            return self._along(speaker(role), source_id, {}, {"content.text": block.get("text")})
        query = _QUERY.search(text)
        if query is None:
            if _TAG.match(text):
                return self._along("user", source_id, {"origin": "injected"}, {"content.text": text})
            return self._typed(source_id, {"content.text": text})
        around = (text[: query.start()] + text[query.end() :]).strip()
        return self._typed(source_id, {"content.text": query[1], "content.context": around or None})

    def _typed(self, source_id: str, values: dict[str, Json]) -> Step:
        """What someone said: the user, or the agent that this one works for."""
        if self._parent is not None:
            return self._along("user", source_id, {"origin": "parent"}, values)
        return msgspec.structs.replace(self._along("user", source_id, {}, values), opens_request=True)

    def _call(self, source_id: str, block: dict[str, Json]) -> Step:
        call_id = word(block.get("id"))
        if call_id is not None and call_id not in self._calls:
            source_id = self._calls[call_id] = call_id
        self._open.append(source_id)
        meta = {"tool": block.get("name"), "corr": call_id}
        return self._along("tool_call", source_id, meta, {"content.args": block.get("input")})

    def _result(self, source_id: str, block: dict[str, Json]) -> Step:
        named = self._calls.get(word(block.get("tool_use_id")) or "")
        call = next(iter(self._open), None)
        if named in self._open:
            call = named
        if call is not None:
            self._open.remove(call)
        output, raw = take_out(block.get("content"))
        meta = {
            "tool": block.get("name"),
            "corr": block.get("tool_use_id"),
            "success": opposite_of(block.get("is_error")),
        }
        at = Point(self._session, result_id(call, source_id))
        return self._trail.along(at.step("tool_result", meta, {"content.output": output}, raw), answers=call)

    def _along(self, kind: str, source_id: str, meta: dict[str, Any], values: dict[str, Any]) -> Step:
        return self._trail.along(Point(self._session, source_id).step(kind, meta, values))


def session_names(path: str) -> tuple[str, str | None]:
    """The session that a transcript is of, and its parent's if it is a sub-agent's."""
    folders = path.split("/")
    stem = folders[-1].removesuffix(".jsonl")
    if len(folders) > 2 and folders[-2] == "subagents":
        return f"{folders[-3]}/{stem}", folders[-3]
    return stem, None

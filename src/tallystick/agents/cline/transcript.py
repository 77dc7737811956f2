"""Cline's sessions (the command line and its teams): one JSON document of messages each.

Its usage counts what was read from a cache as input, too; here `input` is what was not. How a session ended is in
another document beside it, which is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.calls import CallIds, result_id
from tallystick.agents.kit.columns import counted, known, micros, moment_ms, parsed, word
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.point import Point, below
from tallystick.agents.kit.reading import blocks_of, dict_of, events_of_object, int_of, list_of, text_of
from tallystick.agents.kit.spelling import names
from tallystick.agents.kit.trail import Trail
from tallystick.agents.recognition import count_members, first_object, in_place
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Opening, Step

NAME = "cline"
SHAPE = Shape.DOCUMENT
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
_ENDING = ".messages.json"
_TYPED = re.compile(r"<user_input(?: mode=\"(\w+)\")?>(.*)</user_input>", re.DOTALL)
_EXIT = re.compile(r"\[Command exited with code (\d+)\]")
_TOKENS = names("cline", "counts")


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match sessions, those of team members among them."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a session of Cline: by its ending and messages, or by members that only such a document has."""
    first = first_object(head)
    members = count_members(first, "messages", "sessionId", "origin", also=("agent", "system_prompt", "updated_at"))
    return members + in_place(path.endswith(_ENDING) and "messages" in first)


def reader(file: SourceFile) -> Reader:
    """A reader for one session."""
    return _Reader(file.path.replace("\\", "/").rpartition("/")[2].removesuffix(_ENDING))


class _Reader:
    def __init__(self, session: str) -> None:
        self._session = session
        self._parent: str | None = None
        self._trail = Trail()
        self._calls = CallIds()
        self._has_prompt = False

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of the document."""
        otherwise = Loss(kind="bad_document", detail="a session that is no object", fault=True)
        return events_of_object(data, offset, self._document, otherwise)

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def _document(self, document: dict[str, Json]) -> Iterator[Event]:
        yield self._opening(document)
        if prompt := word(document.get("system_prompt")):
            yield self._trail.along(Point(self._session, "system").step("system", {}, {"content.text": prompt}))
        for place, item in enumerate(list_of(document.get("messages"))):
            yield from self._message(dict_of(item), place)

    def _opening(self, document: dict[str, Json]) -> Opening:
        origin = dict_of(document.get("origin"))
        self._session = word(document.get("sessionId")) or self._session
        parents = (origin.get("parentSessionId"), origin.get("parentThreadId"), origin.get("sessionId"))
        named = (name for each in parents if (name := word(each)) is not None)
        self._parent = next(named, None)
        if self._parent == self._session:
            self._parent = None
        kind, parent = below(self._parent)
        meta = {
            "agent_version": origin.get("version"),
            "agent_role": document.get("agent"),
            "surface": origin.get("source"),
            "mode": origin.get("mode"),
        }
        return Opening(
            session=self._session,
            agent=NAME,
            kind=kind,
            parent=parent,
            meta=known(meta),
        )

    # Messages --------------------------------------------------------------------------------------------------------

    def _message(self, message: dict[str, Json], place: int) -> Iterator[Event]:
        source_id = word(message.get("id")) or f"#{place}"
        blocks = blocks_of(message.get("content"))
        if message.get("role") == "assistant":
            yield self._model_call(message, source_id)
        elif not blocks:
            yield Loss(kind="empty_message", detail=f"message {source_id}")
        for at, item in enumerate(blocks):
            yield from self._block(dict_of(item), f"{source_id}/{at}", message)

    def _model_call(self, message: dict[str, Json], source_id: str) -> Step:
        model, metrics = dict_of(message.get("modelInfo")), dict_of(message.get("metrics"))
        meta = {
            "model": model.get("id"),
            "provider": model.get("provider"),
            "tokens": _tokens(metrics),
            "cost_microusd": micros(metrics.get("cost")),
        }
        return self._trail.along(self._at(f"{source_id}/usage", message).model_call(meta))

    def _block(self, block: dict[str, Json], source_id: str, message: dict[str, Json]) -> Iterator[Event]:
        kind, is_answer = block.get("type"), message.get("role") == "assistant"
        at = self._at(source_id, message)
        if kind == "text" and is_answer:
            yield self._trail.along(at.step("assistant", {}, {"content.text": block.get("text")}))
        elif kind == "text":
            yield self._prompt(block, at)
        elif kind in ("thinking", "reasoning"):
            values = {"content.thinking": block.get("thinking") or block.get("text")}
            yield self._trail.along(at.step("assistant", {}, values))
        elif kind == "tool_use":
            yield self._call(block, at)
        elif kind == "tool_result":
            yield self._result(block, at)
        elif kind in ("image", "file", "document"):
            found, raw = take_out([block])
            values = {"content.parts": found}
            yield self._trail.along(at.step("user", {"origin": "attached"}, values, raw))
        else:
            yield unknown(kind, f"block {source_id}")

    def _prompt(self, block: dict[str, Json], at: Point) -> Step:
        text = text_of(block.get("text"))
        typed = _TYPED.search(text or "")
        is_first, self._has_prompt = not self._has_prompt, True
        if typed is None:
            return self._trail.along(at.step("user", {"origin": "injected"}, {"content.text": block.get("text")}))
        origin = None
        if self._parent is not None and is_first:
            origin = "parent"
        around = (typed.string[: typed.start()] + typed.string[typed.end() :]).strip()
        values = {"content.text": typed[2], "content.context": around or None}
        step = self._trail.along(at.step("user", {"origin": origin, "mode": typed[1]}, values))
        return msgspec.structs.replace(step, opens_request=origin is None)

    def _call(self, block: dict[str, Json], at: Point) -> Step:
        call_id = word(block.get("id"))
        meta = {"tool": block.get("name"), "corr": call_id}
        at = at.named(self._calls.new(call_id, str(at.source_id)))
        return self._trail.along(at.step("tool_call", meta, {"content.args": block.get("input")}))

    def _result(self, block: dict[str, Json], at: Point) -> Step:
        call_id = word(block.get("tool_use_id"))
        call = self._calls.of(call_id)
        output, raw = take_out(block.get("content"))
        meta = {"tool": block.get("name"), "corr": call_id, **outcome(block)}
        at = at.named(result_id(call, at.source_id))
        return self._trail.along(at.step("tool_result", meta, {"content.output": output}, raw), answers=call)

    def _at(self, source_id: str, message: dict[str, Json]) -> Point:
        return Point(self._session, source_id, moment_ms(message.get("ts")))


def _tokens(metrics: dict[str, Json]) -> dict[str, int] | None:
    found = counted({kind: int_of(metrics.get(name)) for kind, name in _TOKENS.items()})
    if found is None:
        return None
    cached = found.get("cache_read", 0) + found.get("cache_write", 0)
    if found.get("input", 0) >= cached:
        found["input"] = found.get("input", 0) - cached
    return counted(found)


def outcome(block: dict[str, Json]) -> dict[str, Json]:
    """Whether a call succeeded: its parts say so, and commands that fail say with which code."""
    told = block.get("content")
    if isinstance(told, str):
        told = parsed(told)
    parts = [dict_of(part) for part in list_of(told) or [told]]
    said = [part["success"] for part in parts if isinstance(part.get("success"), bool)]
    codes = [int(match[1]) for part in parts if (match := _EXIT.match(text_of(part.get("result")) or ""))]
    if isinstance(block.get("is_error"), bool):
        said.append(not block["is_error"])
    if not said and not codes:
        return {}
    return {"success": all(said) and not any(codes), "exit_code": next(iter(codes), None)}

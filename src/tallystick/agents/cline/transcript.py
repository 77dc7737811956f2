"""Cline's sessions (the command line and its teams): one JSON document of messages each.

Its usage counts what was read from a cache as input, too; here `input` is what was not. How a session ended is in
another document beside it, which is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.columns import known, micros, moment_ms, parsed, word
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import dict_of, events_of_object, int_of, list_of, text_of
from tallystick.agents.kit.trail import Trail
from tallystick.agents.recognition import IN_ITS_PLACE, count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, SessionKind, Step

NAME = "cline"
SHAPE = Shape.DOCUMENT
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
_ENDING = ".messages.json"
_TYPED = re.compile(r"<user_input(?: mode=\"(\w+)\")?>(.*)</user_input>", re.DOTALL)
_EXIT = re.compile(r"\[Command exited with code (\d+)\]")
_TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadTokens",
    "cache_write": "cacheWriteTokens",
}


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match sessions, those of team members among them."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a session of Cline: by its ending and messages, or by members that only such a document has."""
    first = first_object(head)
    members = count_members(first, "messages", "sessionId", "origin", also=("agent", "system_prompt", "updated_at"))
    return members + (IN_ITS_PLACE if path.endswith(_ENDING) and "messages" in first else 0)


def reader(file: SourceFile) -> Reader:
    """A reader for one session."""
    return _Reader(file.path.replace("\\", "/").rpartition("/")[2].removesuffix(_ENDING))


class _Reader:
    def __init__(self, session: str) -> None:
        self._session = session
        self._parent: str | None = None
        self._trail = Trail()
        self._calls: dict[str, str] = {}
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
            yield self._along("system", "system", None, {}, {"content.text": prompt})
        for place, item in enumerate(list_of(document.get("messages"))):
            yield from self._message(dict_of(item), place)

    def _opening(self, document: dict[str, Json]) -> Opening:
        origin = dict_of(document.get("origin"))
        self._session = word(document.get("sessionId")) or self._session
        parents = (origin.get("parentSessionId"), origin.get("parentThreadId"), origin.get("sessionId"))
        parent = next((name for each in parents if (name := word(each)) is not None), None)
        self._parent = parent if parent != self._session else None
        meta = {
            "agent_version": origin.get("version"),
            "agent_role": document.get("agent"),
            "surface": origin.get("source"),
            "mode": origin.get("mode"),
        }
        return Opening(
            session=self._session,
            agent=NAME,
            kind=SessionKind.CHILD if self._parent is not None else SessionKind.ROOT,
            parent=Ref(None, self._parent) if self._parent is not None else None,
            meta=known(meta),
        )

    # Messages --------------------------------------------------------------------------------------------------------

    def _message(self, message: dict[str, Json], place: int) -> Iterator[Event]:
        source_id = word(message.get("id")) or f"#{place}"
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)
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
        return self._along("model_call", f"{source_id}/usage", message, meta, {})

    def _block(self, block: dict[str, Json], source_id: str, message: dict[str, Json]) -> Iterator[Event]:
        kind, is_answer = block.get("type"), message.get("role") == "assistant"
        if kind == "text" and is_answer:
            yield self._along("assistant", source_id, message, {}, {"content.text": block.get("text")})
        elif kind == "text":
            yield self._prompt(block, source_id, message)
        elif kind in ("thinking", "reasoning"):
            values = {"content.thinking": block.get("thinking") or block.get("text")}
            yield self._along("assistant", source_id, message, {}, values)
        elif kind == "tool_use":
            yield self._call(block, source_id, message)
        elif kind == "tool_result":
            yield self._result(block, source_id, message)
        elif kind in ("image", "file", "document"):
            found, raw = take_out([block])
            step = self._along("user", source_id, message, {"origin": "attached"}, {"content.parts": found})
            yield msgspec.structs.replace(step, raw=raw)
        else:
            yield unknown(kind, f"block {source_id}")

    def _prompt(self, block: dict[str, Json], source_id: str, message: dict[str, Json]) -> Step:
        text = text_of(block.get("text"))
        typed = _TYPED.search(text) if text is not None else None
        is_first, self._has_prompt = not self._has_prompt, True
        origin = "injected" if typed is None else "parent" if self._parent is not None and is_first else None
        values: dict[str, Json] = {"content.text": block.get("text")}
        if typed is not None and text is not None:
            around = (text[: typed.start()] + text[typed.end() :]).strip()
            values = {"content.text": typed[2], "content.context": around or None}
        meta = {"origin": origin, "mode": typed[1] if typed is not None else None}
        step = self._along("user", source_id, message, meta, values)
        return msgspec.structs.replace(step, opens_request=origin is None)

    def _call(self, block: dict[str, Json], source_id: str, message: dict[str, Json]) -> Step:
        call_id = word(block.get("id"))
        if call_id is not None:
            source_id = source_id if call_id in self._calls else call_id
            self._calls[call_id] = source_id
        meta = {"tool": block.get("name"), "corr": call_id}
        return self._along("tool_call", source_id, message, meta, {"content.args": block.get("input")})

    def _result(self, block: dict[str, Json], source_id: str, message: dict[str, Json]) -> Step:
        call_id = word(block.get("tool_use_id"))
        call = self._calls.get(call_id, call_id) if call_id is not None else None
        output, raw = take_out(block.get("content"))
        meta = {"tool": block.get("name"), "corr": call_id, **outcome(block)}
        name = f"{call}/result" if call is not None else source_id
        step = self._along("tool_result", name, message, meta, {"content.output": output}, answers=call)
        return msgspec.structs.replace(step, raw=raw)

    def _along(
        self,
        kind: str,
        source_id: str,
        message: dict[str, Json] | None,
        meta: dict[str, Any],
        values: dict[str, Any],
        *,
        answers: str | None = None,
    ) -> Step:
        step = Step(
            session=self._session,
            type=kind,
            source_id=source_id,
            ts=moment_ms(message.get("ts")) if message is not None else None,
            meta=known(meta),
            values=known(values),
            input=Input.PATH if kind == "model_call" else None,
        )
        return self._trail.along(step, answers=answers)


def _tokens(metrics: dict[str, Json]) -> dict[str, int] | None:
    counts = {kind: int_of(metrics.get(name)) for kind, name in _TOKENS.items()}
    found = {kind: count for kind, count in counts.items() if count is not None}
    cached = found.get("cache_read", 0) + found.get("cache_write", 0)
    if found.get("input", 0) >= cached:
        found["input"] = found.get("input", 0) - cached
    return found if any(found.values()) else None


def outcome(block: dict[str, Json]) -> dict[str, Json]:
    """Whether a call succeeded: its parts say so, and commands that fail say with which code."""
    content = block.get("content")
    told = parsed(content) if isinstance(content, str) else content
    parts = [dict_of(part) for part in (told if isinstance(told, list) else [told])]
    said = [part["success"] for part in parts if isinstance(part.get("success"), bool)]
    codes = [int(match[1]) for part in parts if (match := _EXIT.match(text_of(part.get("result")) or ""))]
    if isinstance(block.get("is_error"), bool):
        said.append(not block["is_error"])
    return {
        "success": all(said) and not any(codes) if said or codes else None,
        "exit_code": codes[0] if codes else None,
    }

"""pi's sessions: one JSONL file each, a tree of entries by `parentId`.

An entry has a short random id, unique in its session. After a compaction the tree goes on in `<id>~k`; what grows from an
entry belongs where that entry is. A session made from another copies its entries: those older than the session itself are
left out, they are recorded where they were said first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.columns import known, micros, moment_ms, word
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import (
    BadJson,
    bad_line,
    dict_of,
    duplicate_key_losses,
    int_of,
    list_of,
    loads,
    text_of,
)
from tallystick.agents.kit.trail import Trail
from tallystick.agents.recognition import IN_ITS_PLACE, count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, SessionKind, Step

NAME = "pi"
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
_TOKENS = {"input": "input", "output": "output", "cache_read": "cacheRead", "cache_write": "cacheWrite"}


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match pi's sessions."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a session of pi: by its place, and by its first line."""
    first = first_object(head)
    if not path.endswith(".jsonl") or text_of(first.get("type")) != "session":
        return 0
    in_place = IN_ITS_PLACE if "/.pi/" in path else 0
    return count_members(first, "type", "cwd", also=("id", "timestamp", "version")) + in_place


def reader(file: SourceFile) -> Reader:
    """A reader for one session file."""
    return _Reader(_id_of(file.path))


def _id_of(path: str) -> str:
    """The id in a file's name, which is `<time>_<id>.jsonl`."""
    stem = path.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")
    return stem.rpartition("_")[2] or stem


class _Reader:
    def __init__(self, session: str) -> None:
        self._session = session
        self._header: dict[str, Json] = {}
        self._origin: str | None = None
        """The session that this one was made from."""
        self._copied: Ref | None = None
        """The last step that it took over."""
        self._is_open = False
        self._trail = Trail()
        self._place: dict[str, Ref] = {}
        """The last step of each entry, and the session it is recorded in."""
        self._generations = 0
        self._calls: dict[str, str] = {}
        self._lines = 0

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        self._lines += 1
        try:
            text = loads(data)
        except BadJson as error:
            yield bad_line(error, offset)
            return
        yield from duplicate_key_losses(text, offset)
        entry = dict_of(text.value)
        if entry.get("type") == "session":
            yield from self._take_header(entry)
            return
        source_id = word(entry.get("id")) or f"#{self._lines - 1}"
        if source_id in self._place:
            yield Loss(kind="duplicate_line", detail=f"entry {source_id}")
        elif self._is_copy(entry):
            yield from self._repeated(entry, source_id)
        else:
            yield from self._open()
            yield from self._entry(entry, source_id, offset)

    def finish(self) -> Iterator[Event]:
        """A session that has nothing of its own."""
        if self._header or self._copied is not None:
            yield from self._open()

    def _take_header(self, header: dict[str, Json]) -> Iterator[Event]:
        if self._header or self._is_open:
            yield Loss(kind="second_header")
            return
        self._header = header
        self._session = word(header.get("id")) or self._session
        origin = word(header.get("parentSession"))
        self._origin = _id_of(origin) if origin is not None else None

    def _open(self) -> Iterator[Event]:
        if self._is_open:
            return
        self._is_open = True
        values = {"personal.cwd": self._header.get("cwd")}
        yield Opening(
            session=self._session,
            agent=NAME,
            kind=SessionKind.FORK if self._origin is not None else SessionKind.ROOT,
            parent=(self._copied or Ref(None, self._origin)) if self._origin is not None else None,
            ts=text_of(self._header.get("timestamp")),
            meta=known({"format": self._header.get("version")}),
            values=known(values),
        )

    # Entries ---------------------------------------------------------------------------------------------------------

    def _is_copy(self, entry: dict[str, Json]) -> bool:
        """Whether an entry was taken over: it is older than the session, which was made from another."""
        made, said = text_of(self._header.get("timestamp")), text_of(entry.get("timestamp"))
        return self._origin is not None and not self._is_open and made is not None and said is not None and said < made

    def _repeated(self, entry: dict[str, Json], source_id: str) -> Iterator[Event]:
        steps = [event for event in self._events(entry, source_id, self._session, 0) if isinstance(event, Step)]
        if steps:
            self._copied = Ref(steps[-1].source_id, self._origin)
        yield Loss(kind="repeated_message", detail=f"entry {source_id} repeats session {self._origin}")

    def _entry(self, entry: dict[str, Json], source_id: str, offset: int) -> Iterator[Event]:
        before = self._place.get(word(entry.get("parentId")) or "")
        session = before.session if before is not None and before.session is not None else self._session
        if before is not None:
            self._trail.turn_back(session, before.source_id)
        for event in self._events(entry, source_id, session, offset):
            if isinstance(event, Step) and event.type in ("config_change", "system"):
                event = self._trail.beside(event)
            elif isinstance(event, Step):
                event = self._trail.along(event, answers=_answered(event))
            yield event
        end = self._trail.end(session)
        if entry.get("type") == "compaction":
            yield from self._compacted(entry, source_id, session)
            return
        self._place[source_id] = Ref(end, session)

    def _compacted(self, entry: dict[str, Json], source_id: str, old: str) -> Iterator[Event]:
        """A compaction: the tree goes on as the next `<id>~k`, which begins with the summary."""
        ts = text_of(entry.get("timestamp"))
        yield Step(session=old, type="session_end", source_id=f"{source_id}/end", ts=ts, meta={"reason": "compaction"})
        self._generations += 1
        new, kind = f"{self._session}~{self._generations}", SessionKind.CONTINUATION
        yield Opening(session=new, agent=NAME, kind=kind, parent=Ref(source_id, old), ts=ts)
        values = known({"content.text": entry.get("summary")})
        meta = {"origin": "summary"}
        summary = Step(session=new, type="user", source_id=f"{source_id}/summary", ts=ts, meta=meta, values=values)
        yield self._trail.along(summary)
        self._place[source_id] = Ref(summary.source_id, new)

    def _events(self, entry: dict[str, Json], source_id: str, session: str, offset: int) -> Iterator[Event]:
        kind, ts = entry.get("type"), text_of(entry.get("timestamp"))
        if kind == "message":
            for event in self._message(dict_of(entry.get("message")), source_id, session, offset):
                yield msgspec.structs.replace(event, ts=event.ts or ts) if isinstance(event, Step) else event
        elif kind == "compaction":
            meta = {"tokens_before": entry.get("tokensBefore"), "kept_from": entry.get("firstKeptEntryId")}
            values = {"content.details": entry.get("details")}
            yield _step(session, "compaction", source_id, ts, meta, values)
        elif kind == "branch_summary":
            values = {"content.text": entry.get("summary"), "content.details": entry.get("details")}
            yield _step(session, "user", source_id, ts, {"origin": "summary", "from": entry.get("fromId")}, values)
        elif kind in ("model_change", "thinking_level_change"):
            meta = {
                "model": entry.get("modelId"),
                "provider": entry.get("provider"),
                "thinking": entry.get("thinkingLevel"),
            }
            yield _step(session, "config_change", source_id, ts, meta, {})
        elif kind == "custom_message":
            content, raw = take_out(entry.get("content"))
            meta = {"origin": "injected", "note": entry.get("customType")}
            values = {
                "content.text": _text(content),
                "content.parts": _parts(content),
                "content.data": entry.get("details"),
            }
            yield msgspec.structs.replace(_step(session, "user", source_id, ts, meta, values), raw=raw)
        elif kind in ("custom", "session_info", "label"):
            yield _note(entry, source_id, session)
        else:
            yield unknown(kind, f"byte {offset}")

    def _message(self, message: dict[str, Json], source_id: str, session: str, offset: int) -> Iterator[Event]:
        role, ts = message.get("role"), moment_ms(message.get("timestamp"))
        content, raw = take_out(message.get("content"))
        if role == "user":
            values = {"content.text": _text(content), "content.parts": _parts(content)}
            prompt = _step(session, "user", source_id, ts, {}, values)
            yield msgspec.structs.replace(prompt, raw=raw, opens_request=True)
        elif role == "assistant":
            yield from self._answer(message, source_id, session, ts)
        elif role == "toolResult":
            yield msgspec.structs.replace(self._result(message, content, source_id, session, ts), raw=raw)
        elif role == "bashExecution":
            meta = {"origin": "command", "exit_code": message.get("exitCode"), "cancelled": message.get("cancelled")}
            values = {"content.command": message.get("command"), "content.output": message.get("output")}
            yield _step(session, "user", source_id, ts, meta, values)
        else:
            yield unknown(role, f"message {source_id} at byte {offset}")

    def _answer(self, message: dict[str, Json], source_id: str, session: str, ts: str | None) -> Iterator[Step]:
        usage = dict_of(message.get("usage"))
        counts = {kind: int_of(usage.get(name)) for kind, name in _TOKENS.items()}
        tokens = {kind: count for kind, count in counts.items() if count is not None}
        meta = {
            "model": message.get("model"),
            "provider": message.get("provider"),
            "tokens": tokens if any(tokens.values()) else None,
            "cost_microusd": micros(dict_of(usage.get("cost")).get("total")),
            "stop_reason": message.get("stopReason"),
            "response": message.get("responseId"),
        }
        values = {"content.error": message.get("errorMessage")}
        call = _step(session, "model_call", f"{source_id}/usage", ts, meta, values)
        whole = session == self._session and self._origin is None
        yield msgspec.structs.replace(call, input=Input.PATH if whole else Input.HIDDEN)
        for place, item in enumerate(list_of(message.get("content"))):
            block = dict_of(item)
            if block.get("type") == "toolCall":
                yield self._call(block, f"{source_id}/{place}", session)
            elif block.get("type") == "thinking":
                values = {"content.thinking": block.get("thinking")}
                yield _step(session, "assistant", f"{source_id}/{place}", None, {}, values)
            else:
                values = {"content.text": block.get("text") if block.get("type") == "text" else item}
                yield _step(session, "assistant", f"{source_id}/{place}", None, {}, values)

    def _call(self, block: dict[str, Json], fallback: str, session: str) -> Step:
        call_id = word(block.get("id"))
        source_id = call_id if call_id is not None and call_id not in self._calls else fallback
        self._calls[call_id or fallback] = source_id
        meta = {"tool": block.get("name"), "corr": call_id}
        return _step(session, "tool_call", source_id, None, meta, {"content.args": block.get("arguments")})

    def _result(self, message: dict[str, Json], content: Json, source_id: str, session: str, ts: str | None) -> Step:
        call_id = word(message.get("toolCallId"))
        call = self._calls.get(call_id, call_id) if call_id is not None else None
        failed = message.get("isError")
        meta = {
            "tool": message.get("toolName"),
            "corr": call_id,
            "success": not failed if isinstance(failed, bool) else None,
        }
        text = _text(content) if _parts(content) is None else None
        values = {"content.output": content if text is None else text, "content.result": message.get("details") or None}
        name = f"{call}/result" if call is not None else source_id
        return _step(session, "tool_result", name, ts, meta, values)


def _answered(step: Step) -> str | None:
    if step.type != "tool_result" or not str(step.source_id).endswith("/result"):
        return None
    return str(step.source_id).removesuffix("/result")


def _note(entry: dict[str, Json], source_id: str, session: str) -> Step:
    """What extensions and the user note beside the conversation."""
    meta = {"note": entry.get("customType") or entry.get("type"), "of": entry.get("targetId")}
    values = {
        "content.data": entry.get("data"),
        "content.title": entry.get("name"),
        "content.label": entry.get("label"),
    }
    return _step(session, "system", source_id, text_of(entry.get("timestamp")), meta, values)


def _text(content: Json) -> str | None:
    """The text of a content: a string, or blocks of text."""
    if isinstance(content, str):
        return content
    texts = [text for block in list_of(content) if (text := text_of(dict_of(block).get("text"))) is not None]
    return "\n".join(texts) if texts else None


def _parts(content: Json) -> Json:
    """All blocks of a content, if some are more than text."""
    blocks = list_of(content)
    return blocks if any(dict_of(block).get("type") != "text" for block in blocks) else None


def _step(
    session: str, kind: str, source_id: str, ts: str | None, meta: dict[str, Any], values: dict[str, Any]
) -> Step:
    return Step(session=session, type=kind, source_id=source_id, ts=ts, meta=known(meta), values=known(values))

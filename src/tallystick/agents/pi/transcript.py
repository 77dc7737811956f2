"""pi's sessions: one JSONL file each, a tree of entries by `parentId`.

An entry has a short random id, unique in its session. After a compaction the tree goes on in `<id>~k`; what grows from an
entry belongs where that entry is. A session made from another copies its entries: those older than the session itself are
left out, they are recorded where they were said first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.calls import CallIds, result_id
from tallystick.agents.kit.columns import counted, known, micros, moment_ms, word
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.outcomes import code_after, ended
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import (
    BadJson,
    bad_line,
    dict_of,
    duplicate_key_losses,
    int_of,
    list_of,
    loads,
    opposite_of,
    text_of,
)
from tallystick.agents.kit.spelling import names
from tallystick.agents.kit.trail import Trail
from tallystick.agents.recognition import count_members, first_object, in_place
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Opening, Ref, SessionKind, Step

NAME = "pi"
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
_CODE = re.compile(r"^Command exited with code (-?\d{1,9})$", re.MULTILINE | re.ASCII)
_TOKENS = names("pi", "counts")


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match pi's sessions."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a session of pi: by its place, and by its first line."""
    first = first_object(head)
    if not path.endswith(".jsonl") or text_of(first.get("type")) != "session":
        return 0
    return count_members(first, "type", "cwd", also=("id", "timestamp", "version")) + in_place("/.pi/" in path)


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
        self._calls = CallIds()
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
        if origin is not None:
            self._origin = _id_of(origin)

    def _open(self) -> Iterator[Event]:
        if self._is_open:
            return
        self._is_open = True
        kind, parent = SessionKind.ROOT, None
        if self._origin is not None:
            kind, parent = SessionKind.FORK, self._copied or Ref(None, self._origin)
        values = {"personal.cwd": self._header.get("cwd")}
        yield Opening(
            session=self._session,
            agent=NAME,
            kind=kind,
            parent=parent,
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
        at = Point(self._session, source_id, text_of(entry.get("timestamp")))
        steps = [event for event in self._events(entry, at, 0) if isinstance(event, Step)]
        if steps:
            self._copied = Ref(steps[-1].source_id, self._origin)
        yield Loss(kind="repeated_message", detail=f"entry {source_id} repeats session {self._origin}")

    def _entry(self, entry: dict[str, Json], source_id: str, offset: int) -> Iterator[Event]:
        before = self._place.get(word(entry.get("parentId")) or "")
        session = self._session
        if before is not None:
            session = before.session or session
            self._trail.turn_back(session, before.source_id)
        for event in self._events(entry, Point(session, source_id, text_of(entry.get("timestamp"))), offset):
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

    def _events(self, entry: dict[str, Json], at: Point, offset: int) -> Iterator[Event]:
        kind = entry.get("type")
        if kind == "message":
            for event in self._message(dict_of(entry.get("message")), at, offset):
                if isinstance(event, Step):
                    yield msgspec.structs.replace(event, ts=event.ts or at.ts)
                else:
                    yield event
        elif kind == "compaction":
            meta = {"tokens_before": entry.get("tokensBefore"), "kept_from": entry.get("firstKeptEntryId")}
            yield at.step("compaction", meta, {"content.details": entry.get("details")})
        elif kind == "branch_summary":
            values = {"content.text": entry.get("summary"), "content.details": entry.get("details")}
            yield at.step("user", {"origin": "summary", "from": entry.get("fromId")}, values)
        elif kind in ("model_change", "thinking_level_change"):
            meta = {
                "model": entry.get("modelId"),
                "provider": entry.get("provider"),
                "thinking": entry.get("thinkingLevel"),
            }
            yield at.step("config_change", meta)
        elif kind == "custom_message":
            content, raw = take_out(entry.get("content"))
            values = {**_said(content), "content.data": entry.get("details")}
            yield at.step("user", {"origin": "injected", "note": entry.get("customType")}, values, raw)
        elif kind in ("custom", "session_info", "label"):
            yield _note(entry, at)
        else:
            yield unknown(kind, f"byte {offset}")

    def _message(self, message: dict[str, Json], entry: Point, offset: int) -> Iterator[Event]:
        role = message.get("role")
        at = Point(entry.session, entry.source_id, moment_ms(message.get("timestamp")))
        content, raw = take_out(message.get("content"))
        if role == "user":
            yield msgspec.structs.replace(at.step("user", {}, _said(content), raw), opens_request=True)
        elif role == "assistant":
            yield from self._answer(message, at)
        elif role == "toolResult":
            yield msgspec.structs.replace(self._result(message, content, at), raw=raw)
        elif role == "bashExecution":
            meta = {"origin": "command", "exit_code": message.get("exitCode"), "cancelled": message.get("cancelled")}
            values = {"content.command": message.get("command"), "content.output": message.get("output")}
            yield at.step("user", meta, values)
        else:
            yield unknown(role, f"message {at.source_id} at byte {offset}")

    def _answer(self, message: dict[str, Json], at: Point) -> Iterator[Step]:
        usage = dict_of(message.get("usage"))
        meta = {
            "model": message.get("model"),
            "provider": message.get("provider"),
            "tokens": counted({kind: int_of(usage.get(name)) for kind, name in _TOKENS.items()}),
            "cost_microusd": micros(dict_of(usage.get("cost")).get("total")),
            "stop_reason": message.get("stopReason"),
            "response": message.get("responseId"),
        }
        is_shown = at.session == self._session and self._origin is None
        values = {"content.error": message.get("errorMessage")}
        yield at.part("usage").model_call(meta, values, is_shown=is_shown)
        for place, item in enumerate(list_of(message.get("content"))):
            yield self._block(item, Point(at.session, f"{at.source_id}/{place}"))

    def _block(self, item: Json, at: Point) -> Step:
        block = dict_of(item)
        match block.get("type"):
            case "toolCall":
                return self._call(block, at)
            case "thinking":
                return at.step("assistant", {}, {"content.thinking": block.get("thinking")})
            case "text":
                return at.step("assistant", {}, {"content.text": block.get("text")})
            case _:
                return at.step("assistant", {}, {"content.text": item})

    def _call(self, block: dict[str, Json], at: Point) -> Step:
        call_id = word(block.get("id"))
        meta = {"tool": block.get("name"), "corr": call_id}
        call = at.named(self._calls.new(call_id, str(at.source_id)))
        return call.step("tool_call", meta, {"content.args": block.get("arguments")})

    def _result(self, message: dict[str, Json], content: Json, at: Point) -> Step:
        call_id = word(message.get("toolCallId"))
        output = content
        if _parts(content) is None and (text := _text(content)) is not None:
            output = text
        ended_so = outcome(message.get("toolName"), opposite_of(message.get("isError")), output)
        meta = {"tool": message.get("toolName"), "corr": call_id, **ended_so}
        values = {"content.output": output, "content.result": message.get("details") or None}
        return at.named(result_id(self._calls.of(call_id), at.source_id)).step("tool_result", meta, values)


def outcome(tool: Json, success: Json, output: Json) -> dict[str, Json]:
    """How a call ended: pi names the code of a command that failed below its output."""
    code = None
    if tool == "bash":
        code = code_after(output, _CODE)
    return ended(success, code)


def _answered(step: Step) -> str | None:
    if step.type != "tool_result" or not str(step.source_id).endswith("/result"):
        return None
    return str(step.source_id).removesuffix("/result")


def _note(entry: dict[str, Json], at: Point) -> Step:
    """What extensions and the user note beside the conversation."""
    meta = {"note": entry.get("customType") or entry.get("type"), "of": entry.get("targetId")}
    values = {
        "content.data": entry.get("data"),
        "content.title": entry.get("name"),
        "content.label": entry.get("label"),
    }
    return at.step("system", meta, values)


def _text(content: Json) -> str | None:
    """The text of a content: a string, or blocks of text."""
    if isinstance(content, str):
        return content
    texts = [text for block in list_of(content) if (text := text_of(dict_of(block).get("text"))) is not None]
    if texts:
        return "\n".join(texts)
    return None


def _parts(content: Json) -> Json:
    """All blocks of a content, if some are more than text."""
    blocks = list_of(content)
    if any(dict_of(block).get("type") != "text" for block in blocks):
        return blocks
    return None


def _said(content: Json) -> dict[str, Json]:
    return {"content.text": _text(content), "content.parts": _parts(content)}

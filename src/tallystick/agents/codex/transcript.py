"""Codex CLI: the rollout files of its threads.

Owns the lines around items and events: header, settings, usage. A thread is a session, a sub-agent's thread a child,
and a compaction begins a continuation. What Codex writes twice is counted, not recorded.

Stated normalisation (docs/format.md 13.3): arguments that are JSON text become the object they hold; environment
variables of a call are left out; `tokens.input` leaves out what the cache gave. Native ids are unique in a thread only:
call ids are the model provider's, and some providers just number them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.codex.events import event, usage_record
from tallystick.agents.codex.items import compacted, item, mail
from tallystick.agents.codex.line import Line, known, parse
from tallystick.agents.codex.thread import AGENT, Thread
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.reading import dict_of, events_of_object, text_of
from tallystick.agents.recognition import IN_ITS_PLACE, count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, SessionKind

NAME = AGENT
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_FILE = re.compile(r"rollout-\d{4}-\d\d-\d\dT[\d-]{8}-(.+)\.jsonl\Z", re.ASCII)
_LINES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
_BOOKKEEPING = frozenset({"state", "world_state", "inter_agent_communication_metadata"})
"""What Codex needs to go on, in words that messages and settings have, too."""
_PASSING = frozenset({"turn_id", "root_turn_id", "trace_id", "current_date", "cwd"})
"""Members of a turn's context that are not settings."""


def locate() -> tuple[str, ...]:
    """Where Codex keeps its rollouts, below the home folder."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a rollout: by its name and first character, and by its first line."""
    in_place = bool(_FILE.search(posixpath.basename(path))) and head.lstrip()[:1] in (b"{", b"")
    first = first_object(head)
    if text_of(first.get("type")) in _LINES:
        members = count_members(
            first, "type", "payload", also=("timestamp", "payload.cli_version", "payload.originator")
        )
    else:
        members = count_members(first, "id", "timestamp", "instructions")
    return members + (IN_ITS_PLACE if in_place else 0)


def reader(file: SourceFile) -> Reader:
    """A reader for one rollout."""
    name = posixpath.basename(file.path)
    match = _FILE.search(name)
    return _Rollout(match[1] if match else name.rpartition(".")[0] or name or NAME)


class _Rollout:
    """Reads one thread. Holds back one model response at a time."""

    def __init__(self, thread: str) -> None:
        self._thread = Thread(thread)

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        otherwise = Loss(kind="unknown_line", detail=f"byte {offset}: not an object")
        return events_of_object(data, offset, lambda value: self._line(parse(value, offset)), otherwise)

    def finish(self) -> Iterator[Event]:
        """What was held back."""
        yield from self._thread.responses.flush()

    def _line(self, line: Line) -> Iterator[Event]:
        handle = _HANDLERS.get(line.kind)
        if handle is None:
            if line.kind in _BOOKKEEPING:
                yield Loss(kind=line.kind, detail=line.at)
            else:
                yield unknown(line.kind, line.at)
            return
        if not self._thread.opened and handle is not _header:
            yield from self._thread.open({}, line.ts)
        yield from handle(self._thread, line)


def _header(thread: Thread, line: Line) -> Iterator[Event]:
    """The first line. Another one, in a thread that began as a copy, comes with the history it copied."""
    if thread.opened:
        thread.responses.copied = thread.kind is not SessionKind.ROOT
        yield Loss(kind="repeated_header", detail=line.at)
        return
    yield from thread.open(line.payload, line.text("timestamp") or line.ts)
    told = line.payload.get("base_instructions") or line.payload.get("instructions")
    text = text_of(dict_of(told).get("text")) or text_of(told)
    if text:
        step = thread.at(line, f"{thread.id}/instructions").step("system", {"role": "system"}, {"content.text": text})
        yield from thread.responses.told(step)


def _context(thread: Thread, line: Line) -> Iterator[Event]:
    """What a turn runs under: recorded when it changes."""
    yield from thread.responses.flush()
    thread.turn(line.payload)
    thread.responses.model = line.text("model") or thread.responses.model
    settings = {name: value for name, value in line.payload.items() if name not in _PASSING}
    if settings == thread.settings:
        yield Loss(kind="turn_context", detail=line.at)
        return
    thread.settings = settings
    meta = known(
        model=line.text("model"),
        effort=line.text("effort"),
        approval_policy=line.text("approval_policy"),
        sandbox=text_of(dict_of(line.payload.get("sandbox_policy")).get("type")),
    )
    values: dict[str, Json] = {"content.settings": settings, **known(**{"personal.cwd": line.text("cwd")})}
    yield from thread.responses.beside(thread.at(line, line.at).step("config_change", meta, values))


_HANDLERS: dict[str, Callable[[Thread, Line], Iterator[Event]]] = {
    "session_meta": _header,
    "response_item": item,
    "event_msg": event,
    "turn_context": _context,
    "compacted": compacted,
    "token_usage_record": usage_record,
    "inter_agent_communication": mail,
}

"""Codex CLI: the rollout files of its threads.

Owns the lines around items (header, settings, usage) and the events, the lines that Codex writes beside them: which are
recorded and which say again what an item says. A thread is a session, a sub-agent's thread a child, and a compaction begins
a continuation. What Codex writes twice is counted, not recorded.

Stated normalisation (docs/format.md 13.3): arguments that are JSON text become the object they hold; environment
variables of a call are left out; `tokens.input` leaves out what the cache gave. Native ids are unique in a thread only:
call ids are the model provider's, and some providers just number them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.codex.items import compacted, item, mail
from tallystick.agents.codex.line import Line, known, parse
from tallystick.agents.codex.outcomes import Outcome, from_event
from tallystick.agents.codex.thread import AGENT, Thread
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import dict_of, events_of_object, int_of, text_of
from tallystick.agents.kit.spelling import names, words
from tallystick.agents.recognition import IN_ITS_PLACE, count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Ref, SessionKind

_REPEATED = frozenset(words("codex", "repeated"))
"""What says again what a response item says."""

_EVENT_BOOKKEEPING = frozenset(words("codex", "bookkeeping"))
"""Beginnings and ends that other lines imply."""

_ENDS = names("codex", "ends")
"""Items and events that tell how a call ended, and the tool they are about."""

_WARNINGS = words("codex", "warnings")
_APPROVALS = words("codex", "approvals")
_NOTES = words("codex", "notes")
"""What no other line says, and a person may ask for."""


def event(thread: Thread, line: Line) -> Iterator[Event]:
    """The events that an `event_msg` line is."""
    handle = _EVENT_HANDLERS.get(line.name)
    if handle is not None:
        yield from handle(thread, line)
    else:
        yield _loss(line)


def _loss(line: Line) -> Loss:
    if line.name in _REPEATED:
        return Loss(kind="duplicate_event", detail=f"{line.name} {line.at}")
    if line.name in _EVENT_BOOKKEEPING:
        return Loss(kind=line.name, detail=line.at)
    return unknown(line.name, line.at)


def _completed(thread: Thread, line: Line) -> Iterator[Event]:
    """A turn item is done. It is an event of its own in all but name."""
    inner = msgspec.structs.replace(line, payload=dict_of(line.payload.get("item")))
    handle = _ITEM_HANDLERS.get(inner.name)
    if handle is not None:
        yield from handle(thread, inner)
    else:
        yield _loss(inner)


def _ended(thread: Thread, line: Line) -> Iterator[Event]:
    """How a call ended: told with its result, unless the model never saw the call or has its result already."""
    call, outcome = line.call, from_event(line.payload)
    if call not in thread.called:
        yield from _made_by_script(thread, line, outcome)
    elif call in thread.answered and outcome.exit_code is not None:
        step = thread.at(line, f"{call}/exit").step("process", {"corr": call, **outcome.meta()})
        yield from thread.responses.beside(step, of=f"{call}/result")
    else:
        thread.outcomes[call] = outcome
        yield Loss(kind="duplicate_event", detail=f"{line.name} {line.at}")


def _made_by_script(thread: Thread, line: Line, outcome: Outcome) -> Iterator[Event]:
    """A call that the model's script made, or a person: the model sees only what the script returns."""
    call = line.call
    thread.called[call] = line.text("tool") or _ENDS[line.name]
    thread.answered.add(call)
    within = None
    if thread.script is not None:
        within = Ref(thread.script)
    origin = None
    if line.payload.get("source") == "user_shell":
        origin = "user"
    names = known(tool=thread.called[call], corr=call, origin=origin)
    step = thread.at(line, call).step("tool_call", names, {"content.args": _args(line.payload)})
    yield from thread.responses.beside(msgspec.structs.replace(step, within=within), of=thread.script)
    said = (line.payload.get(name) for name in ("aggregated_output", "stdout", "result"))
    output, raw = take_out(next((value for value in said if value is not None), None))
    values = {**known(**{"content.output": output}), **outcome.values()}
    step = thread.at(line, f"{call}/result").step("tool_result", {**names, **outcome.meta()}, values, raw)
    yield from thread.responses.beside(msgspec.structs.replace(step, within=within), of=call)


def _args(payload: dict[str, Json]) -> dict[str, Json]:
    names = ("command", "cwd", "arguments", "query", "path")
    args: dict[str, Json] = {name: payload[name] for name in names if name in payload}
    if isinstance(payload.get("changes"), dict):
        args["paths"] = list(payload["changes"])
    return args


def _sub_agent(thread: Thread, line: Line) -> Iterator[Event]:
    """A sub-agent starts or ends. Its thread names only itself, not the call that started it: so does this step."""
    child = line.text("agent_thread_id") or line.text("new_thread_id")
    if child is None:
        yield Loss(kind="unknown_sub_agent", detail=line.at)
        return
    status, label = line.text("kind") or "started", line.text("agent_path") or line.text("new_agent_nickname")
    meta = known(status=status, model=line.text("model"), child=child)
    values = known(**{"content.label": label})
    if status == "started":
        step = thread.at(line, f"{child}/start").step("subagent_start", {**meta, "corr": line.call}, values)
        yield from thread.responses.beside(step, of=line.call)
    else:
        step = thread.at(line, line.id).step("subagent_end", meta, values)
        ends = (Ref(f"{child}/start"), Ref(session=child))
        yield from thread.responses.beside(msgspec.structs.replace(step, after=ends))


def _plan(thread: Thread, line: Line) -> Iterator[Event]:
    step = thread.at(line, line.id).step("assistant", {"phase": "plan"}, known(**{"content.text": line.text("text")}))
    yield from thread.responses.produced(thread.at(line, line.id), step)


def _compaction(thread: Thread, line: Line) -> Iterator[Event]:
    """The announcement of a compaction: usually of the one just read."""
    thread.announced += 1
    if thread.announced > thread.windows:
        yield from thread.compact(line, None)
    else:
        yield Loss(kind="duplicate_event", detail=f"compaction {line.at}")


def _turn_started(thread: Thread, line: Line) -> Iterator[Event]:
    thread.turn(line.payload)
    yield Loss(kind="task_started", detail=line.at)


def _rolled_back(thread: Thread, line: Line) -> Iterator[Event]:
    turns = max(int_of(line.payload.get("num_turns")) or 0, 0)
    yield from thread.responses.told(thread.at(line, line.at).step("discard", {"turns": turns}))
    thread.roll_back(turns)


def _warning(thread: Thread, line: Line) -> Iterator[Event]:
    meta = known(subtype=line.name, reason=line.text("reason"))
    step = thread.at(line, line.at).step("warning", meta, known(**{"content.error": line.text("message")}))
    yield from thread.responses.beside(step)


def _approval(thread: Thread, line: Line) -> Iterator[Event]:
    meta = known(subtype=line.name, corr=line.text("call_id"), status=line.text("status"))
    yield from thread.responses.beside(thread.at(line, line.at).step("permission", meta, {"content.args": _rest(line)}))


def _note(thread: Thread, line: Line) -> Iterator[Event]:
    step = thread.at(line, line.at).step("system", {"subtype": line.name}, {"content.raw": _rest(line)})
    yield from thread.responses.beside(step)


def _rest(line: Line) -> dict[str, Json]:
    return {name: value for name, value in line.payload.items() if name not in ("type", "call_id")}


def _token_count(thread: Thread, line: Line) -> Iterator[Event]:
    info = dict_of(line.payload.get("info"))
    if info:
        yield from priced(thread, line, info.get("last_token_usage"), info.get("total_token_usage"))
    else:
        yield Loss(kind="rate_limits", detail=line.at)


def usage_record(thread: Thread, line: Line) -> Iterator[Event]:
    """The usage of one response, which newer versions write at once."""
    response = text_of(line.payload.get("response_id"))
    yield from priced(thread, line, line.payload.get("usage"), line.payload.get("thread_token_usage"), response)


def priced(thread: Thread, line: Line, usage: Json, total: Json, response: str | None = None) -> Iterator[Event]:
    """Usage of the last model call, unless it is known."""
    meta = known(response=response)
    steps = list(thread.responses.priced(thread.at(line, line.at), dict_of(usage), dict_of(total), meta))
    yield from steps
    if not steps:
        yield Loss(kind="duplicate_event", detail=f"usage {line.at}")


_Handler = Callable[[Thread, Line], Iterator[Event]]
_ITEM_HANDLERS: dict[str, _Handler] = {
    **{name: _ended for name in _ENDS if not name.islower()},
    "SubAgentActivity": _sub_agent,
    "ContextCompaction": _compaction,
    "Plan": _plan,
}
_EVENT_HANDLERS: dict[str, _Handler] = {
    **{name: _ended for name in _ENDS if name.islower()},
    **dict.fromkeys(_WARNINGS, _warning),
    **dict.fromkeys(_APPROVALS, _approval),
    **dict.fromkeys(_NOTES, _note),
    "item_completed": _completed,
    "sub_agent_activity": _sub_agent,
    "collab_agent_spawn_end": _sub_agent,
    "context_compacted": _compaction,
    "task_started": _turn_started,
    "turn_started": _turn_started,
    "thread_rolled_back": _rolled_back,
    "token_count": _token_count,
}


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

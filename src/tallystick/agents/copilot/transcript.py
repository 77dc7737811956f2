"""GitHub Copilot: the event logs of its command line, and the chats of its VS Code extension, which `chat` reads.

Owns telling the two kinds of file apart, and the events of the log: which are recorded and which are counted, what is said
(prompts, instructions, answers, and the model calls behind them), where a prompt comes from, and usage. A sub-agent of the
command line has its events in the same log and becomes a child session; a hook run is one step. Must not know how one log
becomes several sessions (`session`), nor what tools and hooks do (`tools`).

Stated normalisation (docs/format.md 13.3): arguments that are JSON text become the object they hold; `tokens.input`
leaves out what the cache gave. Native ids are unique in a session only: call ids are the model provider's.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.copilot import tools
from tallystick.agents.copilot.chat import ChatLog
from tallystick.agents.copilot.session import AGENT, Conversation, CopilotEvent, parse
from tallystick.agents.copilot.tools import requested
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import BadJson, dict_of, events_of_object, int_of, loads, text_of
from tallystick.agents.kit.spelling import words
from tallystick.agents.recognition import IN_ITS_PLACE, count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.request import ASKS, RequestKind, opened_kind
from tallystick.model.step import Event, Json, Loss, Ref

_MEANWHILE = ("steering", "queued")
"""How a prompt is delivered that was typed while Copilot worked."""


def user(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """A prompt, or what is in its place."""
    origin = _origin(line)
    if origin is None:
        talk.prompted(line)
    text, sent = line.data.get("content"), line.data.get("transformedContent")
    attached, raw = take_out(line.data.get("attachments") or None)
    values = {"content.text": text, "content.sent": None if sent == text else sent, "content.attachments": attached}
    meta = {"origin": origin, ASKS: _asks(line, origin), "run": line.text("interactionId")}
    step = talk.at(line, line.id).step("user", meta, values, raw)
    yield talk.trail.along(msgspec.structs.replace(step, opens_request=opened_kind(step.type, step.meta) is not None))


def _asks(line: CopilotEvent, origin: str | None) -> RequestKind | None:
    """The kind of the request, if it is not a prompt that was typed while Copilot was idle."""
    if origin == "command":
        return RequestKind.COMMAND
    if origin is None and line.text("delivery") in _MEANWHILE:
        return RequestKind.QUEUED
    return None


def _origin(line: CopilotEvent) -> str | None:
    source = line.text("source") or "user"
    if line.agent is not None:
        return "parent"
    if line.data.get("isAutopilotContinuation") is True:
        return "injected"
    if source == "user":
        return None
    return {"agent": "notification", "command": "command"}.get(source.partition("-")[0], "injected")


def system(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """Instructions for the model."""
    meta = {"role": line.text("role") or "system"}
    yield talk.trail.along(talk.at(line, line.id).step("system", meta, {"content.text": line.data.get("content")}))


def notification(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """News that the model is given while it works."""
    meta = {"origin": "notification", "subtype": text_of(dict_of(line.data.get("kind")).get("type"))}
    yield talk.trail.along(talk.at(line, line.id).step("user", meta, {"content.text": line.data.get("content")}))


def usage(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """What a model call used: told before the message it gave."""
    usage = dict_of(line.data.get("usage")) or line.data
    response = text_of(usage.get("apiCallId")) or line.id
    if talk.responses.get(response):
        yield Loss(kind="duplicate_event", detail=f"{line.type} {line.id}")
        return
    duration = usage.get("duration")
    meta = {
        "model": text_of(usage.get("model")),
        "tokens": _tokens(usage),
        "stop_reason": text_of(usage.get("finishReason")),
        "duration_ms": int(duration) if isinstance(duration, int | float) and 0 <= duration < 1e12 else None,
        "initiator": text_of(usage.get("initiator")),
    }
    yield from talk.model_call(line, response, meta)


def _tokens(usage: dict[str, Json]) -> dict[str, int]:
    """Copilot counts cached tokens as input, too; here `input` is what was neither read from nor written to a cache."""
    names = {
        "input": "inputTokens",
        "output": "outputTokens",
        "cache_read": "cacheReadTokens",
        "cache_write": "cacheWriteTokens",
        "reasoning": "reasoningTokens",
    }
    counts = {name: int_of(usage.get(member)) for name, member in names.items()}
    found = {name: count for name, count in counts.items() if count is not None and count >= 0}
    cached = found.get("cache_read", 0) + found.get("cache_write", 0)
    if found.get("input", 0) >= cached > 0:
        found["input"] -= cached
    return found


def assistant(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """An answer of the model. Its usage was reported before, by newer versions."""
    message = line.text("messageId") or line.id
    response = line.text("apiCallId") or message
    output = int_of(line.data.get("outputTokens"))
    if response not in talk.responses and (output is not None or line.text("model")):
        tokens = None
        if output is not None:
            tokens = {"output": output}
        yield from talk.model_call(line, response, {"model": line.text("model"), "tokens": tokens})
        talk.responses[response] = False
    if line.data.get("reasoningOpaque") or line.data.get("encryptedContent"):
        yield Loss(kind="encrypted_content", detail=line.id)
    yield from _blocks(talk, line, message)
    yield from requested(talk, line)


def _blocks(talk: Conversation, line: CopilotEvent, message: str) -> Iterator[Event]:
    thought = line.text("reasoningText")
    if thought and talk.thoughts.pop(talk.session(line), None) != thought:
        values = {"content.thinking": thought}
        yield talk.trail.along(talk.at(line, f"{message}/0").step("assistant", {}, values))
    if line.data.get("content"):
        values = {"content.text": line.data["content"]}
        step = talk.at(line, f"{message}/1").step("assistant", {"phase": line.text("phase")}, values)
        yield talk.trail.along(step)


def reasoning(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """Thinking that newer versions tell before the answer it belongs to."""
    thought = line.text("content")
    if thought is not None:
        talk.thoughts[talk.session(line)] = thought
    sid, values = line.text("reasoningId") or line.id, {"content.thinking": thought}
    yield talk.trail.along(talk.at(line, sid).step("assistant", {}, values))


_BOOKKEEPING = frozenset(words("copilot", "bookkeeping"))
"""Beginnings, ends and progress that other events imply."""

_SETTINGS = words("copilot", "settings")
_WARNINGS = words("copilot", "warnings")
_NOTES = words("copilot", "notes")
_QUESTIONS = words("copilot", "questions")


def event(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """The events that a line of the log is."""
    handle = _HANDLERS.get(line.type)
    if handle is None:
        if line.type in _BOOKKEEPING:
            yield Loss(kind=line.type, detail=line.id)
        else:
            yield unknown(line.type, line.id)
        return
    if handle is not _start:
        yield from talk.open(line)
    said = handle is tools.hook_started
    for found in handle(talk, line):
        said = True
        yield found
    if not said:  # an answer without words, whose usage was reported before
        yield Loss(kind="empty_event", detail=f"{line.type} {line.id}")


def _start(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    about = {
        "agent_version": line.text("copilotVersion"),
        "originator": line.text("producer"),
        "model": line.text("selectedModel"),
    }
    context = dict_of(line.data.get("context"))
    names = {
        "personal.cwd": "cwd",
        "content.branch": "branch",
        "content.commit": "headCommit",
        "content.repository": "repository",
    }
    where = {name: text_of(context.get(member)) for name, member in names.items()}
    talk.describe(line.text("sessionId"), known(about), known(where))
    opened: list[Event] = list(talk.open(msgspec.structs.replace(line, ts=line.text("startTime") or line.ts)))
    yield from opened or [Loss(kind="repeated_header", detail=line.id)]


def _shutdown(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    kind = line.text("shutdownType")
    meta = {
        "status": "failed" if kind == "error" else "completed",
        "reason": kind,
        "duration_ms": int_of(line.data.get("totalApiDurationMs")),
    }
    values = {
        "content.changes": line.data.get("codeChanges"),
        "content.error": line.text("errorReason"),
        "content.usage": line.data.get("modelMetrics"),
    }
    yield talk.trail.beside(talk.at(line, line.id).step("session_end", meta, values))


def _setting(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    model = line.text("newModel") or line.text("selectedModel")
    meta = {"subtype": line.type, "model": model, "effort": line.text("reasoningEffort")}
    context = dict_of(line.data.get("context"))
    settings = {name: value for name, value in line.data.items() if name != "context"}
    values = {"content.settings": settings, "personal.cwd": text_of(context.get("cwd"))}
    yield talk.trail.beside(talk.at(line, line.id).step("config_change", meta, values))


def _warning(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    code = line.text("errorType") or line.text("warningType") or line.text("reason")
    meta = {"subtype": line.type, "code": code, "status_code": int_of(line.data.get("statusCode"))}
    error = line.text("message") or line.text("errorMessage")
    yield talk.trail.beside(talk.at(line, line.id).step("warning", meta, {"content.error": error}))


def _note(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    values = {"content.title": line.text("title"), "content.raw": line.data}
    yield talk.trail.beside(talk.at(line, line.id).step("system", {"subtype": line.type}, values))


def _compacted(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    numbers = {
        "tokens_before": int_of(line.data.get("preCompactionTokens")),
        "tokens_after": int_of(line.data.get("postCompactionTokens")),
    }
    if line.data.get("success") is False:
        values = {"content.error": line.text("error")}
        yield talk.trail.beside(talk.at(line, line.id).step("warning", {"subtype": line.type, **numbers}, values))
        return
    step = talk.trail.along(
        talk.at(line, line.id).step("compaction", numbers, {"content.text": line.text("summaryContent")})
    )
    yield step
    yield talk.trail.along(talk.at(line, f"{line.id}/end").step("session_end", {"reason": "compaction"}))
    yield from talk.continued(line, Ref(step.source_id, session=step.session))


def _cut(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """Copilot drops old messages; which ones, the log does not say."""
    removed = int_of(line.data.get("messagesRemovedDuringTruncation"))
    yield talk.trail.beside(talk.at(line, line.id).step("discard", {"subtype": line.type, "messages": removed}))
    talk.hide(line)


def _rewound(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    meta = {"subtype": line.type, "events": int_of(line.data.get("eventsRemoved"))}
    yield talk.trail.beside(talk.at(line, line.id).step("discard", meta))
    talk.rewind(line.text("upToEventId"))


def _agent_started(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    """Stands in the session that made the call; the sub-agent's own session was opened just before."""
    call = line.text("toolCallId")
    meta = {"corr": call, "agent_role": line.text("agentName"), "model": line.text("model"), "child": line.agent}
    values = {"content.label": line.text("agentDisplayName"), "content.goal": line.text("agentDescription")}
    step = talk.at(line, line.id).step("subagent_start", meta, values)
    step = msgspec.structs.replace(step, session=talk.parent_session(call))
    talk.starts[line.agent] = line.id
    yield talk.trail.beside(step, of=call)


def _agent_ended(talk: Conversation, line: CopilotEvent) -> Iterator[Event]:
    call, child = line.text("toolCallId"), talk.session(line)
    status = line.type.removeprefix("subagent.")
    yield talk.trail.beside(talk.at(line, f"{line.id}/end").step("session_end", {"status": status}))
    meta = {"corr": call, "status": status, "duration_ms": int_of(line.data.get("durationMs")), "child": line.agent}
    step = talk.at(line, line.id).step("subagent_end", meta, {"content.error": line.text("error")})
    ends = (Ref(talk.starts.get(line.agent, call)), Ref(session=child))
    step = msgspec.structs.replace(step, session=talk.parent_session(call), after=ends)
    yield talk.trail.beside(step)


_HANDLERS: dict[str, Callable[[Conversation, CopilotEvent], Iterator[Event]]] = {
    "session.start": _start,
    "session.shutdown": _shutdown,
    "session.compaction_complete": _compacted,
    "session.truncation": _cut,
    "session.context_cleared": _cut,
    "session.snapshot_rewind": _rewound,
    "session.usage_record": usage,
    "assistant.usage": usage,
    "assistant.message": assistant,
    "assistant.reasoning": reasoning,
    "user.message": user,
    "system.message": system,
    "system.notification": notification,
    "tool.execution_start": tools.started,
    "tool.user_requested": tools.started,
    "tool.execution_complete": tools.ended,
    "skill.invoked": tools.skill,
    "hook.start": tools.hook_started,
    "hook.end": tools.hook_ended,
    "permission.requested": tools.permission_asked,
    "permission.completed": tools.permission_given,
    "subagent.started": _agent_started,
    "subagent.completed": _agent_ended,
    "subagent.failed": _agent_ended,
    **dict.fromkeys(_SETTINGS, _setting),
    **dict.fromkeys(_WARNINGS, _warning),
    **dict.fromkeys(_NOTES, _note),
    **dict.fromkeys(_QUESTIONS, tools.question),
}


NAME = AGENT
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_MEMBERS = ("id", "timestamp", "parentId", "data.sessionId", "data.copilotVersion")


def locate() -> tuple[str, ...]:
    """Where Copilot keeps its logs and chats, below the home folder."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is one of Copilot's, by its first line."""
    first = first_object(head)
    if text_of(first.get("type")) == "session.start":
        data = dict_of(first.get("data"))
        is_ours = "copilotVersion" in data or data.get("producer") == "copilot-agent"
        in_place = 0
        if "/.copilot/" in path:
            in_place = IN_ITS_PLACE
        if is_ours or in_place:
            return count_members(first, "data", also=_MEMBERS) + in_place
        return 0
    if first.get("kind") != 0:
        return 0
    in_place = 0
    if "/chatSessions/" in path:
        in_place = IN_ITS_PLACE
    return count_members(first, "kind", "v.requests", also=("v.version", "v.sessionId")) + in_place


def reader(file: SourceFile) -> Reader:
    """A reader for one log or chat."""
    name = posixpath.basename(file.path)
    stem = name.rpartition(".")[0] or name
    return _Either(posixpath.basename(posixpath.dirname(file.path)) if stem == "events" else stem)


class _Either:
    """Reads a file as what its first line says it is."""

    def __init__(self, name: str) -> None:
        self._name = name or NAME
        self._reader: Reader | None = None

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        if self._reader is None:
            is_chat = _begins_chat(data)
            if is_chat:
                self._reader = ChatLog(self._name, AGENT)
            else:
                self._reader = _EventLog(self._name)
        yield from self._reader.feed(data, offset)

    def finish(self) -> Iterator[Event]:
        """What was held back."""
        if self._reader is not None:
            yield from self._reader.finish()


def _begins_chat(line: bytes) -> bool:
    try:
        first = dict_of(loads(line).value)
    except BadJson:
        return False
    return first.get("kind") == 0 and isinstance(first.get("v"), dict)


class _EventLog:
    """Reads the log of one session of the command line. Holds back the hook runs that have not ended."""

    def __init__(self, name: str) -> None:
        self._talk = Conversation(name)

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        otherwise = Loss(kind="unknown_line", detail=f"byte {offset}: not an object")
        return events_of_object(data, offset, lambda value: event(self._talk, parse(value, offset)), otherwise)

    def finish(self) -> Iterator[Event]:
        """What was held back."""
        yield from tools.unfinished(self._talk)

"""A span processor for the OpenTelemetry SDK: spans of the GenAI conventions become steps as they begin and end.

    provider = TracerProvider()
    provider.add_span_processor(SpanRecorder(recorder, agent="my-agent"))

Owns what `chat`, `execute_tool` and `invoke_agent` spans say (attribute names of semantic-conventions 1.41 and the older
ones that are still written). Must not know how steps are recorded. The SDK is not imported: it calls what it was handed.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from tallystick.errors import TallystickError
from tallystick.model.step import Json, Source, Step
from tallystick.recording.jsonify import plain
from tallystick.recording.messages import parsed, tool_call, tool_result, words
from tallystick.recording.model_inputs import Said
from tallystick.recording.record import as_said
from tallystick.recording.recorder import Recorder
from tallystick.recording.session import Session, Subagent, Task
from tallystick.recording.spans import ModelCall, ToolCall

_log = logging.getLogger("tallystick")
_MODEL = frozenset(("chat", "generate_content", "text_completion", "embeddings"))
_SETTINGS = "gen_ai.request."


class _Open(msgspec.Struct):
    """A span that has begun."""

    parent: int | None
    session: Session | None
    call: ToolCall | None = None
    subagent: Subagent | None = None
    is_agent: bool = False
    adopted: bool = False
    """Whether its thread was reported by us what encloses it, for want of a copied context."""


class SpanRecorder:
    """Records the GenAI spans of a program; others are passed over. No fault of it reaches the program.

    A conversation (`gen_ai.conversation.id`; else the trace) is a session, an agent invoked within an agent a session of a
    sub-agent. A tool call is recorded when its span begins, its result when it ends, a model call when it ends.

    Attributes:
        skipped: how many GenAI spans were passed over, by operation.
    """

    def __init__(self, recorder: Recorder, *, agent: str = "otel", session: Session | None = None) -> None:
        """Record with `recorder`.

        Args:
            agent: the agent whose sessions these are. session: record all in this one.
        """
        self.skipped: Counter[str] = Counter()
        self._recorder = recorder
        self._agent = agent
        self._session = session
        self._open: dict[int, _Open] = {}
        self._sessions: dict[str, Session] = {}
        self._lock = threading.RLock()

    # What the SDK calls ---------------------------------------------------------------------------------------------

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """A span began."""
        parent = None
        if span.parent is not None:
            parent = span.parent.span_id
        found = _Open(parent, None)
        with self._lock:
            self._open[span.context.span_id] = found
        try:
            self._begin(span, found)
        except Exception as error:
            _fault(found.session, span, error)

    def on_end(self, span: Any) -> None:
        """A span ended."""
        with self._lock:
            found = self._open.pop(span.context.span_id, None) or _Open(None, None)
        try:
            self._end(span, found)
        except Exception as error:
            _fault(found.session, span, error)

    def _on_ending(self, span: Any) -> None:
        """The SDK calls this before it ends a span, and looks for it."""

    def shutdown(self) -> None:
        """Seal what was recorded."""
        self.force_flush()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Seal what was recorded; whether that worked."""
        try:
            self._recorder.seal()
        except TallystickError as error:
            _log.error("spans could not be sealed: %s", error)
            return False
        return True

    # Spans ----------------------------------------------------------------------------------------------------------

    def _begin(self, span: Any, found: _Open) -> None:
        at = _attributes(span)
        operation = at.get("gen_ai.operation.name")
        if operation == "invoke_agent":
            self._begin_agent(span, found, at)
        elif operation == "execute_tool" and isinstance(at.get("gen_ai.tool.name"), str):
            self._begin_tool(span, found, at)

    def _end(self, span: Any, found: _Open) -> None:
        at = _attributes(span)
        operation = at.get("gen_ai.operation.name")
        if operation in _MODEL:
            self._model_call(span, found, at)
        elif operation == "execute_tool":
            self._end_tool(span, found, at)
        elif operation == "invoke_agent":
            self._end_agent(span, found, at)
        elif isinstance(operation, str):
            self.skipped[operation] += 1

    def _ancestors(self, found: _Open) -> Iterator[_Open]:
        parent = found.parent
        while parent is not None and (above := self._open.get(parent)) is not None:
            yield above
            parent = above.parent

    def _session_of(self, span: Any, found: _Open, at: Mapping[str, Json]) -> Session:
        """The session of a span: the one it belongs to by its ancestors, else its conversation's, else its trace's."""
        if found.session is None:
            found.session = next((above.session for above in self._ancestors(found) if above.session is not None), None)
        if found.session is None:
            said = at.get("gen_ai.conversation.id")
            found.session = self._named(said if isinstance(said, str) else f"{span.context.trace_id:032x}", at)
        return found.session

    def _named(self, name: str, at: Mapping[str, Json]) -> Session:
        if self._session is not None:
            return self._session
        with self._lock:
            session = self._sessions.pop(name, None)
            if session is None:
                role = at.get("gen_ai.agent.name")
                meta: dict[str, Any] = {}
                if isinstance(role, str):
                    meta = {"agent_role": role}
                session = self._recorder.session(self._agent, name, source=Source.OTEL, **meta)
            self._sessions[name] = session  # the last one used is the last one forgotten
            while len(self._sessions) > 256:
                del self._sessions[next(iter(self._sessions))]
            return session

    # Agents ---------------------------------------------------------------------------------------------------------

    def _begin_agent(self, span: Any, found: _Open, at: Mapping[str, Json]) -> None:
        found.is_agent = True
        if any(above.is_agent for above in self._ancestors(found)):
            session, role = self._session_of(span, found, at), at.get("gen_ai.agent.name")
            name = at.get("gen_ai.agent.id") or f"{span.context.span_id:016x}"
            self._adopt(session, found)
            goal = next((said.values.get("content.text") for said in _input(at) if said.type == "user"), None)
            task = Task(role if isinstance(role, str) else "agent", goal, f"{session.source_session}/{name}")
            found.subagent = Subagent(session, task, {})
            found.session = found.subagent.__enter__()
        else:
            self._session_of(span, found, at)

    def _end_agent(self, span: Any, found: _Open, at: Mapping[str, Json]) -> None:
        if found.subagent is not None:
            found.subagent.output = _texts(_messages(at, "gen_ai.output.messages"))
            found.subagent.end(_failure(span))
            self._release(found.subagent.session, found)
        else:
            self._session_of(span, found, at).conversation.try_give(_input(at))

    # Tools ----------------------------------------------------------------------------------------------------------

    def _begin_tool(self, span: Any, found: _Open, at: Mapping[str, Json]) -> None:
        session = self._session_of(span, found, at)
        tool, args = str(at.get("gen_ai.tool.name")), parsed(at.get("gen_ai.tool.call.arguments"))
        said = at.get("gen_ai.tool.call.id")
        name = said if isinstance(said, str) and said else session.conversation.claim(tool, args)
        if args is None and name is not None:
            args = session.conversation.asked(name)
        self._adopt(session, found)
        found.call = ToolCall(session, tool, args, name or f"{span.context.span_id:016x}").quietly()
        found.call.begin()

    def _end_tool(self, span: Any, found: _Open, at: Mapping[str, Json]) -> None:
        if found.call is None:
            self._begin_tool(span, found, at)
        call, session = found.call, self._session_of(span, found, at)
        if call is None:
            return
        args = parsed(at.get("gen_ai.tool.call.arguments"))
        if args is not None and args != call.args:  # told only now: a revision of the call
            values = as_said({"content.args": args})
            meta = {"corr": call.call_id, "tool": call.tool}
            step = Step(session=session.source_session, type="tool_call", source=Source.OTEL, values=values, meta=meta)
            session.try_put(replace(step, source_id=call.call_id))
        call.output = parsed(at.get("gen_ai.tool.call.result"))
        call.began = time.monotonic() - _seconds(span)
        call.end(_failure(span))
        self._release(session, found)

    def _adopt(self, session: Session, found: _Open) -> None:
        """Say what encloses a span, where its thread does not know: spans name their parent themselves."""
        place = session.place()
        if place.within is None:
            calls = (above.call for above in self._ancestors(found) if above.call is not None)
            n = next((call.n for call in calls if call.session is session), None)
            if n is not None:
                session.move(replace(place, within=n))
                found.adopted = True

    def _release(self, session: Session, found: _Open) -> None:
        if found.adopted:
            session.move(replace(session.place(), within=None))

    # Models ---------------------------------------------------------------------------------------------------------

    def _model_call(self, span: Any, found: _Open, at: Mapping[str, Json]) -> None:
        session, given = self._session_of(span, found, at), _input(at)
        self._adopt(session, found)
        settings = {
            name.removeprefix(_SETTINGS): value
            for name, value in at.items()
            if name.startswith(_SETTINGS) and name != "gen_ai.request.model"
        }
        model = at.get("gen_ai.response.model") or at.get("gen_ai.request.model")
        call = ModelCall(session, model if isinstance(model, str) else None, given or None, settings).quietly()
        call.is_hidden = not given
        call.begin()
        call.began = time.monotonic() - _seconds(span)
        name = at.get("gen_ai.response.id")
        if isinstance(name, str) and name:
            call.id = name
        else:
            call.id = f"{span.context.span_id:016x}"
        call.tokens, call.meta = _tokens(at), _model_meta(at)
        reasons = at.get("gen_ai.response.finish_reasons")
        if isinstance(reasons, list) and reasons:
            call.stop_reason = reasons[0]
        else:
            call.stop_reason = None
        for said in _said(_messages(at, "gen_ai.output.messages")):
            call.adds(said)
        call.end(_failure(span))
        self._release(session, found)


def _fault(session: Session | None, span: Any, error: Exception) -> None:
    if session is not None:
        session.note_loss("span", error)
    else:
        _log.error("span %s was not recorded: %s", getattr(span, "name", "?"), error)


class _SpanError(Exception):
    """What a span says went wrong."""

    def __str__(self) -> str:
        return str(self.args[0])


def _failure(span: Any) -> BaseException | None:
    """What went wrong in a span, by its status and its `error.type`."""
    at = span.attributes or {}
    kind = at.get("error.type")
    if not kind and getattr(span.status.status_code, "name", None) != "ERROR":
        return None
    return _SpanError(span.status.description or kind or "failed")


def _attributes(span: Any) -> dict[str, Json]:
    found = plain(dict(span.attributes or {}))
    if isinstance(found, dict):
        return found
    return {}


def _seconds(span: Any) -> float:
    return max((span.end_time or 0) - (span.start_time or 0), 0) / 1e9


def _model_meta(at: Mapping[str, Json]) -> dict[str, Json]:
    operation = at.get("gen_ai.operation.name")
    provider = at.get("gen_ai.provider.name") or at.get("gen_ai.system")
    return {"provider": provider, "operation": operation if operation != "chat" else None}


def _tokens(at: Mapping[str, Json]) -> dict[str, int]:
    """Token counts in which nothing is counted twice: by the conventions, cached tokens are input, too."""

    def count(*names: str) -> int | None:
        values = (at.get(f"gen_ai.usage.{name}") for name in names)
        return next((value for value in values if type(value) is int and value >= 0), None)

    given = count("input_tokens", "prompt_tokens")
    read = count("cache_read.input_tokens", "cache_read_input_tokens")
    written = count("cache_creation.input_tokens", "cache_creation_input_tokens")
    counts = {
        "input": None if given is None else max(given - (read or 0) - (written or 0), 0),
        "output": count("output_tokens", "completion_tokens"),
        "cache_read": read,
        "cache_write": written,
        "reasoning": count("reasoning.output_tokens"),
    }
    return {name: value for name, value in counts.items() if value is not None}


# Messages ------------------------------------------------------------------------------------------------------------


def _messages(at: Mapping[str, Json], name: str) -> list[dict[str, Json]]:
    """The messages in an attribute, which is JSON text in spans."""
    value = at.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = [{"role": "user", "parts": [{"type": "text", "content": value}]}]
    if isinstance(value, list):
        return [message for message in value if isinstance(message, dict)]
    return []


def _input(at: Mapping[str, Json]) -> list[Said]:
    """What a model was given: tools, instructions, messages."""
    said: list[Said] = []
    tools = parsed(at.get("gen_ai.tool.definitions"))
    if isinstance(tools, list) and tools:
        said.append(Said(type="system", values={"content.tools": tools}, meta={"subtype": "tools"}))
    instructions = _messages(at, "gen_ai.system_instructions")
    if instructions:
        said += _said([{"role": "system", "parts": instructions}])
    return [*said, *_said(_messages(at, "gen_ai.input.messages"))]


def _said(messages: Sequence[dict[str, Json]]) -> Iterator[Said]:
    for message in messages:
        role = message.get("role")
        parts = [part for part in message.get("parts") or () if isinstance(part, dict)]
        if role in ("assistant", "model"):
            for part in parts:
                yield from _from_model(part)
            continue
        for part in parts:
            if part.get("type") == "tool_call_response":
                yield tool_result(part.get("id"), parsed(part.get("response", part.get("result"))))
        if shown := _words(parts):
            yield Said(type="system" if role in ("system", "developer") else "user", values=shown)


def _words(parts: Sequence[dict[str, Json]]) -> dict[str, Json]:
    others = [part for part in parts if part.get("type") != "tool_call_response"]
    return words([{"type": "text", "text": part["content"]} if part.get("type") == "text" else part for part in others])


def _from_model(part: dict[str, Json]) -> Iterator[Said]:
    kind, content = part.get("type"), part.get("content")
    if kind == "tool_call":
        yield tool_call(part.get("id"), part.get("name"), parsed(part.get("arguments")))
    elif kind in ("text", "reasoning") and isinstance(content, str):
        yield Said(type="assistant", values={"content.text" if kind == "text" else "content.thinking": content})
    else:
        yield Said(type="assistant", values={"content.block": part})


def _texts(messages: Sequence[dict[str, Json]]) -> str | None:
    texts = [str(said.values["content.text"]) for said in _said(messages) if "content.text" in said.values]
    return "\n".join(texts) or None

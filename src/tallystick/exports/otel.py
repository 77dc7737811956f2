"""Spans of OpenTelemetry, by the GenAI semantic conventions, as lines of OTLP in JSON.

Owns which span or event a step becomes and what its attributes say:

    session                     the root span, `invoke_agent` if no human asked anything in it
    request                     `invoke_agent`, below the root
    model call                  `chat`, below its request
    tool call and its result    `execute_tool`, below its request or what encloses it
    sub-agent, start to end     `invoke_agent`, likewise; its own session is another trace, with a link back
    any other step              an event of the span it belongs to

Names: _genai_names.py; JSON: _otlp_json.py. A span has the first digits of its step's hash as id.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from tallystick.exports import _genai_names as names
from tallystick.exports._facts import facts
from tallystick.exports._latest import latest
from tallystick.exports._otlp_json import Note, Span, microseconds, request_lines
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.seal.tagged import as_sealed

NAME = "otel"
LOSSES: tuple[str, ...] = (
    "which step follows from which, beyond order and enclosing spans",
    "what each model call was given, beyond the prompt of its request",
    "notes of the system, images and other bytes, personal values, and what no convention has a name for",
    "earlier states of revised steps, sightings and recoveries",
    "relations with files: --format prov-json has them",
    "hashes but the first digits: the export cannot be verified, the journal can",
)

_NO_EVENTS = frozenset(("session_start", "user", "assistant", "system", "sighting", "recovery", "tool_result"))
_EVENT_MEMBERS = facts().otel.event_members
_SUBAGENT_IDS = ("child", "delegation", "agent_id", "subagent_name", "corr")


def write(steps: Iterable[Recorded], *, session: str, with_content: bool) -> Iterator[bytes]:
    """Export requests of OTLP, one a line; the root span comes last."""
    trace = _Trace(session, with_content=with_content)
    spans = trace.spans(step if with_content else replace(step, values={}) for step in latest(map(as_sealed, steps)))
    first = next(spans, None)
    if first is None:
        return
    yield from request_lines(
        trace.sid,
        _chained(first, spans),
        resource={"service.name": trace.agent, "tallystick.session": trace.sid},
        scope={"name": "tallystick"},
        schema_url=names.SCHEMA_URL,
    )


def _chained(first: Span, rest: Iterator[Span]) -> Iterator[Span]:
    yield first
    yield from rest


class _Trace:
    """Makes spans of steps. A span is given out when nothing can be added to it any more."""

    def __init__(self, session: str, *, with_content: bool) -> None:
        self.sid = ""
        self.agent = "?"
        self._session = session
        self._with_content = with_content
        self._root: Span | None = None
        self._requests: dict[int, Span] = {}
        self._hashes: dict[int, str] = {}
        """The span of each step that may enclose others, by its number."""
        self._calls: dict[str, Span] = {}
        self._subagents: dict[tuple[str, str], Span] = {}
        self._chat: Span | None = None
        self._said: list[dict[str, Json]] = []
        self._at_us = 0
        self._last: Recorded | None = None

    def spans(self, steps: Iterable[Recorded]) -> Iterator[Span]:
        """The spans of a session, the root last: it lasts as long as all others."""
        for span in self._below(steps):
            assert self._root is not None, "nothing is below nothing"
            self._root.began_us = min(self._root.began_us, span.began_us)
            self._root.ended_us = max(self._root.ended_us, span.ended_us)
            yield span
        if self._root is not None and self._last is not None:
            self._root.attributes |= {"tallystick.entries": self._last.n + 1, "tallystick.last_hash": self._last.hash}
            if not self._requests:
                self._root.attributes[names.OPERATION] = names.INVOKE_AGENT
            yield self._root

    def _below(self, steps: Iterable[Recorded]) -> Iterator[Span]:
        for step in steps:
            self._see(step)
            if "corroborates" in step.meta:  # the same event again, as another source saw it
                continue
            if step.type not in ("assistant", "tool_call"):
                yield from self._end_chat()
            yield from self._take(step)
        yield from self._end_chat()
        yield from self._calls.values()
        yield from {id(span): span for span in self._subagents.values()}.values()
        yield from self._requests.values()

    def _see(self, step: Recorded) -> None:
        """Take note of a step's time, and of the session that it begins."""
        at_us = microseconds(step.meta.get("ts"))
        if at_us is None and (self._last is None or step.meta.get("source") not in ("transcript", "import")):
            at_us = microseconds(step.meta.get("recorded"))
        if at_us is not None:
            self._at_us = at_us
        self._last = step
        if self._root is None:
            self._begin(step)
        for span in (self._root, self._requests.get(_number(step, "request"))):
            if span is not None:
                span.ended_us = max(span.ended_us, self._at_us)

    def _begin(self, step: Recorded) -> None:
        self.sid = step.session
        self.agent = _text(step, "agent") or "?"
        if step.parents:
            parent_session, mark, parent = step.parents[0].partition("#")
        else:
            parent_session, mark, parent = "", "", ""
        self._root = Span(
            span=step.hash,
            parent=None,
            name=f"session {self.agent}",
            began_us=self._at_us,
            ended_us=self._at_us,
            attributes={
                **self._common(step),
                names.AGENT_VERSION: _text(step, "agent_version"),
                "tallystick.session.kind": _text(step, "kind"),
            },
            link=(parent_session, parent) if mark else None,
        )

    def _take(self, step: Recorded) -> Iterator[Span]:
        match step.type:
            case "user" if "origin" not in step.meta:
                self._open_request(step)
            case "model_call":
                self._open_chat(step)
            case "assistant":
                self._say(step)
            case "tool_call":
                yield from self._open_call(step)
            case "tool_result":
                yield from self._end_call(step)
            case "subagent_start":
                self._open_subagent(step)
            case "subagent_end":
                yield from self._end_subagent(step)
            case kind if kind not in _NO_EVENTS:
                self._note(step)

    # Spans ----------------------------------------------------------------------------------------------------------

    def _span(self, step: Recorded, operation: str, named: str | None, more: dict[str, Json]) -> Span:
        parent = self._hashes.get(_number(step, "parent")) or self._above(step).span
        name = operation
        if named:
            name = f"{operation} {named}"
        attributes = {names.OPERATION: operation, **self._common(step), **more}
        return Span(
            span=step.hash, parent=parent, name=name, began_us=self._at_us, ended_us=self._at_us, attributes=attributes
        )

    def _above(self, step: Recorded) -> Span:
        """The request that a step belongs to, else the session."""
        assert self._root is not None, "a step was seen"
        return self._requests.get(_number(step, "request")) or self._root

    def _common(self, step: Recorded) -> dict[str, Json]:
        return {
            names.CONVERSATION: self._session,
            names.AGENT_NAME: self.agent,
            "tallystick.step": f"{step.session}:{step.n}",
        }

    def _open_request(self, step: Recorded) -> None:
        assert self._root is not None, "a step was seen"
        span = self._span(step, names.INVOKE_AGENT, self.agent, {})
        span.parent = self._root.span
        text = step.text("content.text")
        if self._with_content and text is not None:
            span.attributes[names.INPUT_MESSAGES] = _messages("user", [{"type": "text", "content": text}])
        self._requests[step.n] = span

    def _open_chat(self, step: Recorded) -> None:
        model = _text(step, "model")
        span = self._span(step, _text(step, "operation") or names.CHAT, model, _model_attributes(step, model))
        span.began_us -= _duration_us(step)  # a model call is reported when it has been answered
        span.is_call_out = True
        _fail(span, step, with_content=self._with_content)
        self._chat, self._said = span, []

    def _say(self, step: Recorded) -> None:
        """What the model said belongs to its call, and, as far as is known, is the answer to the request."""
        parts = [
            {"type": kind, "content": text}
            for name, kind in (("content.thinking", "reasoning"), ("content.text", "text"))
            if (text := step.text(name)) is not None
        ]
        if self._chat is not None:
            self._chat.ended_us = max(self._chat.ended_us, self._at_us)
            self._said += parts
        texts = [part for part in parts if part["type"] == "text"]
        if self._with_content and texts and _number(step, "request") in self._requests:
            self._above(step).attributes[names.OUTPUT_MESSAGES] = _messages("assistant", texts, "stop")

    def _end_chat(self) -> Iterator[Span]:
        span, self._chat = self._chat, None
        if span is not None:
            if self._with_content and self._said:
                reasons = span.attributes.get(names.FINISH_REASONS) or ["unknown"]
                span.attributes[names.OUTPUT_MESSAGES] = _messages("assistant", self._said, reasons[0])
            yield span

    def _open_call(self, step: Recorded) -> Iterator[Span]:
        tool, corr = _text(step, "tool"), _text(step, "corr")
        more: dict[str, Json] = {names.TOOL_NAME: tool, names.TOOL_TYPE: "function", names.TOOL_CALL_ID: corr}
        args = step.values.get("content.args")
        if self._with_content and args is not None:
            more[names.TOOL_ARGUMENTS] = args
        if self._chat is not None:
            self._said.append({"type": "tool_call", "id": corr, "name": tool, "arguments": args})
        span = self._span(step, names.EXECUTE_TOOL, tool, more)
        self._hashes[step.n] = step.hash
        key = corr or step.hash
        if key in self._calls:  # an id that is used again
            yield self._calls[key]
        self._calls[key] = span

    def _end_call(self, step: Recorded) -> Iterator[Span]:
        span = self._calls.pop(_text(step, "corr") or "", None)
        if span is None:
            self._note(step)
            return
        span.ended_us = max(self._at_us, span.began_us + _duration_us(step))
        span.attributes |= {
            "process.exit.code": _number(step, "exit_code", None),
            "tallystick.decision": _text(step, "decision"),
            "tallystick.decided_by": _text(step, "decided_by"),
        }
        output = step.values.get("content.output")
        if self._with_content and output is not None:
            span.attributes[names.TOOL_RESULT] = output
        _fail(span, step, with_content=self._with_content)
        yield span

    def _open_subagent(self, step: Recorded) -> None:
        role = _text(step, "subagent_name") or _text(step, "agent_role") or _text(step, "agent_type")
        child = _text(step, "child") or _text(step, "agent_id") or _text(step, "delegation")
        span = self._span(step, names.INVOKE_AGENT, role, {names.AGENT_NAME: role, names.AGENT_ID: child})
        self._hashes[step.n] = step.hash
        self._subagents |= dict.fromkeys(_subagent_keys(step), span)

    def _end_subagent(self, step: Recorded) -> Iterator[Span]:
        span = next((found for key in _subagent_keys(step) if (found := self._subagents.get(key))), None)
        if span is None:
            self._note(step)
            return
        self._subagents = {key: other for key, other in self._subagents.items() if other is not span}
        span.ended_us = self._at_us
        _fail(span, step, with_content=self._with_content)
        yield span

    def _note(self, step: Recorded) -> None:
        members = {f"tallystick.{name}": step.member(name) for name in _EVENT_MEMBERS}
        place = {"tallystick.step": f"{step.session}:{step.n}"}
        if "tokens" in step.meta:
            counted = _model_attributes(step, _text(step, "model"))
        else:
            counted = {}
        note = Note(self._at_us, f"tallystick.{step.type}", {**place, **members, **counted})
        self._above(step).notes.append(note)


def _model_attributes(step: Recorded, model: str | None) -> dict[str, Json]:
    tokens = step.meta.get("tokens")
    if isinstance(tokens, dict):
        counts = {key: value for key, value in tokens.items() if type(value) is int}
    else:
        counts = {}
    # Of ours, `input` is what was not in a cache; the conventions count all of it.
    given = [counts[key] for key in ("input", "cache_read", "cache_write") if key in counts]
    reason = _text(step, "stop_reason")
    return {
        names.PROVIDER: names.provider_of(_text(step, "provider"), model),
        names.REQUEST_MODEL: _text(step, "requested_model") or model,
        names.RESPONSE_MODEL: _text(step, "served_model"),
        names.RESPONSE_ID: _text(step, "response"),
        names.FINISH_REASONS: [reason] if reason else None,
        names.INPUT_TOKENS: sum(given) if given else None,
        names.OUTPUT_TOKENS: counts.get("output"),
        names.CACHE_READ_TOKENS: counts.get("cache_read"),
        names.CACHE_CREATION_TOKENS: counts.get("cache_write"),
        names.REASONING_TOKENS: counts.get("reasoning"),
    }


def _fail(span: Span, step: Recorded, *, with_content: bool) -> None:
    """Mark a span as failed if its step says so."""
    if step.meta.get("success") is not False:
        return
    if _text(step, "decision") not in ("deny", "block"):
        kind = _text(step, "failure") or _text(step, "error")
    else:
        kind = "denied"
    span.attributes[names.ERROR_TYPE] = kind or names.OTHER
    if with_content:
        span.error = step.text("content.error") or ""
    else:
        span.error = ""


def _subagent_keys(step: Recorded) -> list[tuple[str, str]]:
    return [(name, value) for name in _SUBAGENT_IDS if (value := _text(step, name)) is not None]


def _messages(role: str, parts: list[dict[str, Json]], finish_reason: str | None = None) -> str:
    message: dict[str, Json] = {"role": role, "parts": parts}
    if finish_reason is not None:
        message["finish_reason"] = finish_reason
    return json.dumps([message], ensure_ascii=False)


def _text(step: Recorded, name: str) -> str | None:
    value = step.member(name)
    if isinstance(value, str) and value:
        return value
    return None


def _duration_us(step: Recorded) -> int:
    """How long it took, as far as that can be: at most ten years."""
    return int(min(max(_number(step, "duration_ms"), 0), 315_360_000_000)) * 1000


def _number(step: Recorded, name: str, otherwise: Json = -1) -> Json:
    value = step.member(name)
    if type(value) is int:
        return value
    return otherwise

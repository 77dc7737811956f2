"""Lines of JSON that any program can write, as events: `tally ingest` (docs/ingest.md, `ingest.schema.json`).

Owns the schema of a line and its translation: plain members for what scripts have to say, full field names for all else that
a step can hold. A member that is not known is an error: a script's typing mistake must not vanish.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import BadJson, loads
from tallystick.errors import FormatError
from tallystick.model.moments import epoch_time
from tallystick.model.step import Event, Input, Json, Opening, Ref, SessionKind, Source, Step

AGENT = "script"
"""The agent of lines that name none."""

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Type = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{0,47}$", examples=["user", "tool_call", "tool_result"])]
AgentName = Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Values = Annotated[dict[Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{0,39}$")], Any], Meta(max_length=30)]
Count = Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of this or another session: by its id; without one, the last step that session has."""

    id: Annotated[Name | None, Meta(description="The step's id; absent: the last step of the session.")] = None
    session: Annotated[Name | None, Meta(description="Absent: the session of the line.")] = None
    agent: Annotated[AgentName | None, Meta(description="Absent: the agent of the line.")] = None

    def ref(self) -> Ref:
        """The step as a reference."""
        return Ref(self.id, self.session, self.agent)


class Tokens(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Token counts of a model call. `input` is what no cache gave; `reasoning` is a part of `output`."""

    input: Count | None = None
    output: Count | None = None
    cache_read: Count | None = None
    cache_write: Count | None = None
    reasoning: Count | None = None


def _is(text: str) -> Meta:
    return Meta(description=text)


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One event of a session, on a line of its own."""

    type: Annotated[Type, _is("What happened. `session_start` begins a session, which any step does too.")]
    session: Annotated[Name | None, _is("The session, a name that you choose. Absent: what --session says.")] = None
    agent: Annotated[AgentName | None, _is("Who acted. Absent: what --agent says, else `script`.")] = None
    id: Annotated[Name | None, _is("The event's id, unique in its session: the same event twice is recorded once.")] = (
        None
    )
    ts: Annotated[str | float | None, _is("When it happened: RFC 3339, or seconds since 1970.")] = None

    text: Annotated[str | None, _is("What was said.")] = None
    thinking: Annotated[str | None, _is("What the model thought.")] = None
    tool: Annotated[str | None, _is("The tool's name.")] = None
    call: Annotated[Name | None, _is("The id that a tool call and its result have in common.")] = None
    args: Annotated[Any, _is("The arguments of a call.")] = None
    output: Annotated[Any, _is("What a call gave.")] = None
    error: Annotated[Any, _is("What went wrong.")] = None
    success: Annotated[bool | None, _is("Whether it went well.")] = None
    exit_code: int | None = None
    duration_ms: Count | None = None
    model: str | None = None
    tokens: Tokens | None = None
    path: Annotated[str | None, _is("The file that it is about.")] = None
    reason: str | None = None
    label: str | None = None
    goal: str | None = None
    cwd: Annotated[str | None, _is("The working directory.")] = None
    user: Annotated[str | None, _is("The person.")] = None
    host: Annotated[str | None, _is("The machine.")] = None

    meta: Annotated[
        dict[str, Any], _is("Further members: types, times, numbers, ids, enums. Shown at every level.")
    ] = {}
    content: Annotated[Values, _is("Further values `content.NAME`: text, paths, labels.")] = {}
    personal: Annotated[Values, _is("Further values `personal.NAME`: people and places.")] = {}
    local: Annotated[Values, _is("Values `local.NAME`, which never leave the store.")] = {}
    raw: Annotated[dict[str, str], _is("Bytes in base64, by full field name: `content.part_0`.")] = {}

    after: Annotated[list[Name | Place], _is("The steps it follows from, the main one first.")] = []
    within: Annotated[Name | Place | None, _is("The step that encloses it.")] = None
    input: Annotated[Input | None, _is("For a model call: what the model was given.")] = None
    request: Annotated[
        bool | None, _is("A prompt by a person, which opens a request. Absent: a `user` is, without meta.origin.")
    ] = None
    source: Annotated[Source, _is("By which way the event is known.")] = Source.SDK

    kind: Annotated[SessionKind | None, _is("For session_start.")] = None
    parent: Annotated[Place | None, _is("For session_start: the step that the session hangs on.")] = None


class Defaults(msgspec.Struct, frozen=True):
    """What lines need not say."""

    agent: str = AGENT
    session: str | None = None
    within_run: str | None = None
    """The session of `tally run` in which this happens; sessions belong to it."""


_CONTENT = ("text", "thinking", "args", "output", "error", "path", "reason", "label", "goal")
_PERSONAL = ("cwd", "user", "host")
_META = ("tool", "success", "exit_code", "duration_ms", "model")
_RUN = "run"


def parse(line: bytes) -> Line:
    """The event on a line.

    Raises: FormatError: it is not JSON, or no line of the schema; the message says where.
    """
    try:
        return msgspec.convert(loads(line).value, Line)
    except BadJson as error:
        raise FormatError(f"no JSON: {error}") from error
    except (msgspec.ValidationError, RecursionError) as error:
        raise FormatError(str(error), hint="`tally ingest --schema` prints the schema") from error


def events_of(line: Line, defaults: Defaults) -> Iterator[tuple[str, Event]]:
    """The events that a line says, with their agent: the beginning of a session, a step, or both.

    Raises: FormatError: the line names no session and none exists by default; or bytes that are no base64.
    """
    session = line.session or defaults.session
    agent = line.agent or defaults.agent
    if session is None:
        raise FormatError("the line names no session", hint='add "session": "…" or give --session')
    yield agent, _opening(line, agent, session, defaults)
    if line.type != "session_start":
        yield agent, _step(line, session)


def _opening(line: Line, agent: str, session: str, defaults: Defaults) -> Opening:
    """The session of a line. Only a `session_start` says more of it than that it is."""
    says = line.type == "session_start"
    parent = None
    if line.parent is not None and says:
        parent = line.parent.ref()
    if parent is None and defaults.within_run is not None and agent != _RUN:
        parent = Ref(session=defaults.within_run, agent=_RUN)
    if says and line.kind is not None:
        kind = line.kind
    elif parent is not None:
        kind = SessionKind.CHILD
    else:
        kind = SessionKind.ROOT
    return Opening(
        session=session,
        agent=agent,
        kind=kind,
        parent=parent,
        source=line.source,
        ts=_time(line.ts),
        meta=_meta(line) if says else {},
        values=_values(line) if says else {},
    )


def _step(line: Line, session: str) -> Step:
    is_prompt = line.type == "user" and "origin" not in line.meta
    return Step(
        session=session,
        type=line.type,
        source=line.source,
        source_id=_id(line),
        ts=_time(line.ts),
        meta=_meta(line),
        values=_values(line),
        raw=_raw(line.raw),
        after=_after(line),
        within=_ref(line.within) if line.within is not None else None,
        input=line.input if line.input is not None or line.type != "model_call" else Input.HIDDEN,
        opens_request=is_prompt if line.request is None else line.request,
    )


def _id(line: Line) -> str | None:
    """The event's id; of a call and its result, what docs/format.md 13.2 makes of the call's."""
    if line.id is not None or line.call is None:
        return line.id
    return {"tool_call": line.call, "tool_result": f"{line.call}/result"}.get(line.type)


def _after(line: Line) -> tuple[Ref, ...]:
    if not line.after and line.type == "tool_result" and line.call is not None:
        return (Ref(line.call),)
    return tuple(map(_ref, line.after))


def _ref(place: str | Place) -> Ref:
    if isinstance(place, str):
        return Ref(place)
    return place.ref()


def _time(ts: str | float | None) -> str | None:
    if ts is None or isinstance(ts, str):
        return ts
    return epoch_time(ts)


def _meta(line: Line) -> dict[str, Json]:
    named = {name: getattr(line, name) for name in _META}
    if line.tokens is not None:
        tokens = msgspec.to_builtins(line.tokens)
    else:
        tokens = {}
    counts = known(tokens)
    found = {**line.meta, **named, "corr": line.call, "tokens": counts or None}
    return known(found)


def _values(line: Line) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for group, names, more in (("content", _CONTENT, line.content), ("personal", _PERSONAL, line.personal)):
        found |= {f"{group}.{name}": value for name, value in more.items()}
        found |= {f"{group}.{name}": value for name in names if (value := getattr(line, name)) is not None}
    return found | {f"local.{name}": value for name, value in line.local.items()}


def _raw(values: Mapping[str, str]) -> dict[str, bytes]:
    try:
        return {name: base64.b64decode(text, validate=True) for name, text in values.items()}
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"`raw` holds what is no base64: {error}") from error


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a line."""
    found = msgspec.json.schema(Line)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A line for `tally ingest`", **found}

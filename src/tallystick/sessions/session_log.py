"""The values of the headless agent's session log: sessions, events, and what is in them.

Owns every member by its own name, and the way between such a value and its record of JSON: what is empty is left out, what
is unknown or of another kind is kept in `extra`. Must not know files, nor the order of events (session_reading.py).
Source: specs/headless_agent.md 1.2, 1.3, 2.2 and 4.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from tallystick.model.step import Json
from tallystick.seal.tagged import json_members
from tallystick.sessions.session_spelling import Spelled, as_read, refuse_misspelt_members

NO_TIME = "0001-01-01T00:00:00Z"
"""A time that is not there, as the agent writes it."""
_DEEPEST_LINEAGE = 50
_TEXTS = frozenset(("type", "corr_id", "agent", "agent_role", "goal", "step", "content", "tool", "error"))


class TaintNode(msgspec.Struct, metaclass=Spelled, frozen=True, kw_only=True, omit_defaults=True):
    """A block of content that came from outside, and the blocks that it was made of."""

    block_id: str = ""
    trust: str = ""
    source: str = ""
    event_seq: int = 0
    """The `seq` of the `security_block` that told of it."""
    depth: int = 0
    """How far below the root of its tree; the root: 0."""
    tainted_by: tuple[TaintNode, ...] = ()
    extra: Mapping[str, Json] = {}


class EventMeta(
    msgspec.Struct, metaclass=Spelled, frozen=True, kw_only=True, omit_defaults=True, rename={"pass_": "pass"}
):
    """What the type of an event has of its own. What is empty, zero or false is not written."""

    phase: str = ""
    result: str = ""
    commitment: str = ""
    confidence: str = ""
    triggers: tuple[str, ...] = ()
    escalate: bool = False
    verdict: str = ""
    correction: str = ""
    guidance: str = ""
    """Deprecated name of `correction`; the agent writes this one."""
    human: bool = False
    human_required: bool = False
    """Deprecated name of `human`; the agent writes this one."""
    supervisor_type: str = ""
    block_id: str = ""
    related_blocks: tuple[str, ...] = ()
    taint_lineage: tuple[TaintNode, ...] = ()
    trust: str = ""
    block_type: str = ""
    source: str = ""
    entropy: float = 0.0
    check: str = ""
    pass_: bool = False
    flags: tuple[str, ...] = ()
    suspicious: bool = False
    action: str = ""
    reason: str = ""
    check_path: str = ""
    skip_reason: str = ""
    xml: str = ""
    tier: int = 0
    """Deprecated: `check` as a number, 1 to 3."""
    tiers: str = ""
    """Deprecated name of `check_path`."""
    tier_path: str = ""
    """Deprecated name of `check_path`."""
    ckpt_type: str = ""
    ckpt_id: str = ""
    subagent_name: str = ""
    subagent_role: str = ""
    subagent_model: str = ""
    subagent_task: str = ""
    subagent_inputs: Mapping[str, Json] = {}
    subagent_output: str = ""
    model: str = ""
    latency_ms: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    prompt: str = ""
    response: str = ""
    thinking: str = ""
    extra: Mapping[str, Json] = {}

    def renewed(self) -> EventMeta:
        """The same with the members of today filled from their deprecated names, where only those are there."""
        checks = dict(enumerate(("static", "triage", "supervisor"), start=1))
        return msgspec.structs.replace(
            self,
            correction=self.correction or self.guidance,
            human=self.human or self.human_required,
            check=self.check or checks.get(self.tier, ""),
            check_path=self.check_path or self.tier_path or self.tiers,
        )


class Event(msgspec.Struct, metaclass=Spelled, frozen=True, kw_only=True, omit_defaults=True):
    """One event. `seq` and, where it is empty, `timestamp` are filled in by the session that it is added to."""

    type: str
    seq: int = 0
    timestamp: str = ""
    """RFC 3339, with as many digits as its writer has."""
    corr_id: str = ""
    parent: int = 0
    """The `seq` of the event that encloses it."""
    agent: str = ""
    agent_role: str = ""
    goal: str = ""
    step: str = ""
    content: str = ""
    tool: str = ""
    args: Mapping[str, Json] = {}
    success: bool | None = None
    """None: in progress, or not said. False is written."""
    error: str = ""
    duration_ms: int = 0
    meta: EventMeta | None = None
    extra: Mapping[str, Json] = {}


class Message(msgspec.Struct, metaclass=Spelled, frozen=True, kw_only=True):
    """A message of a conversation: kept for programs that use it, in no file of today."""

    role: str
    content: str = ""
    goal: str = ""
    agent: str = ""
    timestamp: str = ""


class ToolCall(msgspec.Struct, metaclass=Spelled, frozen=True, kw_only=True):
    """A tool call as a whole: kept for programs that use it, in no file of today."""

    id: str
    name: str
    args: Mapping[str, Json] = {}
    result: Json = None
    error: str = ""
    duration: int = 0
    """Nanoseconds."""
    goal: str = ""
    timestamp: str = ""


class Log(msgspec.Struct, metaclass=Spelled, frozen=True, kw_only=True):
    """A session unchanged in a store."""

    id: str = ""
    workflow_name: str = ""
    inputs: Mapping[str, Json] = {}
    state: Mapping[str, Json] = {}
    outputs: Mapping[str, Json] = {}
    status: str = ""
    result: str = ""
    error: str = ""
    events: tuple[Event, ...] = ()
    created_at: str = ""
    updated_at: str = ""


class JSONLRecord(msgspec.Struct, metaclass=Spelled, frozen=True, kw_only=True, rename={"record_type": "_type"}):
    """One line of a file: a header, an event or a footer, each with the members that it has."""

    record_type: str
    id: str = ""
    workflow_name: str = ""
    inputs: Mapping[str, Json] = {}
    created_at: str = ""
    event: Event | None = None
    status: str = ""
    result: str = ""
    error: str = ""
    outputs: Mapping[str, Json] = {}
    state: Mapping[str, Json] = {}
    updated_at: str = ""


# To records ----------------------------------------------------------------------------------------------------------


def event_members(event: Event, *, foreign: Callable[[Any], Json] | None = None) -> dict[str, Json]:
    """An event as JSON, its members in the order of the agent's writer.

    Args:
        foreign: makes JSON of what a program put into `args` and is none.

    Raises:
        TypeError: there is such a thing, and no `foreign`. RecursionError: something holds itself.
    """
    members = msgspec.to_builtins(event, enc_hook=foreign, str_keys=True)
    ordered: dict[str, Json] = {"seq": 0, "type": "", "timestamp": NO_TIME, **members}
    meta = ordered.get("meta")
    if isinstance(meta, dict):
        meta = ordered["meta"] = _flat({key: value for key, value in meta.items() if value})
        if "taint_lineage" in meta:
            meta["taint_lineage"] = _flat_nodes(meta["taint_lineage"])
    return _flat(ordered)


def safe_members(event: Event, *, foreign: Callable[[Any], Json] | None = None) -> dict[str, Json]:
    """An event as JSON whatever a program put into it: numbers that JSON cannot hold are texts.

    Args:
        foreign: makes JSON of things that are none; default: the name of their class.
    """
    try:
        members = json_members(event_members(event, foreign=foreign or named))
    except (TypeError, ValueError, RecursionError):  # a key that is not text, a list that holds itself
        bare = msgspec.structs.replace(event, args={"unreadable": named(event.args)}, extra={})
        if event.meta is not None:
            bare = msgspec.structs.replace(bare, meta=msgspec.structs.replace(event.meta, subagent_inputs={}, extra={}))
        members = json_members(event_members(bare, foreign=named))
    for name in _TEXTS & members.keys():
        if not isinstance(members[name], str):  # a result as a dict, for example: the agent's readers take text alone
            members[name] = json.dumps(members[name], ensure_ascii=False)
    if not isinstance(members.get("args", {}), dict):
        members["args"] = {"input": members["args"]}
    duration = members.get("duration_ms")
    if isinstance(duration, float):
        members["duration_ms"] = round(duration)
    return members


def named(value: object) -> str:
    """A value by its class alone: more of it may be a secret."""
    return f"<{type(value).__module__}.{type(value).__qualname__}>"


def _flat(members: dict[str, Json]) -> dict[str, Json]:
    """Members with those of `extra` behind them."""
    extra = members.get("extra")
    if not isinstance(extra, dict):  # whatever a program put there
        return members
    del members["extra"]
    return {**members, **{key: value for key, value in extra.items() if key not in members}}


def _flat_nodes(nodes: Json) -> Json:
    if isinstance(nodes, _LISTS):
        return [_flat_node(node) if isinstance(node, dict) else node for node in nodes]
    return nodes


def _flat_node(node: dict[str, Json]) -> dict[str, Json]:
    ordered: dict[str, Json] = {**dict.fromkeys(("block_id", "trust", "source"), ""), **_flat(node)}
    if "tainted_by" in ordered:
        ordered["tainted_by"] = _flat_nodes(ordered["tainted_by"])
    return ordered


def event_record(members: Mapping[str, Json]) -> dict[str, Json]:
    """The line of an event with these members."""
    return {"_type": "event", "created_at": NO_TIME, **members, "updated_at": NO_TIME}


def header_record(log: Log) -> dict[str, Json]:
    """The first line of a session."""
    if log.inputs:
        inputs = {"inputs": _safe(log.inputs)}
    else:
        inputs = {}
    header = {"_type": "header", "id": log.id, "workflow_name": log.workflow_name, **inputs}
    return {**header, "created_at": log.created_at or NO_TIME, "updated_at": NO_TIME}


def footer_record(log: Log) -> dict[str, Json]:
    """How a session stands, or ended: the last such line of a file counts."""
    found: dict[str, Json] = {"status": str(log.status), "result": log.result, "error": log.error}
    found |= {"outputs": _safe(log.outputs), "state": _safe(log.state)}
    known = {key: value for key, value in found.items() if value}
    return {"_type": "footer", "created_at": NO_TIME, **known, "updated_at": log.updated_at or NO_TIME}


def _safe(values: Mapping[str, Json]) -> dict[str, Json]:
    """What a program says of its session, as JSON of any kind."""
    try:
        safe = json_members(msgspec.to_builtins(dict(values), enc_hook=named, str_keys=True))
    except (TypeError, ValueError, RecursionError):
        safe = {"unreadable": named(values)}
    return safe


# From records --------------------------------------------------------------------------------------------------------

_FRAME = frozenset(("_type", "id", "workflow_name", "inputs", "created_at", "status", "outputs", "state", "updated_at"))
_LISTS = (list, tuple)
_KINDS: dict[Any, type | tuple[type, ...]] = {float: (int, float), tuple: _LISTS, Mapping: dict}


def record_from(members: Mapping[str, Json]) -> JSONLRecord | None:
    """A line as a record; None if it is none of the three. Keys count in any case, as for the agent's own reader."""
    folded = {_folded(key): value for key, value in members.items()}
    kind = folded.get("_type")
    if kind == "event":
        event = event_from(members)
        if event is None:
            return None
        return as_read(JSONLRecord, {"record_type": kind, "event": event})
    if kind not in ("header", "footer"):
        return None
    fitting = _frame(JSONLRecord, folded)
    fitting.pop("event", None)
    return as_read(JSONLRecord, fitting)


def _frame(struct: type[msgspec.Struct], members: Mapping[str, Json]) -> dict[str, Any]:
    fitting, _ = _parted(struct, members)
    for name in ("created_at", "updated_at"):
        if is_no_time(fitting.get(name, "")):
            fitting.pop(name, None)
    return fitting


def is_no_time(text: str) -> bool:
    """Whether a time is one of the year 1, in whatever zone."""
    return text.startswith(("0001-01-01T", "0000-12-31T"))


def _folded(key: str) -> str:
    if key.lower() in _FRAME or key.lower() in ("result", "error"):
        return key.lower()
    return key


def event_from(members: Mapping[str, Json]) -> Event | None:
    """The event in a record; None if it has no member of one."""
    fitting, extra = _parted(Event, members)
    extra = {key: value for key, value in extra.items() if key.lower() not in _FRAME}
    if not fitting and not extra:
        return None
    if "meta" in fitting:
        fitting["meta"] = _meta_from(fitting["meta"])
    if is_no_time(fitting.get("timestamp", "")):
        del fitting["timestamp"]
    return as_read(Event, {"type": "", **fitting, "extra": extra})


def refuse_misspelt(members: Mapping[str, Any]) -> None:
    """Refuse what a program gave as an event, in JSON's names, where a name or word is nearly one that is known.

    Raises:
        TypeError: a member is. ValueError: the type is; or a time or a success is not one.
    """
    refuse_misspelt_members(Event, members, _FRAME)
    if isinstance(meta := members.get("meta"), dict):
        refuse_misspelt_members(EventMeta, meta)


def _meta_from(members: Mapping[str, Json]) -> EventMeta:
    fitting, extra = _parted(EventMeta, members)
    if "taint_lineage" in fitting:
        nodes = _nodes_from(fitting["taint_lineage"], _DEEPEST_LINEAGE)
        if nodes is None:
            extra["taint_lineage"] = list(fitting.pop("taint_lineage"))
        else:
            fitting["taint_lineage"] = nodes
    return as_read(EventMeta, {**fitting, "extra": extra})


def _nodes_from(items: Json, deepest: int) -> tuple[TaintNode, ...] | None:
    """Nodes of a taint tree; None if anything in it is no such node."""
    if not deepest:
        return None
    nodes = []
    for item in items:
        if isinstance(item, dict):
            fitting, extra = _parted(TaintNode, item)
        else:
            fitting, extra = {}, {}
        below = _nodes_from(fitting.get("tainted_by", ()), deepest - 1)
        if below is None or not fitting:
            return None
        nodes.append(as_read(TaintNode, {**fitting, "tainted_by": below, "extra": extra}))
    return tuple(nodes)


@cache
def _kinds(struct: type[msgspec.Struct]) -> dict[str, tuple[str, type | tuple[type, ...], bool]]:
    """By the name of a member in JSON: the field, the kind of its value, and whether that is a list of text."""
    hints = get_type_hints(struct)
    found = {}
    for field in msgspec.structs.fields(struct):
        hint = hints[field.name]
        if type(None) in get_args(hint):
            hint = get_args(hint)[0]
        origin = get_origin(hint) or hint
        kind = _KINDS.get(origin, dict if isinstance(origin, type) and issubclass(origin, msgspec.Struct) else origin)
        found[field.encode_name] = (field.name, kind, get_args(hint)[:1] == (str,) and kind is _LISTS)
    found.pop("extra", None)
    return found


def _parted(struct: type[msgspec.Struct], members: Mapping[str, Json]) -> tuple[dict[str, Any], dict[str, Json]]:
    """The members that are fields of a struct and of their kind, by field; and the others. Null says nothing."""
    kinds = _kinds(struct)
    fitting: dict[str, Any] = {}
    extra: dict[str, Json] = {}
    for key, value in members.items():
        field, kind, is_texts = kinds.get(key) or kinds.get(key.lower()) or ("", (), False)
        fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if fits and is_texts:
            fits = all(isinstance(item, str) for item in value)
        if fits and field not in fitting:
            fitting[field] = tuple(value) if kind is _LISTS else value
        elif value is not None or not field:
            extra[key] = value
    return fitting, extra

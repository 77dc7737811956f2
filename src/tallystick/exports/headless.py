"""The headless agent's session log as JSON lines: a header, events, a footer.

Owns which member of an event says what, and their order. A log that was imported comes out with the same events; sessions
of other agents come out as events that its readers accept. Objects are spelled as Go spells them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import msgspec
import orjson

from tallystick.catalog.agents import AGENTS
from tallystick.exports._latest import latest
from tallystick.model.raw import Instead, NumberText
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.seal import go_json as spelling
from tallystick.seal.go_json import sorted_keys
from tallystick.seal.tagged import tag_text

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")


def _text(text: str) -> str:
    if isinstance(text, NumberText) and _NUMBER.match(text):
        return str(text)
    if isinstance(text, Instead):
        text = tag_text(text)
    return spelling.go_text(text)


go_json = partial(spelling.go_json, text=_text)
"""The text of a value. Objects keep their order; a number is written as its source wrote it, where JSON can say it."""


# What orjson spells otherwise: whole floats and exponents.
_OTHERWISE = re.compile(rb"[:,\[]-?[0-9]+(?:\.0[,}\]]|(?:\.[0-9]+)?[eE])")
_ESCAPES = (
    (b"<", rb"\u003c"),
    (b">", rb"\u003e"),
    (b"&", rb"\u0026"),
    ("\u2028".encode(), rb"\u2028"),
    ("\u2029".encode(), rb"\u2029"),
)


def go_line(record: Mapping[str, Json]) -> bytes:
    """The text of an object in UTF-8: the same as `go_json`, many times quicker where nothing in it is special."""
    try:
        text = orjson.dumps(record, option=orjson.OPT_STRICT_INTEGER | orjson.OPT_PASSTHROUGH_SUBCLASS)
    except TypeError:  # half a surrogate pair, an integer beyond 53 bits, a number as text
        text = b""
    if not text or _OTHERWISE.search(text) is not None:
        return go_json(dict(record)).encode("utf-8", "replace")
    for plain, escaped in _ESCAPES:
        if plain in text:
            text = text.replace(plain, escaped)
    return text


_SPELLING = AGENTS["headless"].spelling
_KINDS: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "whole": int,
    "flag": bool,
    "list": list,
    "object": dict,
    "number": (int, float),
}
EVENT_MEMBERS = tuple(name for name in _SPELLING.names["event"] if name != "seq")
"""In the order in which the agent writes them, after `seq`."""
META_KINDS = {name: _KINDS[kind] for name, kind in _SPELLING.names["meta"].items()}
"""Members of an event's `meta`, in the order in which the agent writes them."""
SPOKEN_FIELDS = _SPELLING.names["spoken"]
"""Of those, the ones that hold text: the `content.*` field of each. The others are members of a step's `meta`."""
SUBAGENT_ONLY = frozenset(_SPELLING.words["subagent_only"])
"""Of those, the ones whose field means something else in steps of other types: there they keep their own name."""
LINEAGE_MEMBERS = _SPELLING.words["lineage"]
"""Members of a node of `taint_lineage`, in order."""
NAME = "headless"
LOSSES: tuple[str, ...] = (
    "which step follows from which: order and call ids are there",
    "cache and reasoning tokens, cost, stop reasons, exit codes",
    "what each model call was given, beyond a prompt that the source kept",
    "images and other bytes",
    "personal values, and members of another kind than the agent's",
    "earlier states of revised steps, sightings and recoveries",
    "checkpoints, alerts and gaps that were recorded beside the agent's own events",
    "footers but the last",
)

_NO_TIME = "0001-01-01T00:00:00Z"
_NOT_EVENTS = frozenset(("session_start", "session_end", "session_update", "recovery", "sighting"))
_STATE = ("result", "error", "outputs", "state")
_STATUSES = {"completed": "complete"}


def write(steps: Iterable[Recorded], *, session: str, with_content: bool) -> Iterator[bytes]:
    """The lines of a session log."""
    shown = (step if with_content else msgspec.structs.replace(step, values={}) for step in latest(steps))
    return map(line, _records(shown, _Log(session)))


def own_events(steps: Iterable[Recorded]) -> Iterator[dict[str, Json]]:
    """The events of the agent that a part of its session holds, as records."""
    records = _records(latest(steps), _Log("", is_own=True))
    return (record for record in records if record["_type"] == "event")


def _records(steps: Iterable[Recorded], log: _Log) -> Iterator[dict[str, Json]]:
    for step in steps:
        yield from log.take(step)
    yield from log.finish()


def line(record: Mapping[str, Json]) -> bytes:
    """A record as the agent's writer spells it, with its end of line."""
    return go_line(record) + b"\n"


class _Log:
    """Makes records of steps. Holds a model call back until it is known what the model said: they are one event."""

    def __init__(self, session: str, *, is_own: bool = False) -> None:
        self._session = session
        self._is_own = is_own
        self._header: dict[str, Json] | None = None
        if is_own:
            self._header = {}
        self._seq = 0
        self._held: dict[str, Json] | None = None
        self._held_seq: Json = None
        self._last: Recorded | None = None
        self._end: Recorded | None = None
        self._state: dict[str, Json] = {}

    def take(self, step: Recorded) -> Iterator[dict[str, Json]]:
        """The records that a step completes."""
        if self._header is None:
            self._is_own = step.type == "session_start" and step.meta.get("agent") == NAME
            self._header = _header(step, self._session)
            yield self._header
        self._last = step
        if step.type == "session_end":
            self._end = step
        elif step.type == "recovery":
            self._end = self._end
        else:
            self._end = None
        if step.type in ("session_end", "session_update"):
            self._state |= {key: step.values[f"content.{key}"] for key in _STATE if f"content.{key}" in step.values}
        if step.type == "session_update" and isinstance(step.values.get("content.inputs"), dict):
            self._header = _with_inputs(self._header, step.values["content.inputs"])
            yield self._header
        if step.type in _NOT_EVENTS or (self._is_own and not _is_of_agent(step)):
            return
        if self._held is not None and self._belongs(step):
            self._say(step)
            return
        yield from self._release()
        event = _event(step)
        if step.type == "model_call":
            self._held, self._held_seq = event, step.meta.get("seq")
        else:
            yield self._numbered(event, step.meta.get("seq"))

    def finish(self) -> Iterator[dict[str, Json]]:
        """The event that was held back, and the footer."""
        yield from self._release()
        if self._last is not None:
            yield _footer(self._end, self._last, self._state)

    def _belongs(self, step: Recorded) -> bool:
        """Whether an assistant step says what the held call returned: it has its number, or there is room for it."""
        if step.type != "assistant" or self._held is None:
            return False
        if self._held_seq is not None or "seq" in step.meta:
            return bool(step.meta.get("seq") == self._held_seq)
        held_text, held_thinking = self._held["content"], self._held["meta"].get("thinking")
        is_free = {"content.text": held_text is None, "content.thinking": held_thinking is None}
        return all(free for name, free in is_free.items() if name in step.values)

    def _say(self, step: Recorded) -> None:
        if self._held is not None:
            said = _event(step)
            meta = {**self._held["meta"], **said["meta"]}
            self._held = {**self._held, "content": said["content"] or self._held["content"], "meta": meta}

    def _release(self) -> Iterator[dict[str, Json]]:
        held, self._held = self._held, None
        if held is not None:
            yield self._numbered(held, self._held_seq)

    def _numbered(self, event: dict[str, Json], seq: Json) -> dict[str, Json]:
        """The event as a record. It keeps its number if that is higher than the one before it."""
        if isinstance(seq, int) and seq > self._seq:
            self._seq = seq
        else:
            self._seq = self._seq + 1
        ordered = {
            key: event[key]
            for key in EVENT_MEMBERS
            if event.get(key) not in (None, "", {}, 0) or event.get(key) is False
        }
        if "meta" in ordered:
            ordered["meta"] = {key: event["meta"][key] for key in META_KINDS if key in event["meta"]}
        _add_unknown(ordered, event.get("extra"))
        return {"_type": "event", "created_at": _NO_TIME, "seq": self._seq, **ordered, "updated_at": _NO_TIME}


def _add_unknown(event: dict[str, Json], extra: Json) -> None:
    """Put back the members of an event that we do not know: a later version of the agent may."""
    known = {"seq", *EVENT_MEMBERS}
    found = _object(extra)
    more = {key: value for key, value in _object(found.get("meta")).items() if key not in META_KINDS}
    if more:
        event["meta"] = {**event.get("meta", {}), **sorted_keys(more)}
    event |= {key: value for key, value in sorted_keys(found).items() if key.lower() not in known}


def _object(value: Json) -> dict[str, Json]:
    if isinstance(value, dict):
        return value
    return {}


def _is_of_agent(step: Recorded) -> bool:
    """Whether a step of the agent's own session is one of its events: they have a number, else a place in a file."""
    return "seq" in step.meta or str(step.member("source_id")).startswith("@")


def _header(step: Recorded, session: str) -> dict[str, Json]:
    name, title = session, ""
    if step.type == "session_start":
        title = _title(step)
        if step.meta.get("agent") == NAME:
            own = _string(step.member("source_session"))
            if own is not None:
                name = own
    header: dict[str, Json] = {
        "_type": "header",
        "id": name,
        "workflow_name": title,
        "inputs": {},
        "created_at": _time(step),
        "updated_at": _NO_TIME,
    }
    return _with_inputs(header, step.values.get("content.inputs"))


def _title(step: Recorded) -> str:
    """What a session is about; the agent, where it does not say."""
    title = step.text("content.title")
    if title is not None:
        return title
    return str(step.meta.get("agent", ""))


def _with_inputs(header: Mapping[str, Json], inputs: Json) -> dict[str, Json]:
    """A header that says what the session was given, if it was given anything."""
    found = {**header, "inputs": sorted_keys(_object(inputs))}
    return {key: value for key, value in found.items() if key != "inputs" or value}


def _footer(end: Recorded | None, last: Recorded, state: Mapping[str, Json]) -> dict[str, Json]:
    status = "running"
    if end is not None:
        status = str(end.member("status") or "completed")
    return {
        "_type": "footer",
        "created_at": _NO_TIME,
        "status": _STATUSES.get(status, status),
        **{key: sorted_keys(state[key]) for key in _STATE if state.get(key)},
        "updated_at": _time(last),
    }


def _event(step: Recorded) -> dict[str, Json]:
    """A step's members under the names of an event; those that are empty are dropped later."""
    is_own = "seq" in step.meta
    is_call = step.type in ("tool_call", "tool_result")
    is_guess = is_own and step.meta.get("pairing") == "inferred"
    text = "content.text"
    if step.type == "tool_result":
        text = "content.output"
    args, success = step.values.get("content.args"), step.meta.get("success")
    if isinstance(args, dict):
        args = sorted_keys(args)
    elif args is not None:
        args = {"input": args}
    if "failure" in step.meta:
        success = None
    return {
        "type": _type(step),
        "timestamp": _time(step),
        "corr_id": _string(step.member("corr")) if (is_call or is_own) and not is_guess else None,
        "parent": step.member("parent_seq"),
        "agent": _string(step.member("agent")),
        "agent_role": _string(step.member("agent_role")),
        "goal": step.text("content.goal"),
        "step": step.text("content.step"),
        "content": _as_text(step.values.get(text)),
        "tool": _string(step.member("tool")),
        "args": args,
        "success": success,
        "error": _as_text(step.values.get("content.error")),
        "duration_ms": step.member("duration_ms"),
        "meta": _meta(step),
        "extra": step.values.get("content.extra") if is_own else None,
    }


def _type(step: Recorded) -> str:
    extra = step.values.get("content.extra")
    if step.type == "unknown" and isinstance(extra, dict) and isinstance(extra.get("type"), str):
        return str(extra["type"])
    if step.type == "model_call":
        return "assistant"
    return step.type


def _meta(step: Recorded) -> dict[str, Json]:
    tokens = step.member("tokens")
    counts: Mapping[str, Json] = {}
    if isinstance(tokens, dict):
        counts = tokens
    is_subagent = step.type in ("subagent_start", "subagent_end")
    found: dict[str, Json] = {"tokens_in": counts.get("input"), "tokens_out": counts.get("output")}
    for key, kind in META_KINDS.items():
        if key in found:
            continue
        field = SPOKEN_FIELDS.get(key)
        if key in SUBAGENT_ONLY and not is_subagent:
            field = key
        if field is not None:
            value = step.values.get(f"content.{field}")
        else:
            value = step.member(key)
        is_kind = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        found[key] = _in_own_order(key, value) if is_kind else None
    return {key: value for key, value in found.items() if value}


def _in_own_order(key: str, value: Json) -> Json:
    if key == "taint_lineage":
        return [_lineage(node) for node in value]
    if key == "subagent_inputs":
        return sorted_keys(value)
    return value


def _lineage(node: Json) -> Json:
    """A node of the taint tree with its members in the order of the agent."""
    if not isinstance(node, dict):
        return node
    ordered = {key: node[key] for key in (*LINEAGE_MEMBERS, *sorted(node.keys() - set(LINEAGE_MEMBERS))) if key in node}
    if isinstance(node.get("tainted_by"), list):
        ordered["tainted_by"] = [_lineage(child) for child in node["tainted_by"]]
    return ordered


def _time(step: Recorded) -> str:
    """The time as its source wrote it, else as the agent would: digits of the fraction without zeros at the end."""
    written = step.member("timestamp")
    if isinstance(written, str):
        return written
    whole, _, fraction = str(step.meta.get("ts") or step.meta.get("recorded") or _NO_TIME).rstrip("Z").partition(".")
    fraction = fraction.rstrip("0")
    if fraction:
        return f"{whole}.{fraction}Z"
    return f"{whole}Z"


def _string(value: Json) -> str | None:
    if isinstance(value, str):
        return value
    return None


def _as_text(value: Json) -> str | None:
    """Content as text: an event has no other."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)

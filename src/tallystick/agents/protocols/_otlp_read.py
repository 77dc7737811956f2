"""OTLP's JSON as plain records: one value for a log record or a span, whatever sent it.

Owns the shapes of the OTLP/JSON mapping (opentelemetry-proto, docs/specification.md, "JSON Protobuf Encoding"): nested
resources and scopes, typed values, times in nanoseconds, ids in hex; and the ids as protobuf's own JSON writes them. Must
not know what any attribute means.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.model.moments import epoch_time
from tallystick.model.step import Json

Signal: TypeAlias = Literal["logs", "traces", "metrics"]

_LISTS = {
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "metrics": ("resourceMetrics", "scopeMetrics", "metrics"),
}
_FAILED = frozenset((2, "2", "STATUS_CODE_ERROR"))
_HEX_LENGTHS, _BASE64_LENGTHS = (16, 32), (12, 24)
_MOST_DEPTH = 20


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One log record or span. `at` are its attributes, `resource` those of what sent it; ids are lower-case hex."""

    name: str
    """A span's name; of a log record `event.name`, else its `eventName`."""
    at: Mapping[str, Json]
    resource: Mapping[str, Json]
    scope: str = ""
    ts: str | None = None
    """When it happened; when a span ended."""
    began: str | None = None
    duration_ms: int | None = None
    trace: str = ""
    span: str = ""
    parent: str = ""
    failed: bool = False
    message: str | None = None
    """The status's message of a span that failed."""

    def text(self, *keys: str) -> str | None:
        """The first of these attributes that is text and not empty."""
        return next((value for key in keys if isinstance(value := self.at.get(key), str) and value), None)

    def number(self, *keys: str) -> int | None:
        """The first of these attributes that says a whole number; several agents write numbers as text."""
        return next((found for key in keys if (found := whole(self.at.get(key))) is not None), None)

    def flag(self, *keys: str) -> bool | None:
        """The first of these attributes that says yes or no."""
        said = {True: True, False: False, "true": True, "false": False}
        values = (self.at.get(key) for key in keys)
        return next((said[value] for value in values if isinstance(value, bool | str) and value in said), None)


def whole(value: Json) -> int | None:
    """The whole number that a value says, also as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return int(value)
        return None
    if isinstance(value, str):
        if len(value) <= 15 and value.isascii() and value.removeprefix("-").isdigit():
            return int(value)
        return None
    if isinstance(value, int) and abs(value) < 1 << 53:
        return value
    return None


def records(signal: Signal, payload: Json) -> Iterator[Record | None]:
    """The records in an export request, in its order; None for what is none. Metrics are not looked into."""
    resources, scopes, items = _LISTS[signal]
    for resource in list_of(dict_of(payload).get(resources)):
        about = attributes(dict_of(dict_of(resource).get("resource")).get("attributes"))
        for scope in list_of(dict_of(resource).get(scopes)):
            name = text_of(dict_of(dict_of(scope).get("scope")).get("name")) or ""
            for item in list_of(dict_of(scope).get(items)):
                if isinstance(item, dict):
                    if signal == "traces":
                        yield _span(item, about, name)
                    else:
                        yield _log(item, about, name)
                else:
                    yield None


def _log(item: dict[str, Json], resource: Mapping[str, Json], scope: str) -> Record:
    at = attributes(item.get("attributes"))
    name = text_of(at.get("event.name")) or text_of(item.get("eventName")) or ""
    said = text_of(at.get("event.timestamp"))
    ts = said or _time(item.get("timeUnixNano")) or _time(item.get("observedTimeUnixNano"))
    return Record(
        name=name,
        at=at,
        resource=resource,
        scope=scope,
        ts=ts,
        trace=_id(item.get("traceId")),
        span=_id(item.get("spanId")),
    )


def _span(item: dict[str, Json], resource: Mapping[str, Json], scope: str) -> Record:
    status = dict_of(item.get("status"))
    began, ended = _nanoseconds(item.get("startTimeUnixNano")), _nanoseconds(item.get("endTimeUnixNano"))
    return Record(
        name=text_of(item.get("name")) or "",
        at=attributes(item.get("attributes")),
        resource=resource,
        scope=scope,
        ts=_time(ended),
        began=_time(began),
        duration_ms=(ended - began) // 1_000_000
        if began is not None and ended is not None and ended >= began
        else None,
        trace=_id(item.get("traceId")),
        span=_id(item.get("spanId")),
        parent=_id(item.get("parentSpanId")),
        failed=status.get("code") in _FAILED,
        message=text_of(status.get("message")) or None,
    )


def attributes(pairs: Json) -> dict[str, Json]:
    """Attributes by key; those without a value are left out."""
    found: dict[str, Json] = {}
    for pair in list_of(pairs):
        key = text_of(dict_of(pair).get("key"))
        value = _value(dict_of(pair).get("value"), 0)
        if key is not None and value is not None:
            found[key] = value
    return found


def _value(value: Json, depth: int) -> Json:
    """An AnyValue. Integers come as text, as protobuf's JSON has 64-bit numbers."""
    members = dict_of(value)
    if depth > _MOST_DEPTH or not members:
        return None
    kind, inner = next(iter(members.items()))
    if kind == "arrayValue":
        return [_value(item, depth + 1) for item in list_of(dict_of(inner).get("values"))]
    if kind == "kvlistValue":
        pairs = (dict_of(pair) for pair in list_of(dict_of(inner).get("values")))
        return {str(pair.get("key")): _value(pair.get("value"), depth + 1) for pair in pairs}
    if kind == "intValue":
        number = whole(inner)
        if number is not None:
            return number
    if isinstance(inner, str | bool | int | float):
        return inner
    return None


def _nanoseconds(value: Json) -> int | None:
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 20:
            value = int(value)
        else:
            value = None
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return None


def _time(value: Json) -> str | None:
    nanoseconds = _nanoseconds(value)
    if nanoseconds is None:
        return None
    return epoch_time(nanoseconds / 1e9)


def _id(value: Json) -> str:
    """A trace or span id in hex; protobuf's own JSON has it in base64."""
    text = text_of(value) or ""
    if len(text) in _HEX_LENGTHS:
        if text.isalnum():
            return text.lower()
        return ""
    if len(text) in _BASE64_LENGTHS:
        try:
            return base64.b64decode(text, validate=True).hex()
        except (binascii.Error, ValueError):
            return ""
    return ""

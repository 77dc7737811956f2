"""Spans as OTLP writes them in JSON: one export request a line.

Owns ids, times, values of attributes and the envelope. Ids are in hex and 64-bit numbers are text, as OTLP has them
(opentelemetry-proto, docs/specification.md, "JSON Protobuf Encoding"). Must not know what a span is about.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import msgspec

from tallystick.model.step import Json

SPANS_A_LINE = 256
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INTERNAL, _CLIENT = 1, 3
_ERROR = 2


class Note(msgspec.Struct, frozen=True):
    """An event of a span."""

    at_us: int
    name: str
    attributes: dict[str, Json]


class Span(msgspec.Struct, kw_only=True):
    """A span that may still grow. `span` and `parent` are hashes of steps; `link` names a step of another session."""

    span: str
    parent: str | None
    name: str
    began_us: int
    ended_us: int
    attributes: dict[str, Json]
    is_call_out: bool = False
    notes: list[Note] = msgspec.field(default_factory=list)
    link: tuple[str, str] | None = None
    error: str | None = None
    """What failed, in words; empty: it is not said."""


def trace_id(session: str) -> str:
    """The trace of a session: 32 hex digits that depend on its id alone."""
    return sha256(f"tallystick trace\0{session}".encode()).hexdigest()[:32]


def span_id(step: str) -> str:
    """The span of a step: the first 16 digits of its hash, by which `tally show` finds it."""
    if step[:16].strip("0"):
        return step[:16]
    return f"{'0' * 15}1"


def microseconds(text: Json) -> int | None:
    """Microseconds since 1970 of a time as the record writes it."""
    try:
        if isinstance(text, str):
            return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)
        return None
    except (ValueError, TypeError):
        return None


def request_lines(
    session: str, spans: Iterable[Span], *, resource: Mapping[str, Json], scope: Mapping[str, Json], schema_url: str
) -> Iterator[bytes]:
    """Export requests with the spans of a session, so many spans a line."""
    some: list[dict[str, Json]] = []
    for span in spans:
        some.append(_span(session, span))
        if len(some) == SPANS_A_LINE:
            yield _request(some, resource, scope, schema_url)
            some = []
    if some:
        yield _request(some, resource, scope, schema_url)


def _request(
    spans: list[dict[str, Json]], resource: Mapping[str, Json], scope: Mapping[str, Json], schema_url: str
) -> bytes:
    scoped = {"scope": dict(scope), "spans": spans, "schemaUrl": schema_url}
    request = {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scoped]}]}
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _span(session: str, span: Span) -> dict[str, Json]:
    kind, parent = _INTERNAL, None
    links: list[Json] = []
    status: Json = None
    if span.is_call_out:
        kind = _CLIENT
    if span.parent is not None:
        parent = span_id(span.parent)
    if span.link:
        links = [{"traceId": trace_id(span.link[0]), "spanId": span_id(span.link[1])}]
    if span.error is not None:
        status = {"code": _ERROR, "message": span.error or None}
    written: dict[str, Json] = {
        "traceId": trace_id(session),
        "spanId": span_id(span.span),
        "parentSpanId": parent,
        "name": span.name,
        "kind": kind,
        "startTimeUnixNano": _nanoseconds(span.began_us),
        "endTimeUnixNano": _nanoseconds(max(span.ended_us, span.began_us)),
        "attributes": _attributes(span.attributes),
        "events": [
            {"timeUnixNano": _nanoseconds(note.at_us), "name": note.name, "attributes": _attributes(note.attributes)}
            for note in span.notes
        ],
        "links": links,
        "status": status,
    }
    return {key: _without_none(value) for key, value in written.items() if value not in (None, [])}


def _nanoseconds(at_us: int) -> str:
    """A time as OTLP has it, in 64 bits: it ends in the year 2262 for receivers that count from below zero."""
    return str(min(max(at_us, 0) * 1000, (1 << 63) - 1))


def _without_none(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if item is not None}
    return value


def _attributes(values: Mapping[str, Json]) -> list[dict[str, Json]]:
    return [{"key": key, "value": _any(value)} for key, value in values.items() if value not in (None, "")]


def _any(value: Json) -> dict[str, Json]:
    """A value as OTLP's AnyValue. Objects become JSON text: few receivers take them otherwise."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        if abs(value) < 1 << 63:
            return {"intValue": str(value)}
        return {"stringValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return {"arrayValue": {"values": [{"stringValue": item} for item in value]}}
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return {"stringValue": value}

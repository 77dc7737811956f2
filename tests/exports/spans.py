"""OTLP in JSON, read as a receiver reads it: for the tests of this folder."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from tallystick.model.step import Json

_IDS = ("traceId", "spanId", "parentSpanId")


def decoded(line: bytes) -> TracesData:
    """An export request. OTLP writes ids in hex, where protobuf's own JSON has base64; all else is as protobuf has it."""
    request = json.loads(line)
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for part in (span, *span.get("links", ())):
                    part |= {key: b64encode(bytes.fromhex(part[key])).decode() for key in _IDS if key in part}
    return ParseDict(request, TracesData())


def spans_of(lines: Iterable[bytes]) -> list[Span]:
    """All spans, in order."""
    return [
        span
        for line in lines
        for resource in decoded(line).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def attributes(found: Sequence[KeyValue]) -> dict[str, Json]:
    """Attributes as plain values."""
    return {item.key: _plain(item.value) for item in found}


def _plain(value: AnyValue) -> Json:
    kind = value.WhichOneof("value")
    assert kind is not None
    if kind == "array_value":
        return [_plain(item) for item in value.array_value.values]
    return getattr(value, kind)

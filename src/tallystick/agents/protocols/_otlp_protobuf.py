"""Protobuf export requests as the JSON that OTLP has for them.

Owns the choice of message and its translation, which opentelemetry-proto's own classes do. Loaded only when someone
sends protobuf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tallystick.agents.protocols._otlp_read import Signal
from tallystick.errors import FormatError
from tallystick.model.step import Json

if TYPE_CHECKING:
    from google.protobuf.message import Message

_REQUESTS: dict[Signal, type[Message]] = {
    "logs": ExportLogsServiceRequest,
    "traces": ExportTraceServiceRequest,
    "metrics": ExportMetricsServiceRequest,
}


def decoded(signal: Signal, body: bytes) -> dict[str, Json]:
    """An export request as `events_of` takes it; ids stand there in base64.

    Raises:
        FormatError: the bytes are no such message.
    """
    message = _REQUESTS[signal]()
    try:
        message.ParseFromString(body)
        return dict(MessageToDict(message))
    except (DecodeError, ValueError, RecursionError) as error:
        raise FormatError(f"the body is no protobuf of OTLP {signal}: {error}") from error

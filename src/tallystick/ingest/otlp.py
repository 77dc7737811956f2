"""Telemetry in: an OTLP/HTTP request becomes steps, and gets its answer.

Owns the request's form (paths, encodings, content types, answers: OTLP specification, "OTLP/HTTP"), where its steps go,
and what is not recorded again because the same telemetry has reported it. Must not know sockets, nor what any agent's
telemetry says.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections import Counter
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace

from tallystick.agents.kit.reading import BadJson, loads
from tallystick.agents.protocols.otlp import Memory, Signal, events_of
from tallystick.errors import FormatError, JournalError
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Loss, Opening, Source, Step
from tallystick.recording.corroboration import Corroboration, corroboration, told_by
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter

PATHS: dict[str, Signal] = {"/v1/logs": "logs", "/v1/traces": "traces", "/v1/metrics": "metrics"}
MOST_BYTES = 64 << 20
_JSON, _PROTOBUF = "application/json", "application/x-protobuf"
_KEPT = ("success", "tokens", "duration_ms", "exit_code", "tool", "stop_reason")
"""Members that a later report of the same event need not say again."""


class Answer(msgspec.Struct, frozen=True):
    """The answer to a request: HTTP status, content type, body."""

    status: int
    content_type: str
    body: bytes


class Counts(msgspec.Struct):
    """What a receiver did since it began."""

    requests: int = 0
    refused: int = 0
    openings: int = 0
    steps: Counter[str] = msgspec.field(default_factory=Counter)
    """By what became of them: the words of `Outcome`, and `repeated` for what said no more than before."""
    losses: Counter[str] = msgspec.field(default_factory=Counter)
    """What is not recorded, by `<agent> <kind>`."""
    last_error: str | None = None


class _RefusedError(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Receiver:
    """Takes requests into one store. Safe for several threads, which wait for each other."""

    def __init__(self, session_writer: SessionWriter) -> None:
        self.session_writer = session_writer
        self.counts = Counts()
        self._memory = Memory()
        self._lock = threading.Lock()

    def take(self, path: str, content_type: str, encoding: str, body: bytes) -> Answer:
        """Record what a request tells. Never raises for what a client sent or a disk did.

        Args:
            path: `/v1/logs`, `/v1/traces` or `/v1/metrics`. content_type, encoding: the headers, empty if absent.

        Returns:
            200 when all of it is recorded or counted; 4xx when it never will be; 503 when the store cannot be written now,
            upon which clients try again.
        """
        is_protobuf = content_type.partition(";")[0].strip().lower() == _PROTOBUF
        with self._lock:
            self.counts.requests += 1
            try:
                self._record(path, content_type, encoding, body)
            except _RefusedError as refused:
                return self._refusal(refused.status, str(refused), is_protobuf=is_protobuf)
            except FormatError as error:
                return self._refusal(400, str(error), is_protobuf=is_protobuf)
            except JournalError as error:
                return self._refusal(503, str(error), is_protobuf=is_protobuf)
        if is_protobuf:
            return Answer(200, _PROTOBUF, b"")
        return Answer(200, _JSON, b"{}")

    def _refusal(self, status: int, why: str, *, is_protobuf: bool) -> Answer:
        self.counts.refused += 1
        self.counts.last_error = why
        if not is_protobuf:
            return Answer(status, _JSON, json.dumps({"message": why}).encode())
        return _status(status, why)

    def _record(self, path: str, content_type: str, encoding: str, body: bytes) -> None:
        signal = PATHS.get(path.rstrip("/"))
        if signal is None:
            raise _RefusedError(404, f"unknown path {path[:80]}")
        payload = _payload(signal, content_type, _unpacked(encoding, body))
        for agent, event in events_of(signal, payload, self._memory):
            if isinstance(event, Loss):
                self.counts.losses[f"{agent} {event.kind}"] += 1
            elif isinstance(event, Opening):
                self._open(event)
            else:
                self._add(agent, event)

    # Steps ----------------------------------------------------------------------------------------------------------

    def _open(self, opening: Opening) -> None:
        if self.session_writer.writer.find(opening.agent, opening.session) is None:
            self.session_writer.open(opening)
            self.counts.openings += 1

    def _add(self, agent: str, step: Step) -> None:
        with self.session_writer.lock:
            record = self._record_of(agent, step)
            said = _with_what_was_said(record, step)
            if said is None:
                self.counts.steps["repeated"] += 1
                return
            try:
                self.counts.steps[self.session_writer.add_to(record, said).outcome.value] += 1
            except FormatError as error:
                self.counts.losses[f"{agent} unsealable"] += 1
                self.counts.last_error = str(error)

    def _record_of(self, agent: str, step: Step) -> SessionRecord:
        """The record of the step's session; of several that go on under one id, the one that knows the step, else the last.

        A compaction ends a session and begins its continuation (docs/format.md 7); telemetry knows one id for both.
        """
        session, number = step.session, 0
        found = self.session_writer.writer.find(agent, session)
        last = found
        while found is not None:
            if step.source_id is not None and found.known.find(step.source_id) is not None:
                return found
            number += 1
            last, found = found, self.session_writer.writer.find(agent, f"{session}~{number}")
        return last or self.session_writer.open(Opening(session=session, agent=agent, source=step.source, ts=step.ts))


def _with_what_was_said(record: SessionRecord, step: Step) -> Step | None:
    """The step, with what telemetry told of the same event before and this report does not; None if it says nothing new.

    A tool's call is in the model's answer and in the span of the tool, a request may be sent twice, and no report need
    be complete: without this each would be a revision that takes away what the one before said.
    """
    n = None
    if step.source_id is not None:
        n = record.known.find(step.source_id)
    own = None
    if n is not None:
        own = _own_report(record, n)
    if own is None or own.withheld or "same" in own.meta:
        return step
    before, now = told_by(own, own.values, own.raw), told_by(step, step.values, step.raw)
    if corroboration(before, now) is Corroboration.SAME and (now.success is None or before.success is not None):
        return None
    kept = {key: own.meta[key] for key in _KEPT if key in own.meta}
    return replace(step, meta={**kept, **step.meta}, values={**before.values, **step.values})


def _own_report(record: SessionRecord, n: int) -> Recorded | None:
    reports = (record.read(each) for each in reversed(record.known.reports(n)))
    return next((each for each in reports if each is not None and each.meta.get("source") == Source.OTEL.value), None)


# The form of requests -----------------------------------------------------------------------------------------------------


def _unpacked(encoding: str, body: bytes) -> bytes:
    """A body as it was before it was compressed."""
    kind = encoding.strip().lower()
    if kind in ("", "identity"):
        return body
    if kind not in ("gzip", "deflate"):
        raise _RefusedError(415, f"unknown content encoding {encoding[:40]!r}: send gzip")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | (16 if kind == "gzip" else 0))
    try:
        found = unpacker.decompress(body, MOST_BYTES)
    except zlib.error as error:
        raise _RefusedError(400, f"the body is not {kind}: {error}") from error
    if unpacker.unconsumed_tail:
        raise _RefusedError(413, f"a body may have at most {MOST_BYTES} bytes, unpacked")
    if not unpacker.eof:
        raise _RefusedError(400, f"the body is truncated: its {kind} does not end")
    return found


def _payload(signal: Signal, content_type: str, body: bytes) -> dict[str, Json]:
    kind = content_type.partition(";")[0].strip().lower()
    if kind == _PROTOBUF:
        from tallystick.agents.protocols._otlp_protobuf import decoded

        return decoded(signal, body)
    if kind != _JSON:
        raise _RefusedError(415, f"unknown content type {content_type[:40]!r}: send JSON or protobuf")
    try:
        value = loads(body).value
    except BadJson as error:
        raise FormatError(f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise FormatError("the body is not a JSON object")
    return value


def _status(status: int, why: str) -> Answer:
    """A refusal as protobuf has it: google.rpc.Status with its second field, the message."""
    text = why.encode()[:120]
    return Answer(status, _PROTOBUF, b"\x12" + bytes((len(text),)) + text)


_receivers: WeakKeyDictionary[SessionWriter, Receiver] = WeakKeyDictionary()
_making = threading.Lock()


def receiver_of(session_writer: SessionWriter) -> Receiver:
    """The receiver of a session_writer: what one request tells, another may need."""
    with _making:
        return _receivers.setdefault(session_writer, Receiver(session_writer))

"""OTLP requests into a store: forms, answers, what is recorded once, and who else told it."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tallystick.errors import JournalError
from tallystick.ingest.otlp import MOST_BYTES, Receiver, receiver_of
from tallystick.journal.home import Home
from tallystick.model.recorded import Recorded
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.verify import verify_store

JSON, PROTOBUF = "application/json", "application/x-protobuf"
RECORDINGS = Path(__file__).parents[1] / "recordings" / "otlp"


@pytest.fixture
def session_writer(home: Home) -> Iterator[SessionWriter]:
    with SessionWriter(home) as session_writer:
        yield session_writer


@pytest.fixture
def receiver(session_writer: SessionWriter) -> Receiver:
    return Receiver(session_writer)


def recorded(name: str) -> list[tuple[str, dict[str, Any]]]:
    (path,) = RECORDINGS.glob(f"{name}-[0-9]*.jsonl")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [(line["path"], line["body"]) for line in lines]


def send(receiver: Receiver, path: str, body: dict[str, Any]) -> int:
    return receiver.take(path, JSON, "", json.dumps(body).encode()).status


def play(receiver: Receiver, name: str) -> None:
    for path, body in recorded(name):
        assert send(receiver, path, body) == 200


def steps(receiver: Receiver) -> list[Recorded]:
    """The steps of the only session."""
    (record,) = receiver.session_writer.writer.records()
    found = [record.read(n) for n in range(len(record.known))]
    return [step for step in found if step is not None and step.type != "sighting"]


@pytest.mark.parametrize("name", ["claude-code", "codex", "copilot", "gemini", "qwen"])
def test_what_an_agent_exported_is_recorded_and_verifies(receiver: Receiver, home: Home, name: str) -> None:
    play(receiver, name)
    kinds = [step.type for step in steps(receiver)]
    assert kinds[0] == "session_start"
    assert [kinds.count(kind) for kind in ("user", "model_call", "tool_call", "tool_result")] == [1, 3, 2, 2]
    receiver.session_writer.close()
    assert verify_store(home).exit_code == 0


@pytest.mark.parametrize("name", ["claude-code", "codex", "copilot", "gemini", "qwen"])
def test_a_request_sent_again_adds_nothing(receiver: Receiver, name: str) -> None:
    play(receiver, name)
    before = len(steps(receiver))
    play(receiver, name)
    assert len(steps(receiver)) == before
    assert receiver.counts.refused == 0


@pytest.mark.parametrize("name", ["claude-code", "codex", "copilot", "gemini", "qwen"])
def test_protobuf_tells_what_json_tells(receiver: Receiver, tmp_path: Path, name: str) -> None:
    play(receiver, name)
    with SessionWriter(Home(tmp_path / "second")) as session_writer:
        second = Receiver(session_writer)
        for path, body in recorded(name):
            if path != "/v1/metrics":
                answer = second.take(path, PROTOBUF, "gzip", gzip.compress(as_protobuf(path, body)))
                assert (answer.status, answer.content_type, answer.body) == (200, PROTOBUF, b"")
        assert [said(step) for step in steps(second)] == [said(step) for step in steps(receiver)]


def said(step: Recorded) -> tuple[object, ...]:
    shown = {key: value for key, value in step.meta.items() if key != "recorded"}
    return step.type, shown, step.values


def as_protobuf(path: str, body: dict[str, Any]) -> bytes:
    """The bytes of the same request in protobuf; its JSON mapping wants ids in base64."""
    import base64

    def fix(value: Any) -> Any:
        if isinstance(value, dict):
            ids = {
                key: base64.b64encode(bytes.fromhex(text)).decode() for key, text in value.items() if key.endswith("Id")
            }
            return {key: ids.get(key) or fix(item) for key, item in value.items() if item is not None}
        return [fix(item) for item in value] if isinstance(value, list) else value

    message = ExportLogsServiceRequest() if path == "/v1/logs" else ExportTraceServiceRequest()
    ParseDict(fix(body), message, ignore_unknown_fields=True)
    return message.SerializeToString()


def chat(call_args: Any, **tool: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An answer of a model that asks for a call, and the span of that call, as two requests."""
    asked = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": call_args}]}
    ]
    first = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(asked), "gen_ai.response.id": "r1"}
    second = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "c1", "gen_ai.tool.name": "look", **tool}
    return spans(first), spans(second)


def spans(at: dict[str, Any]) -> dict[str, Any]:
    pairs = {"gen_ai.conversation.id": "talk", **at}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in pairs.items()]
    span = {
        "traceId": "ab" * 16,
        "spanId": "cd" * 8,
        "endTimeUnixNano": "1700000000000000000",
        "attributes": attributes,
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def test_a_telling_that_says_less_takes_nothing_away(receiver: Receiver) -> None:
    answer, tool = chat({"at": 1})
    assert send(receiver, "/v1/traces", answer) == send(receiver, "/v1/traces", tool) == 200
    (call,) = (step for step in steps(receiver) if step.type == "tool_call")
    assert call.values["content.args"] == {"at": 1}
    assert receiver.counts.steps["repeated"] == 1


def test_a_telling_that_says_more_keeps_what_was_said(receiver: Receiver) -> None:
    _, without = chat({})
    _, output = chat({}, **{"gen_ai.tool.call.result": "done"})
    _, arguments = chat({}, **{"gen_ai.tool.call.arguments": '{"at": 2}'})
    for body in (without, output, arguments):
        assert send(receiver, "/v1/traces", body) == 200
    result = [step for step in steps(receiver) if step.type == "tool_result"][-1]
    assert result.values["content.output"] == "done"
    assert result.meta["success"] is True
    assert [step for step in steps(receiver) if step.type == "tool_call"][-1].values["content.args"] == {"at": 2}


def test_what_a_hook_told_before_is_corroborated(receiver: Receiver) -> None:
    session_writer = receiver.session_writer
    prompt = next(body for path, body in recorded("claude-code") if path == "/v1/logs")
    session = "f9ba695e-8987-41fa-8bc7-a563f0598117"
    session_writer.open(Opening(session=session, agent="claude-code", source=Source.HOOK))
    args = {"command": "echo hi > out.txt; cat out.txt", "description": "Run a scripted command"}
    call = "toolu_e3f0905e67dd41e2a92abcd7"
    hooked = Step(
        session=session,
        type="tool_call",
        source=Source.HOOK,
        source_id=call,
        meta={"tool": "Bash", "corr": call},
        values={"content.args": args},
    )
    session_writer.add("claude-code", hooked)
    assert send(receiver, "/v1/logs", prompt) == 200
    assert receiver.counts.steps["corroborated"] == 1
    assert [step.meta["source"] for step in steps(receiver) if step.meta.get("source_id") == call] == ["hook"]


def test_telemetry_goes_to_the_continuation_once_the_session_was_compacted(receiver: Receiver) -> None:
    session_writer = receiver.session_writer
    first, session = recorded("claude-code")[1][1], "f9ba695e-8987-41fa-8bc7-a563f0598117"
    for name in (session, f"{session}~1"):
        session_writer.open(Opening(session=name, agent="claude-code", source=Source.TRANSCRIPT))
    assert send(receiver, "/v1/logs", first) == 200
    lengths = {record.agent_session: len(record.known) for record in map(_Named, session_writer.writer.records())}
    assert lengths[session] == 1
    assert lengths[f"{session}~1"] > 1


class _Named:
    def __init__(self, record: Any) -> None:
        start = record.read(0)
        self.agent_session, self.known = start.meta["source_session"], record.known


@pytest.mark.parametrize(
    ("path", "kind", "encoding", "body", "status"),
    [
        ("/v2/logs", JSON, "", b"{}", 404),
        ("/v1/logs", "text/plain", "", b"{}", 415),
        ("/v1/logs", JSON, "br", b"{}", 415),
        ("/v1/logs", JSON, "gzip", b"{}", 400),
        ("/v1/logs", JSON, "gzip", gzip.compress(b"{}", mtime=0)[:-5], 400),
        ("/v1/logs", JSON, "", b"{", 400),
        ("/v1/logs", JSON, "", b"[]", 400),
        ("/v1/logs", PROTOBUF, "", b"\xff\xff", 400),
        ("/v1/logs", JSON, "gzip", gzip.compress(bytes(MOST_BYTES + 1), mtime=0), 413),
        ("/v1/logs/", f"{JSON}; charset=utf-8", "identity", b"{}", 200),
        ("/v1/logs", JSON, "deflate", zlib.compress(b"{}"), 200),
        ("/v1/metrics", JSON, "", b"{}", 200),
    ],
)
def test_a_request_is_answered_as_otlp_has_it(
    receiver: Receiver, path: str, kind: str, encoding: str, body: bytes, status: int
) -> None:
    answer = receiver.take(path, kind, encoding, body)
    assert answer.status == status
    assert answer.content_type == (PROTOBUF if kind == PROTOBUF else JSON)
    assert receiver.counts.refused == (status != 200)


def test_a_store_that_cannot_be_written_makes_the_client_try_again(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise JournalError("the disk is full")

    monkeypatch.setattr(receiver.session_writer, "add_to", broken)
    assert {send(receiver, path, body) for path, body in recorded("codex")} >= {503}


def test_a_scribe_has_one_receiver_so_that_requests_know_of_each_other(session_writer: SessionWriter) -> None:
    assert send(receiver_of(session_writer), "/v1/logs", {}) == 200
    assert receiver_of(session_writer) is receiver_of(session_writer)
    assert receiver_of(session_writer).counts.requests == 1

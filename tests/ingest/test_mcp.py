"""The MCP proxy's record: what it takes from the relay, and what goes wrong beside the conversation."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tallystick.agents.protocols.mcp import AGENT, Mcp
from tallystick.capture.relay import Ended, Line, Way
from tallystick.errors import JournalError
from tallystick.ingest.mcp import Watcher
from tallystick.journal.home import Home
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.verify import verify_store


@pytest.fixture
def session_writer(home: Home) -> Iterator[SessionWriter]:
    with SessionWriter(home) as session_writer:
        yield session_writer


def line(way: Way, message: dict[str, Any], *, missed: int = 0, size: int | None = None) -> Line:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    return Line(way=way, data=data, size=size if size is not None else len(data), at_ns=10**18, missed=missed)


CALL = {"id": 1, "method": "tools/call", "params": {"name": "look", "arguments": {"at": 1}}}
RESULT = {"id": 1, "result": {"content": [{"type": "text", "text": "seen"}]}}


def types(session_writer: SessionWriter) -> list[str]:
    record = session_writer.writer.find(AGENT, "mcp-1")
    assert record is not None
    return [step.type for n in range(len(record.known)) if (step := record.read(n)) is not None]


def test_a_conversation_is_a_session_from_its_first_call_to_the_server_s_exit(
    session_writer: SessionWriter, home: Home
) -> None:
    watcher = Watcher(session_writer, Mcp("mcp-1", "server"))
    watcher.observe(line(Way.TO_CHILD, CALL))
    watcher.observe(line(Way.FROM_CHILD, RESULT))
    watcher.end(Ended(returncode=0))
    assert types(session_writer) == ["session_start", "tool_call", "tool_result", "session_end"]
    assert (watcher.steps, watcher.faults) == (3, [])
    session_writer.close()
    assert verify_store(home).exit_code == 0


def test_lines_that_were_not_seen_or_not_seen_whole_leave_a_mark(session_writer: SessionWriter) -> None:
    watcher = Watcher(session_writer, Mcp("mcp-1", "server"))
    watcher.observe(line(Way.TO_CHILD, CALL, missed=4))
    watcher.observe(line(Way.FROM_CHILD, RESULT, size=10**9))
    assert types(session_writer) == ["session_start", "gap", "tool_call", "warning"]


def test_a_store_that_fails_does_not_stop_the_conversation(
    session_writer: SessionWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise JournalError("the disk is full")

    watcher = Watcher(session_writer, Mcp("mcp-1", "server"))
    monkeypatch.setattr(session_writer, "add", broken)
    for _ in range(20):
        watcher.observe(line(Way.TO_CHILD, CALL))
    assert watcher.losses["unrecorded"] == 20
    assert watcher.faults == ["JournalError: the disk is full"] * 10

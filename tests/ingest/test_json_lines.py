"""Ingest: every line is recorded as it comes, known, or refused with its number."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tallystick.agents.protocols.ingest import Defaults
from tallystick.errors import JournalError
from tallystick.ingest import json_lines as operation
from tallystick.ingest.json_lines import Ingested, Refused, ingest
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.recording.session_writer import SessionWriter, Taken
from tallystick.trust.verify import verify_store


@pytest.fixture
def session_writer(home: Home) -> Iterator[SessionWriter]:
    with SessionWriter(home) as session_writer:
        yield session_writer


def line(**members: Any) -> bytes:
    return json.dumps({"session": "s", **members}).encode() + b"\n"


def test_lines_become_steps_and_the_same_lines_again_do_not(session_writer: SessionWriter, home: Home) -> None:
    lines = [
        line(type="user", id="u1", text="go"),
        line(type="tool_call", call="c1", tool="Bash", args={"command": "ls"}),
        line(type="tool_result", call="c1", output="x", success=True),
        line(type="session_end"),
    ]
    first, second = Ingested(), Ingested()
    taken = list(ingest(session_writer, lines, Defaults(), first))
    list(ingest(session_writer, lines[:3], Defaults(), second))
    assert [each.n for each in taken if isinstance(each, Taken)] == [1, 2, 3, 4]
    assert (first.steps["recorded"], second.steps["known"]) == (4, 3)
    assert second.sessions == first.sessions
    assert len(first.sessions) == 1
    session_writer.close()
    assert verify_store(home).exit_code == 0


def test_a_line_is_recorded_before_the_next_is_read(session_writer: SessionWriter) -> None:
    counts = Ingested()
    seen: list[int] = []

    def lines() -> Iterator[bytes]:
        for n in range(3):
            yield line(type="warning", id=f"w{n}")
            seen.append(counts.steps["recorded"])

    list(ingest(session_writer, lines(), Defaults(), counts))
    assert seen == [1, 2, 3]


def test_a_bad_line_has_its_number_and_stops_nothing(
    session_writer: SessionWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operation, "MOST_BYTES", 100)
    lines = [
        b"{\n",
        b"\n",
        line(type="warning"),
        line(type="warning", text="x" * 200),
        line(type="a", raw={"b": "aGk="}),
    ]
    counts = Ingested()
    results = list(ingest(session_writer, lines, Defaults(), counts))
    assert [each.number for each in results if isinstance(each, Refused)] == [1, 4, 5]
    assert (counts.lines, counts.empty, counts.refused, counts.steps["recorded"]) == (5, 1, 3, 1)


def test_a_store_that_cannot_be_written_ends_it(session_writer: SessionWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise JournalError("the disk is full")

    monkeypatch.setattr(session_writer, "add", broken)
    with pytest.raises(JournalError):
        list(ingest(session_writer, [line(type="warning")], Defaults(), Ingested()))


@pytest.mark.parametrize("type_", ["alert", "feedback"])
def test_a_program_makes_up_no_alert(session_writer: SessionWriter, home: Home, type_: str) -> None:
    counts = Ingested()
    chain = {"entry_hash": "a" * 64, "prev_hash": "0" * 64}
    (refused,) = ingest(session_writer, [line(type=type_, content={"chain": chain})], Defaults(), counts)
    assert isinstance(refused, Refused)
    assert "reserved for the recorder" in refused.why
    assert (counts.refused, counts.sessions) == (1, set())


def test_a_goal_that_ended_is_marked_before_its_session_ends(session_writer: SessionWriter, home: Home) -> None:
    lines = [line(type="goal_end", id="g", text="done"), line(type="session_end", id="e")]
    for _ in range(2):  # the same lines again mark nothing anew
        list(ingest(session_writer, lines, Defaults(), Ingested()))
    ((sid, _),) = home.sessions()
    steps = list(read_session(home, sid))
    assert [step.type for step in steps] == ["session_start", "goal_end", "checkpoint", "session_end"]
    assert (steps[2].meta["trigger"], steps[2].meta["position"]) == ("step_complete", 1)


def test_what_ends_with_the_lines_is_marked_too(session_writer: SessionWriter, home: Home) -> None:
    list(ingest(session_writer, [line(type="step_validation_passed", id="v")], Defaults(), Ingested()))
    ((sid, _),) = home.sessions()
    assert [step.type for step in read_session(home, sid)][-1] == "checkpoint"

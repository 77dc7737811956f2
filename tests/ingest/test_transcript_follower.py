"""Transcripts followed while their agents write them, beside what hooks tell."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from tallystick.agents import adapters
from tallystick.capture.discover import recognise
from tallystick.ingest.adapters import adapters as all_adapters
from tallystick.ingest.histories import import_histories
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.model.step import Ref, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.verify import verify_store
from tallystick.workspace.ledger import ledger_entries
from tests.support.following import Claude, Clock, answers, asks, kinds, prompt, says, steps_of


def test_lines_are_recorded_as_they_are_written(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, clock: Clock, tmp_path: Path
) -> None:
    claude = Claude(tmp_path)
    witness.watch("claude-code", claude.session, str(claude.path))
    assert witness.settle()
    claude.write(prompt("list it"), asks("c1", "ls"))
    assert witness.settle()
    claude.write(answers("c1", "a b"))
    assert witness.settle()
    assert kinds(steps_of(home, session_writer, claude.session)) == ["session_start", "user"]  # the message may go on
    clock.ahead += 3
    assert witness.poll("claude-code", claude.session)
    assert not witness.poll("claude-code", claude.session)
    assert kinds(steps_of(home, session_writer, claude.session)) == [
        "session_start",
        "user",
        "model_call",
        "tool_call",
        "tool_result",
    ]


def test_a_finished_session_is_noted_so_that_an_import_skips_its_file(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, tmp_path: Path
) -> None:
    claude = Claude(tmp_path)
    witness.watch("claude-code", claude.session, str(claude.path))
    claude.write(prompt("hi"), says("m1", "hello"))
    witness.finish("claude-code", claude.session)
    before = steps_of(home, session_writer, claude.session)
    assert kinds(before) == ["session_start", "user", "model_call", "assistant"]
    known = all_adapters()
    report = import_histories(home, list(recognise([claude.path], known)), known).report
    assert [file.state for file in report.files] == ["unchanged"]
    (noted,) = [entry for entry in ledger_entries(home) if entry.type == "import"]
    assert (noted.meta["offset"], noted.meta["steps"]) == (claude.path.stat().st_size, 3)
    assert noted.meta["session"] == before[0].session
    assert verify_store(home).exit_code == 0


def test_a_session_that_goes_on_after_its_end_is_followed_from_where_it_was(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, tmp_path: Path
) -> None:
    claude = Claude(tmp_path)
    witness.watch("claude-code", claude.session, str(claude.path))
    claude.write(prompt("hi"), says("m1", "hello"))
    witness.finish("claude-code", claude.session)
    assert not witness.poll()
    claude.write(prompt("more"), says("m2", "yes"))
    witness.watch("claude-code", claude.session, str(claude.path))
    witness.finish("claude-code", claude.session)
    steps = steps_of(home, session_writer, claude.session)
    assert kinds(steps)[1:] == ["user", "model_call", "assistant"] * 2
    assert "warning" not in kinds(steps)


def test_a_file_that_is_quiet_for_long_is_let_go_of_and_taken_up_again(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, clock: Clock, tmp_path: Path
) -> None:
    claude = Claude(tmp_path)
    witness.watch("claude-code", claude.session, str(claude.path))
    claude.write(prompt("hi"))
    assert witness.settle()
    assert not [entry for entry in ledger_entries(home) if entry.type == "import"]
    clock.ahead += 3600
    assert witness.settle()
    assert [entry.meta["steps"] for entry in ledger_entries(home) if entry.type == "import"] == [1]
    claude.write(prompt("still here"))
    assert not witness.poll()
    witness.watch("claude-code", claude.session, str(claude.path))
    assert witness.settle()
    assert kinds(steps_of(home, session_writer, claude.session)) == ["session_start", "user", "user"]


def test_sub_agents_are_followed_beside_their_session(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, clock: Clock, tmp_path: Path
) -> None:
    claude = Claude(tmp_path)
    witness.watch("claude-code", claude.session, str(claude.path))
    claude.write(prompt("delegate"))
    assert witness.settle()
    folder = claude.path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    line = {
        "parentUuid": None,
        "isSidechain": True,
        "agentId": "a1",
        "type": "user",
        "message": prompt("do it"),
        "uuid": "sub-1",
        "timestamp": "2026-01-01T00:00:10.000Z",
        "sessionId": claude.session,
    }
    (folder / "agent-a1.jsonl").write_text(json.dumps(line) + "\n")
    clock.ahead += 2
    assert witness.settle()
    assert kinds(steps_of(home, session_writer, f"{claude.session}/a1")) == ["session_start", "user"]
    witness.watch("claude-code", f"{claude.session}/a1", str(claude.path))
    witness.finish("claude-code", claude.session)
    assert len([entry for entry in ledger_entries(home) if entry.type == "import"]) == 2


@pytest.mark.parametrize("path", ["relative.jsonl", "", "/a\0b"])
def test_what_is_no_path_is_passed_over(witness: TranscriptFollower, path: str) -> None:
    witness.watch("claude-code", "s", path)
    witness.watch("nobody", "s", "/tmp/nothing.jsonl")
    assert not witness.poll()


def test_while_a_long_transcript_is_read_others_get_their_turn(
    home: Home, session_writer: SessionWriter, tmp_path: Path
) -> None:
    witness = TranscriptFollower(session_writer, adapters())
    claude = Claude(tmp_path)
    for k in range(0, 1000, 2):
        claude.write(asks(f"c{k}", "ls"), answers(f"c{k}", "a"))
    witness.watch("claude-code", claude.session, str(claude.path))
    turns = 0
    while witness.poll():
        step = Step(session="other", type="user", source=Source.HOOK, values={"content.text": "hi"})
        session_writer.add("claude-code", step)
        witness.poll("claude-code", "other")
        turns += 1
        time.sleep(0.01)
    assert turns > 5  # between them the other session had its turn
    witness.close()
    assert kinds(steps_of(home, session_writer, claude.session)).count("tool_result") == 500


def test_the_thread_ends_with_the_witness(session_writer: SessionWriter, tmp_path: Path) -> None:
    claude = Claude(tmp_path)
    claude.write(*(prompt(f"p{k}") for k in range(300)))
    witness = TranscriptFollower(session_writer, adapters())
    witness.watch("claude-code", claude.session, str(claude.path))
    witness.poll()
    witness.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "tallystick-witness"]
    record = session_writer.writer.find("claude-code", claude.session)
    assert record is not None
    assert len(record.known) == 301
    assert record.number_of(Ref(f"{claude.session}-300")) == 300


@pytest.mark.parametrize("in_thread", [False, True])
def test_a_file_that_nobody_can_read_on_keeps_no_other_from_being_read(
    home: Home,
    session_writer: SessionWriter,
    witness: TranscriptFollower,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    in_thread: bool,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    broken, whole = Claude(tmp_path, "b"), Claude(tmp_path, "w")
    for claude in (broken, whole):
        claude.write(prompt("hi"))
        witness.watch("claude-code", claude.session, str(claude.path))
    if in_thread:
        monkeypatch.setattr(witness._files[str(broken.path)], "prepare", fail)
        witness._start_thread()
        time.sleep(0.1)
        assert witness._thread is not None
        assert witness._thread.is_alive()
    else:
        monkeypatch.setattr(witness._files[str(broken.path)], "finish", fail)
    witness.finish("claude-code", broken.session)
    witness.finish("claude-code", whole.session)
    assert not witness._files
    assert kinds(steps_of(home, session_writer, whole.session)) == ["session_start", "user"]

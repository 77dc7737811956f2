"""What becomes of the events of a transcript."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tallystick.agents import adapters
from tallystick.errors import JournalError
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.indexing import refresh_index
from tests.support.following import Claude, Clock, answers, asks, hooked_call, kinds, prompt, says, steps_of


def test_what_a_hook_told_is_seen_and_not_recorded_again(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, clock: Clock, tmp_path: Path
) -> None:
    claude = Claude(tmp_path)
    witness.watch("claude-code", claude.session, str(claude.path))
    session_writer.open(Opening(session=claude.session, agent="claude-code", source=Source.HOOK))
    text = {"content.text": "list it"}
    asked = Step(session=claude.session, type="user", source=Source.HOOK, source_id="hook/1", values=text)
    session_writer.add("claude-code", asked)
    session_writer.add("claude-code", hooked_call(claude.session, "c1", "ls"))
    claude.write(prompt("list it"), asks("c1", "ls"), answers("c1", "a b"))
    assert witness.settle()
    clock.ahead += 3
    assert witness.settle()
    steps = steps_of(home, session_writer, claude.session)
    assert kinds(steps) == ["session_start", "user", "tool_call", "system", "model_call", "tool_result", "sighting"]
    assert [item["n"] for item in steps[-1].meta["steps"]] == [1, 2]
    assert steps[3].meta["agent_version"] == "2.1.330"


def test_a_session_that_begins_with_anothers_history_forks_from_it(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, tmp_path: Path
) -> None:
    first = Claude(tmp_path, "aaaa")
    first.write(prompt("one"), says("m1", "yes"), prompt("two"))
    witness.watch("claude-code", "aaaa", str(first.path))
    witness.finish("claude-code", "aaaa")
    witness.watch("claude-code", "bbbb", str(fork_of(first, "bbbb", prompt("another way"))))
    assert witness.settle()
    steps = steps_of(home, session_writer, "bbbb")
    assert [step.text("content.text") for step in steps[1:]] == ["another way"]
    assert steps[0].meta["kind"] == "fork"
    assert steps[0].parents[0].startswith(steps_of(home, session_writer, "aaaa")[0].session)


def fork_of(first: Claude, session: str, *own: dict[str, Json]) -> Path:
    """A file of another session that begins with the history of the first, and goes on by itself."""
    path = first.path.with_name(f"{session}.jsonl")
    said = Claude(first.path.parent, "cccc").lines(*own).replace(b'"cccc"', f'"{session}"'.encode())
    path.write_bytes(first.path.read_bytes().replace(b'"aaaa"', f'"{session}"'.encode()) + said)
    return path


def test_a_fork_whose_file_is_written_anew_records_nothing_of_the_common_history(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, tmp_path: Path
) -> None:
    first = Claude(tmp_path, "aaaa")
    first.write(prompt("one"), says("m1", "yes"), prompt("two"))
    witness.watch("claude-code", "aaaa", str(first.path))
    witness.finish("claude-code", "aaaa")
    second = fork_of(first, "bbbb", prompt("another way"))
    whole = second.read_bytes()
    witness.watch("claude-code", "bbbb", str(second))
    assert witness.settle()
    second.write_bytes(b"")
    assert witness.settle()
    second.write_bytes(whole)
    witness.finish("claude-code", "bbbb")
    steps = steps_of(home, session_writer, "bbbb")
    assert kinds(steps) == ["session_start", "user", "warning"]


def test_an_index_that_is_locked_while_it_is_asked_is_asked_again(
    home: Home, session_writer: SessionWriter, tmp_path: Path
) -> None:
    first = Claude(tmp_path, "aaaa")
    first.write(prompt("one"), says("m1", "yes"), prompt("two"))
    strangers = list[sqlite3.Connection]()

    def refresh() -> None:
        """Just after the first time, someone else has the file for himself."""
        for stranger in strangers:
            stranger.close()
        refresh_index(home)
        if not strangers:
            strangers.append(sqlite3.connect(home.graph, isolation_level=None, check_same_thread=False))
            strangers[0].executescript("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")

    with closing(TranscriptFollower(session_writer, adapters())) as witness:
        witness.watch("claude-code", "aaaa", str(first.path))
        witness.finish("claude-code", "aaaa")
    with closing(TranscriptFollower(session_writer, adapters(), refresh=refresh)) as witness:
        witness.watch("claude-code", "bbbb", str(fork_of(first, "bbbb", prompt("another way"))))
        assert witness.settle()
    assert strangers
    steps = steps_of(home, session_writer, "bbbb")
    assert kinds(steps) == ["session_start", "user"]
    assert steps[0].meta["kind"] == "fork"


def test_what_a_full_disk_refused_is_recorded_when_there_is_room(
    home: Home,
    session_writer: SessionWriter,
    witness: TranscriptFollower,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claude = Claude(tmp_path)
    claude.write(prompt("one"), prompt("two"))
    witness.watch("claude-code", claude.session, str(claude.path))
    add_to = session_writer.add_to

    def refuse(*_: object) -> None:
        raise JournalError("no space left on device")

    with monkeypatch.context() as full:
        full.setattr(session_writer, "add_to", refuse)
        with pytest.raises(JournalError, match="no space"):
            witness.settle()
    assert session_writer.add_to == add_to
    with suppress(JournalError):  # the other thread may have met it too
        witness.poll()
    assert witness.settle()
    texts = [
        step.text("content.text") for step in steps_of(home, session_writer, claude.session) if step.type == "user"
    ]
    assert texts == ["one", "two"]

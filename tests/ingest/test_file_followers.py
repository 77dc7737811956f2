"""Transcripts that grow, and what is told of lines that are not there any more."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tallystick.agents import adapters
from tallystick.capture.history import Piece
from tallystick.ingest.file_followers import FollowedWhole
from tallystick.ingest.transcript_events import TranscriptFile
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.ledger import ledger_entries
from tests.support.following import Claude, Clock, kinds, prompt, says, steps_of


def test_the_last_message_is_recorded_when_the_agent_is_quiet(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, clock: Clock, tmp_path: Path
) -> None:
    claude = Claude(tmp_path)
    witness.watch("claude-code", claude.session, str(claude.path))
    claude.write(prompt("hi"), says("m1", "hello"))
    assert witness.settle()
    assert kinds(steps_of(home, session_writer, claude.session)) == ["session_start", "user"]
    clock.ahead += 3
    assert witness.settle()
    assert kinds(steps_of(home, session_writer, claude.session))[2:] == ["model_call", "assistant"]
    clock.ahead += 3
    claude.write(prompt("more"))
    assert witness.settle()
    assert kinds(steps_of(home, session_writer, claude.session))[2:] == ["model_call", "assistant", "user"]


def damaged(home: Home, session_writer: SessionWriter, session: str) -> list[Recorded]:
    return [step for step in steps_of(home, session_writer, session) if step.type == "warning"]


def test_a_silent_edit_is_told_and_what_the_file_says_now_is_a_revision(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, tmp_path: Path
) -> None:
    claude = Claude(tmp_path)
    witness.watch("claude-code", claude.session, str(claude.path))
    first = claude.lines(prompt("hi"))
    claude.path.write_bytes(first + claude.lines(prompt("rm -rf"), says("m1", "ok"), prompt("thanks")))
    assert witness.settle()
    had = claude.path.read_bytes()
    claude.path.write_bytes(had.replace(b"rm -rf", b"ls -la"))
    assert witness.settle()
    (warning,) = damaged(home, session_writer, claude.session)
    assert (warning.meta["source"], warning.meta["change"]) == ("watch", "edited")
    assert warning.meta["first_byte"] == len(first)
    assert len(first) < had.index(b"rm -rf") < warning.meta["end_byte"] < len(had)
    assert set(warning.values["content.digests"]) == {"had", "now"}
    assert warning.text("content.text") == (
        f"the transcript was edited: bytes {len(first):,} to {warning.meta['end_byte']:,} are not as they were read"
    )
    assert warning.values["content.path"] == str(claude.path)
    steps = steps_of(home, session_writer, claude.session)
    (revision,) = [step for step in steps if "revises" in step.meta]
    assert (revision.text("content.text"), steps[revision.meta["revises"]].text("content.text")) == ("ls -la", "rm -rf")
    assert not witness.poll()


def test_a_transcript_that_its_agent_deletes_or_cuts_leaves_a_warning_and_all_steps(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, tmp_path: Path
) -> None:
    claude = Claude(tmp_path)
    witness.watch("claude-code", claude.session, str(claude.path))
    claude.write(prompt("one"), prompt("two"))
    assert witness.settle()
    whole = claude.path.read_bytes()
    claude.path.write_bytes(whole[:-10])
    assert witness.settle()
    claude.path.unlink()
    assert witness.settle()
    assert witness.settle()
    witness.finish("claude-code", claude.session)
    changes = [(step.meta["change"], step.meta["read_bytes"]) for step in damaged(home, session_writer, claude.session)]
    assert changes == [("cut", len(whole)), ("deleted", whole.index(b"\n") + 1)]
    assert kinds(steps_of(home, session_writer, claude.session)).count("user") == 2


def test_an_edit_while_nobody_looked_is_told_too(home: Home, session_writer: SessionWriter, tmp_path: Path) -> None:
    claude = Claude(tmp_path)
    claude.write(prompt("one"), prompt("two"))
    for text in (b"one", b"ONE"):
        claude.path.write_bytes(claude.path.read_bytes().replace(b"one", text))
        witness = TranscriptFollower(session_writer, adapters())
        witness.watch("claude-code", claude.session, str(claude.path))
        assert witness.settle()
        witness.close()
    (warning,) = damaged(home, session_writer, claude.session)
    assert (warning.meta["change"], warning.meta["first_byte"]) == ("edited", 0)
    assert kinds(steps_of(home, session_writer, claude.session)).count("user") == 3


def test_damage_in_a_line_is_counted_in_the_ledger(home: Home, witness: TranscriptFollower, tmp_path: Path) -> None:
    claude = Claude(tmp_path)
    claude.path.write_bytes(claude.lines(prompt("one")) + b"{nonsense\n" + claude.lines(prompt("two")))
    witness.watch("claude-code", claude.session, str(claude.path))
    witness.finish("claude-code", claude.session)
    (noted,) = [entry for entry in ledger_entries(home) if entry.type == "import"]
    assert noted.meta["skipped"] == {"bad_line": 1}


def test_a_reader_that_fails_costs_one_line_and_what_it_held_back(
    home: Home, session_writer: SessionWriter, clock: Clock, tmp_path: Path
) -> None:
    pi = adapters()["pi"]

    class Failing:
        NAME, SHAPE, GLOBAL_IDS, COMPANIONS = pi.NAME, pi.SHAPE, pi.GLOBAL_IDS, pi.COMPANIONS

        def locate(self) -> tuple[str, ...]:
            return ()

        def recognises(self, path: str, head: bytes) -> bool:
            return True

        def reader(self, file: Any) -> Any:
            inner = pi.reader(file)

            class Reader:
                def feed(self, data: bytes, offset: int) -> Any:
                    if b"bad" in data:
                        raise KeyError("bad")
                    return inner.feed(data, offset)

                def finish(self) -> Any:
                    raise KeyError("worse")

            return Reader()

    path = tmp_path / "pi.jsonl"
    head = {"type": "session", "id": "p1", "version": 3, "timestamp": "2026-01-01T00:00:00Z", "cwd": "/p"}
    said = [
        {
            "type": "message",
            "id": text,
            "parentId": None,
            "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": "user", "content": text},
        }
        for text in ("good", "bad", "better")
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in (head, *said)))
    witness = TranscriptFollower(session_writer, {"pi": Failing()}, clock=clock)
    witness.watch("pi", "p1", str(path))
    assert witness.settle()
    clock.ahead += 3
    witness.poll()  # looks at what the reader holds back, too
    witness.close()
    assert [
        step.text("content.text") for step in steps_of(home, session_writer, "p1", "pi") if step.type == "user"
    ] == [
        "good",
        "better",
    ]
    (noted,) = [entry for entry in ledger_entries(home) if entry.type == "import"]
    assert noted.meta["skipped"] == {"bad_line": 2}


RECORDINGS = Path(__file__).parents[1] / "recordings"


def test_a_document_is_read_again_and_only_what_is_new_is_recorded(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, clock: Clock, tmp_path: Path
) -> None:
    recording = sorted(RECORDINGS.glob("cline/**/*.messages.json"))[0]
    path = tmp_path / recording.name
    whole = json.loads(recording.read_bytes())
    session = recording.name.removesuffix(".messages.json")
    path.write_text(json.dumps({**whole, "messages": whole["messages"][:2]}))
    witness.watch("cline", session, str(path))
    assert witness.settle()
    part = {step.meta.get("source_id") for step in cline_steps(home, session_writer)}
    path.write_text(json.dumps(whole))
    clock.ahead += 100
    assert witness.settle()
    steps = cline_steps(home, session_writer)
    ids = [step.meta["source_id"] for step in steps if "source_id" in step.meta]
    assert part < set(ids) | {None}
    assert len([step for step in steps if "revises" in step.meta]) <= 1
    path.write_text(json.dumps({**whole, "messages": whole["messages"][:1]}))
    clock.ahead += 100
    assert witness.settle()
    (warning,) = [step for step in cline_steps(home, session_writer) if step.type == "warning"]
    assert warning.meta["change"] == "removed"
    assert warning.meta["events"] == len(warning.values["content.ids"]) > 0


def test_a_session_that_ends_while_its_document_is_read_waits_for_what_is_read(
    home: Home, session_writer: SessionWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = sorted(RECORDINGS.glob("cline/**/*.messages.json"))[0]
    path = tmp_path / recording.name
    shutil.copy(recording, path)
    file = FollowedWhole(
        session_writer, TranscriptFile(adapters()["cline"], recording.name.removesuffix(".messages.json"), path)
    )
    begun, read = threading.Event(), file._file.read

    def slowly() -> Iterator[Piece]:
        pieces = list(read())  # from here on the file looks unchanged
        begun.set()
        time.sleep(0.3)
        yield from pieces

    monkeypatch.setattr(file._file, "read", slowly)
    reading = threading.Thread(target=file.prepare)
    reading.start()
    assert begun.wait(120)
    file.finish()
    reading.join()
    assert len(cline_steps(home, session_writer)) > 3


def cline_steps(home: Home, session_writer: SessionWriter) -> list[Recorded]:
    session_writer.seal()
    return [step for sid in home.session_ids() for step in read_session(home, sid)]


def test_of_a_database_only_the_sessions_that_are_watched_are_recorded(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, clock: Clock, tmp_path: Path
) -> None:
    recording = next(iter(sorted(RECORDINGS.glob("opencode/**/*.db"))))
    path = tmp_path / "opencode.db"
    shutil.copy(recording, path)
    with closing(sqlite3.connect(path)) as database:
        sessions = [row[0] for row in database.execute("SELECT id FROM session WHERE parent_id IS NULL ORDER BY id")]
    witness.watch("opencode", sessions[0], str(path))
    assert witness.settle()
    assert len(steps_of(home, session_writer, sessions[0], "opencode")) > 3
    for other in sessions[1:]:
        assert session_writer.archive.find("opencode", other) is None
    before = len(steps_of(home, session_writer, sessions[0], "opencode"))
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE session SET title = 'another title' WHERE id = ?", (sessions[0],))
        database.commit()
    clock.ahead += 1000
    assert witness.settle()
    witness.finish("opencode", sessions[0])
    assert 0 <= len(steps_of(home, session_writer, sessions[0], "opencode")) - before <= 2
    assert not [entry for entry in ledger_entries(home) if entry.type == "import"]

"""Documents and databases that agents write anew."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tallystick.agents import adapters
from tallystick.capture.history import Piece
from tallystick.ingest.document_follower import FollowedWhole
from tallystick.ingest.transcript_events import TranscriptFile
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.ledger import ledger_entries
from tests.support.following import Clock, steps_of

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

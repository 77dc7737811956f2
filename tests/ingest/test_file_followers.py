"""Transcripts that grow, and what is told of lines that are not there any more."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents import adapters
from tallystick.capture.discover import recognise
from tallystick.capture.history import Piece
from tallystick.ingest.file_followers import FollowedWhole
from tallystick.ingest.import_ import Importer
from tallystick.ingest.transcript_events import TranscriptFile
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.ledger import ledger_entries
from tests.support.following import Claude, Clock, answers, asks, kinds, prompt, says, steps_of
from tests.support.laws import examples
from tests.support.shown import shown


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
    assert set(shown(warning.values["content.digests"])) == {"had", "now"}
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
    assert warning.meta["events"] == len(shown(warning.values["content.ids"])) > 0


def test_a_session_that_ends_while_its_document_is_read_waits_for_what_is_read(
    home: Home, session_writer: SessionWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = sorted(RECORDINGS.glob("cline/**/*.messages.json"))[0]
    path = tmp_path / recording.name
    shutil.copy(recording, path)
    document = TranscriptFile(adapters()["cline"], recording.name.removesuffix(".messages.json"), path)
    file = FollowedWhole(session_writer, document, lambda: None, time.monotonic)
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


# A torn tail ----------------------------------------------------------------------------------------------------------

MESSAGES = st.sampled_from(["prompt", "says", "call"])
TALKS = st.lists(MESSAGES, min_size=1, max_size=5)
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["go on", "go on", "tear", "tear", "cut", "replace"]), st.floats(0, 1), st.booleans()),
    min_size=1,
    max_size=8,
)


def talk(kinds_: list[str], first: int = 0) -> bytes:
    """The lines of a conversation, of which no id is that of another with another `first`."""
    claude = Claude.__new__(Claude)
    claude.session, claude._last, claude._count = "5e551011", None, first
    said = b""
    for number, kind in enumerate(kinds_, first):
        match kind:
            case "prompt":
                said += claude.lines(prompt(f"prompt {number} – naïve"))
            case "says":
                said += claude.lines(says(f"m{number}", f"word {number}"))
            case "call":
                said += claude.lines(asks(f"c{number}", "ls"), answers(f"c{number}", f"output {number}"))
    return said


def steps_told(steps: list[Recorded]) -> list[tuple[object, ...]]:
    """What a record says, without what is another in each store: when it was recorded, and digests over hashes of it."""
    return [
        (
            step.type,
            step.values,
            {name: value for name, value in step.meta.items() if name not in ("recorded", "input")},
        )
        for step in steps
    ]


def imported(folder: Path, transcript: Path) -> list[Recorded]:
    """The record of one import of a file as it is now."""
    home, known = Home(folder), adapters()
    Archive.make(home)
    archive = Archive(home)
    try:
        Importer(archive, known, UTC).run(recognise([transcript], known))
        sid = archive.find("claude-code", "5e551011")
        return [] if sid is None else list(read_session(home, sid))
    finally:
        archive.close()


class Followed:
    """A transcript that a test writes byte for byte, and what follows it meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, Home(folder / "followed")
        Archive.make(self.home)
        self.path = folder / ".claude" / "projects" / "-p" / "5e551011.jsonl"
        self.path.parent.mkdir(parents=True)
        self.path.touch()
        self.writer = SessionWriter(self.home)
        self._follower = TranscriptFollower(self.writer, adapters(), clock=Clock())
        self._follower.watch("claude-code", "5e551011", str(self.path))

    def append(self, data: bytes, *, look: bool = True) -> None:
        with self.path.open("ab") as file:
            file.write(data)
        self.look(look)

    def look(self, look: bool = True) -> None:
        if look:
            assert self._follower.settle()

    def end(self) -> list[Recorded]:
        """Everything that was recorded, after a last look at the whole file."""
        self._follower.finish("claude-code", "5e551011")
        self._follower.close()
        self.writer.seal()
        sid = self.writer.archive.find("claude-code", "5e551011")
        self.writer.close()
        return [] if sid is None else list(read_session(self.home, sid))


@given(
    talk_=st.lists(MESSAGES, min_size=1, max_size=8),
    tears=st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=8),
)
@settings(deadline=None, max_examples=examples(40))
def test_lines_written_in_pieces_are_read_as_if_they_were_written_at_once(
    talk_: list[str], tears: list[tuple[float, bool]]
) -> None:
    data = talk(talk_)
    with TemporaryDirectory() as folder:
        followed, done = Followed(Path(folder)), 0
        for place, look in sorted(tears):
            until = int(place * len(data))
            followed.append(data[done:until], look=look)
            done = until
        followed.append(data[done:])
        found = followed.end()
        assert steps_told(found) == steps_told(imported(Path(folder, "imported"), followed.path))


@given(talk_=TALKS, operations=OPERATIONS)
@settings(deadline=None, max_examples=examples(40))
def test_after_cuts_and_another_file_everything_is_known_that_an_import_of_the_file_reads(
    talk_: list[str], operations: list[tuple[str, float, bool]]
) -> None:
    with TemporaryDirectory() as folder:
        followed = Followed(Path(folder))
        waiting, first = talk(talk_), len(talk_) * 2
        for operation, place, look in operations:
            size = followed.path.stat().st_size
            if operation == "tear":
                torn = int(place * len(waiting))
                waiting, piece = waiting[torn:], waiting[:torn]
                followed.append(piece, look=look)
            elif operation == "go on":
                followed.append(waiting, look=look)
                waiting, first = talk(talk_, first), first + len(talk_) * 2
            elif operation == "cut":
                os.truncate(followed.path, int(place * size))
                followed.look(look)
            else:
                other = followed.path.with_suffix(".new")
                other.write_bytes(talk(talk_, first))
                other.replace(followed.path)
                waiting, first = b"", first + len(talk_) * 2
                followed.look(look)
        wanted = imported(Path(folder, "imported"), followed.path)
        known = {step.member("source_id"): step for step in followed.end()}
        for step in wanted[1:]:
            found = known[step.member("source_id")]
            assert (found.type, found.values, found.meta["ts"]) == (step.type, step.values, step.meta["ts"])


def test_half_a_line_is_read_when_it_is_whole_and_not_before(tmp_path: Path) -> None:
    followed, data = Followed(tmp_path), talk(["prompt", "prompt", "prompt"])
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    followed.append(data[: ends[0] + 20])
    assert kinds(followed_steps(followed)) == ["session_start", "user"]
    followed.append(data[ends[0] + 20 : ends[1] - 1])  # all of it but its end
    assert kinds(followed_steps(followed)) == ["session_start", "user"]
    followed.append(data[ends[1] - 1 : ends[1]])
    assert kinds(followed_steps(followed)) == ["session_start", "user", "user"]
    followed.append(data[ends[1] : ends[2] - 1])
    texts = [step.text("content.text") for step in followed.end()[1:]]
    assert texts == ["prompt 0 – naïve", "prompt 1 – naïve", "prompt 2 – naïve"]


def followed_steps(followed: Followed) -> list[Recorded]:
    return steps_of(followed.home, followed.writer, "5e551011")


def test_half_a_line_that_is_taken_back_and_another_in_its_place_leave_no_trace(tmp_path: Path) -> None:
    followed, data = Followed(tmp_path), talk(["prompt", "prompt"])
    end = data.index(b"\n") + 1
    followed.append(data[: end + 30])
    os.truncate(followed.path, end)
    followed.look()
    followed.append(talk(["says"], 7))
    found = followed.end()
    assert steps_told(found) == steps_told(imported(tmp_path / "imported", followed.path))
    assert kinds(found) == ["session_start", "user", "model_call", "assistant"]

"""What becomes of the events of a transcript."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tallystick.agents import adapters
from tallystick.errors import JournalError
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Ref, SessionKind, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.origins import revised_opening
from tallystick.workspace.indexing import refresh_index
from tests.service.faults import wait_for
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
    first = ended(witness, tmp_path)
    witness.watch("claude-code", "bbbb", str(fork_of(first, "bbbb", prompt("another way"))))
    assert witness.settle()
    steps = steps_of(home, session_writer, "bbbb")
    assert [step.text("content.text") for step in steps[1:]] == ["another way"]
    assert steps[0].meta["kind"] == "fork"
    assert steps[0].parents[0].startswith(steps_of(home, session_writer, "aaaa")[0].session)


def codex_header(folder: Path, thread: str, parent: str) -> Path:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": parent}}}
    header = {"id": thread, "session_id": "root", "timestamp": "2026-01-01T00:00:00Z", "source": source}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "do it"}], "id": "msg_1"}
    lines = [{"type": "session_meta", "payload": header}, {"type": "response_item", "payload": said}]
    path = folder / f"rollout-2026-01-01T00-00-00-{thread}.jsonl"
    path.write_text("".join(json.dumps({"timestamp": "2026-01-01T00:00:00Z", **line}) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(("named", "holder"), [("outer", "outer"), ("root", "root"), ("unknown", "root")])
def test_a_file_that_names_another_parent_on_record_outranks_the_hook_that_named_the_root(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, tmp_path: Path, named: str, holder: str
) -> None:
    sids = {}
    for thread in ("root", "outer"):
        sids[thread] = session_writer.open(Opening(session=thread, agent="codex", source=Source.HOOK)).sid
    hangs = Ref(session="root")
    session_writer.open(
        Opening(session="inner", agent="codex", source=Source.HOOK, kind=SessionKind.CHILD, parent=hangs)
    )
    witness.watch("codex", "inner", str(codex_header(tmp_path, "inner", named)))
    assert witness.settle()
    opening = revised_opening(steps_of(home, session_writer, "inner", "codex"))
    assert [parent.partition("#")[0] for parent in opening.parents] == [sids[holder]]


def ended(witness: TranscriptFollower, folder: Path) -> Claude:
    """A session whose file was read to its end."""
    first = Claude(folder, "aaaa")
    first.write(prompt("one"), says("m1", "yes"), prompt("two"))
    witness.watch("claude-code", "aaaa", str(first.path))
    witness.finish("claude-code", "aaaa")
    return first


def fork_of(first: Claude, session: str, *own: dict[str, Json]) -> Path:
    """A file of another session that begins with the history of the first, and goes on by itself."""
    path = first.path.with_name(f"{session}.jsonl")
    said = Claude(first.path.parent, "cccc").lines(*own).replace(b'"cccc"', f'"{session}"'.encode())
    path.write_bytes(first.path.read_bytes().replace(b'"aaaa"', f'"{session}"'.encode()) + said)
    return path


def test_a_fork_whose_file_is_written_anew_records_nothing_of_the_common_history(
    home: Home, session_writer: SessionWriter, witness: TranscriptFollower, tmp_path: Path
) -> None:
    first = ended(witness, tmp_path)
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
        with pytest.raises(JournalError, match="no space"):  # the other thread may meet it first
            wait_for(lambda: not witness.settle())
    assert session_writer.add_to == add_to
    with suppress(JournalError):  # the other thread may have met it too
        witness.poll()
    assert witness.settle()
    texts = [
        step.text("content.text") for step in steps_of(home, session_writer, claude.session) if step.type == "user"
    ]
    assert texts == ["one", "two"]

"""What becomes of the events of a transcript."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from tallystick.errors import JournalError
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.session_writer import SessionWriter
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
    second = first.path.with_name("bbbb.jsonl")
    own = Claude(tmp_path, "cccc").lines(prompt("another way"))
    second.write_bytes(first.path.read_bytes().replace(b'"aaaa"', b'"bbbb"') + own.replace(b'"cccc"', b'"bbbb"'))
    witness.watch("claude-code", "bbbb", str(second))
    assert witness.settle()
    steps = steps_of(home, session_writer, "bbbb")
    assert [step.text("content.text") for step in steps[1:]] == ["another way"]
    assert steps[0].meta["kind"] == "fork"
    assert steps[0].parents[0].startswith(steps_of(home, session_writer, "aaaa")[0].session)


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

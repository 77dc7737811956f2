"""Whether checkpoints hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.errors import NotFoundError
from tallystick.graph.checkpoints import CheckpointFilter, list_checkpoints
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.checkpoints.write import Mark, mark
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.checkpoints import Trigger
from tallystick.trust.verify import verify_store
from tallystick.trust.verify_checkpoints import verify_checkpoints
from tallystick.workspace.indexing import open_index
from tests.support.laws import examples


@pytest.fixture
def sid(home: Home) -> str:
    """A session of 6 steps in which entries 1 and 3 are marked by entries 2 and 5."""
    with SessionWriter(home) as session_writer:
        record = session_writer.open(Opening(session="one", agent="demo", source=Source.SDK))
        say(session_writer, "user")
        mark(session_writer, record, Mark(trigger=Trigger.MANUAL, label="first"))
        say(session_writer, "assistant")
        say(session_writer, "assistant")
        mark(session_writer, record, Mark(trigger=Trigger.MANUAL, label="second", position=3))
    with open_index(home):
        pass
    return record.sid


def say(session_writer: SessionWriter, kind: str) -> None:
    session_writer.add(
        "demo", Step(session="one", type=kind, source=Source.SDK, values={"content.text": f"a word of {kind}"})
    )


def path_of(home: Home, sid: str) -> Path:
    path = home.journal(sid)
    assert path is not None
    return path


def change(home: Home, sid: str, n: int, old: bytes, new: bytes) -> None:
    """Change a line of a journal as somebody with an editor does."""
    path = path_of(home, sid)
    lines = path.read_bytes().split(b"\n")
    assert old in lines[n]
    lines[n] = lines[n].replace(old, new)
    path.write_bytes(b"\n".join(lines))


def test_what_nobody_touched_holds(home: Home, sid: str) -> None:
    seen: list[int] = []
    found = verify_checkpoints(home, progress=seen.append)
    assert (found.checkpoints, found.broken, seen) == (2, (), [1])
    assert verify_checkpoints(home, session="one").checkpoints == 2


def test_a_checkpoint_whose_prefix_changed_is_broken_and_an_earlier_one_holds(home: Home, sid: str) -> None:
    change(home, sid, 3, b"a word of assistant", b"another word entirely")
    found = verify_checkpoints(home)
    assert found.checkpoints == 2
    (broken,) = found.broken
    assert (broken.session, broken.n) == (sid, 5)
    assert "entry 3" in broken.why
    assert verify_checkpoints(home, name=broken.hash[:8]).broken == (broken,)


def test_a_change_at_the_beginning_breaks_all(home: Home, sid: str) -> None:
    change(home, sid, 1, b"a word of user", b"a word of liar")
    assert [each.n for each in verify_checkpoints(home).broken] == [2, 5]


def test_a_change_after_the_marks_breaks_none(home: Home, sid: str) -> None:
    with SessionWriter(home) as session_writer:
        say(session_writer, "user")
    change(home, sid, 6, b"a word of user", b"a word of liar")
    assert verify_store(home).exit_code == 2
    assert verify_checkpoints(home).broken == ()


def test_a_checkpoint_that_was_cut_off_or_damaged_is_missed(home: Home, sid: str) -> None:
    path = path_of(home, sid)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:5], b"{}", b""]))
    (broken,) = [each for each in verify_checkpoints(home).broken if each.n == 5]
    assert "cannot be read" in broken.why


def test_a_mark_of_an_entry_that_is_not_there_is_broken(home: Home) -> None:
    """A program that writes its own checkpoint may say anything of what it marks."""
    with SessionWriter(home) as session_writer:
        record = session_writer.open(Opening(session="one", agent="demo", source=Source.SDK))
        meta = {"trigger": "manual", "position": 0, "position_hash": "ab" * 32}
        for said in (meta, {**meta, "position": 99}):
            session_writer.add_to(record, Step(session="one", type="checkpoint", source=Source.SDK, meta=said))
    first, second = verify_checkpoints(home).broken
    assert "entry 0 has the hash" in first.why
    assert second.why == "it marks no entry before it"
    remarks = verify_store(home).remarks
    assert sum("a broken checkpoint" in remark for remark in remarks) == 2


def test_a_mark_that_names_no_position_holds_as_long_as_all_up_to_it_is_whole(home: Home, sid: str) -> None:
    with SessionWriter(home) as session_writer:
        say(session_writer, "compaction")
        say(session_writer, "checkpoint")
    with open_index(home) as index:
        own = list_checkpoints(index.graph, CheckpointFilter(triggers=("compaction", "phase")))
    assert [each.trigger for each in own] == ["phase", "compaction"]
    found = verify_checkpoints(home)
    assert (found.checkpoints, found.broken) == (4, ())
    assert [verify_checkpoints(home, name=each.hash[:12]).checkpoints for each in own] == [1, 1]
    change(home, sid, 7, b"a word of checkpoint", b"another word at all")
    assert [each.hash for each in verify_checkpoints(home).broken] == [own[0].hash]
    change(home, sid, 1, b"a word of user", b"a word of liar")
    assert len(verify_checkpoints(home).broken) == 4


def test_a_checkpoint_that_nobody_made_is_not_found(home: Home, sid: str) -> None:
    with pytest.raises(NotFoundError, match="no checkpoint"):
        verify_checkpoints(home, name="ffffffff")
    with pytest.raises(NotFoundError, match="no session"):
        verify_checkpoints(home, session="ffffffff")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30), deadline=None)
@given(data=st.data())
def test_whatever_byte_is_changed_before_a_mark_the_mark_does_not_hold(
    data: st.DataObject, home: Home, sid: str
) -> None:
    path = path_of(home, sid)
    whole = path.read_bytes()
    marked = sum(len(line) + 1 for line in whole.split(b"\n")[:4])
    at = data.draw(st.integers(0, marked - 1))
    changed = bytearray(whole)
    changed[at] ^= 1 << data.draw(st.integers(0, 7))
    try:
        path.write_bytes(changed)
        assert 5 in [each.n for each in verify_checkpoints(home).broken]
    finally:
        path.write_bytes(whole)

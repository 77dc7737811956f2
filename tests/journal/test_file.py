from __future__ import annotations

import fcntl
import multiprocessing
import os
import threading
from pathlib import Path

import pytest

from tallystick.errors import FormatError, JournalError
from tallystick.journal.archive import Archive
from tallystick.journal.file import JournalFile, Sources
from tallystick.journal.home import Home
from tallystick.journal.read import read_file
from tallystick.model.ids import SessionId
from tallystick.trust.verify import verify_store
from tests.journal.conftest import counting_seeds, say, ticking_clock


def texts(home: Home, journal: JournalFile) -> list[object]:
    return [placed.step.values.get("content.text") for placed in read_file(home, journal.path)]


def types(home: Home, journal: JournalFile) -> list[str]:
    return [placed.step.type for placed in read_file(home, journal.path)]


def test_an_appended_step_is_on_disk_when_append_returns(home: Home, journal: JournalFile) -> None:
    assert say(journal, "hello") == 1
    assert texts(home, journal) == [None, "hello"]


def test_a_large_value_goes_to_a_blob_before_its_line(home: Home, journal: JournalFile) -> None:
    say(journal, "x" * 70_000)
    step = list(read_file(home, journal.path, load_blobs=True))[1].step
    assert step.values["content.text"] == "x" * 70_000
    assert len(list(home.blobs.glob("*/*"))) == 1
    assert len(journal.path.read_bytes()) < 5_000


def test_a_step_that_cannot_be_sealed_leaves_nothing_behind(home: Home, journal: JournalFile) -> None:
    before = journal.path.read_bytes()
    with pytest.raises(FormatError):
        journal.append({"type": "assistant", "source": "sdk"}, {"content.text": {1, 2}})  # type: ignore[dict-item]
    with pytest.raises(FormatError):
        journal.append({"type": "assistant", "source": "sdk"}, {"no such name": 1})
    assert journal.path.read_bytes() == before
    assert say(journal, "goes on") == 1


def test_two_openers_of_one_journal_continue_each_other(home: Home, archive: Archive, journal: JournalFile) -> None:
    other = JournalFile(home, journal.sid, journal.path, Sources(ticking_clock(), counting_seeds(2)))
    assert [say(journal, "a"), say(other, "b"), say(journal, "c")] == [1, 2, 3]
    archive.seal()
    assert verify_store(home).exit_code == 0


@pytest.mark.parametrize("tail", [b'{"entry":{"fie', b"\x00\x00\x00\x00", b"junk"])
def test_a_torn_tail_is_moved_away_and_recorded(
    home: Home, archive: Archive, journal: JournalFile, tail: bytes
) -> None:
    say(journal, "kept")
    archive.seal()
    with journal.path.open("ab") as file:
        file.write(tail)
    assert say(journal, "next") == 3
    assert types(home, journal) == ["session_start", "assistant", "recovery", "assistant"]
    assert next(home.torn.iterdir()).read_bytes() == tail
    archive.seal()
    assert verify_store(home).exit_code == 0


def test_a_line_with_nul_bytes_is_a_torn_tail_too(home: Home, archive: Archive, journal: JournalFile) -> None:
    say(journal, "kept")
    with journal.path.open("ab") as file:
        file.write(b"\x00" * 40 + b"\n")
    say(journal, "next")
    assert types(home, journal) == ["session_start", "assistant", "recovery", "assistant"]


def test_entries_below_a_signed_head_are_never_moved(home: Home, archive: Archive, journal: JournalFile) -> None:
    say(journal, "one")
    say(journal, "two")
    archive.seal()
    archive.close()
    data = journal.path.read_bytes()
    journal.path.write_bytes(data[:-10])
    again = Archive(home)
    with pytest.raises(JournalError, match="a signed head covers 3"):
        say(again.journal(SessionId(journal.sid)), "three")
    assert journal.path.read_bytes() == data[:-10]
    assert verify_store(home).exit_code == 2


def test_a_journal_that_was_changed_is_not_continued(home: Home, journal: JournalFile) -> None:
    say(journal, "one")
    say(journal, "two")
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(lines[0] + lines[2])
    fresh = JournalFile(home, journal.sid, journal.path, Sources(ticking_clock(), counting_seeds(2)))
    with pytest.raises(JournalError, match="does not follow"):
        say(fresh, "three")


def test_a_journal_that_was_taken_away_does_not_come_back_empty(home: Home, journal: JournalFile) -> None:
    journal.path.unlink()
    with pytest.raises(JournalError):
        say(journal, "again")
    assert not journal.path.exists()


def test_a_short_write_is_cut_back_and_the_next_step_is_sound(
    home: Home, archive: Archive, journal: JournalFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(journal, "one")
    before = journal.path.read_bytes()
    real = os.write

    def half(descriptor: int, data: bytes) -> int:
        return real(descriptor, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(JournalError, match="cannot append"):
        say(journal, "two")
    monkeypatch.undo()
    assert journal.path.read_bytes() == before
    assert say(journal, "two") == 2
    archive.seal()
    assert verify_store(home).exit_code == 0


def test_if_cutting_back_fails_too_the_journal_takes_no_more(
    journal: JournalFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "write", fail)
    monkeypatch.setattr(os, "ftruncate", fail)
    with pytest.raises(JournalError, match="cannot append"):
        say(journal, "two")
    monkeypatch.undo()
    with pytest.raises(JournalError, match="could not be cut back"):
        say(journal, "three")


def test_a_failed_sync_signs_nothing_and_fails_the_journal(
    home: Home, archive: Archive, journal: JournalFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.seal()
    note = home.note.read_bytes()
    say(journal, "one")

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)
    with pytest.raises(JournalError, match="durable"):
        archive.seal()
    monkeypatch.undo()
    assert home.note.read_bytes() == note
    with pytest.raises(JournalError, match="fdatasync failed"):
        say(journal, "two")


def _append_many(folder: Path, sid: str, name: str, count: int) -> None:
    archive = Archive(Home(folder))
    journal = archive.journal(SessionId(sid))
    for number in range(count):
        say(journal, f"{name}{number}")
    archive.seal()
    archive.close()


def test_several_writers_on_one_journal_lose_and_disturb_nothing(
    home: Home, archive: Archive, journal: JournalFile
) -> None:
    archive.seal()
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_many, args=(home.folder, journal.sid, name, 40)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    said = texts(home, journal)[1:]
    assert sorted(map(str, said)) == sorted(f"{name}{number}" for name in "abc" for number in range(40))
    verdict = verify_store(home)
    assert (verdict.exit_code, verdict.steps, verdict.unsealed) == (0, 121, 0)


def test_threads_on_one_journal_take_turns(home: Home, journal: JournalFile) -> None:
    threads = [threading.Thread(target=lambda: [say(journal, "x") for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [placed.step.n for placed in read_file(home, journal.path)] == list(range(201))


def test_a_lock_that_cannot_be_given_up_is_given_up_by_closing(
    home: Home, archive: Archive, journal: JournalFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock

    def refuse_to_unlock(descriptor: int, operation: int) -> None:
        if operation == fcntl.LOCK_UN:
            raise OSError(5, "Input/output error")
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", refuse_to_unlock)
    say(journal, "one")
    monkeypatch.undo()
    thread = threading.Thread(target=say, args=(journal, "two"))
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert texts(home, journal) == [None, "one", "two"]

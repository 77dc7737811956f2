from __future__ import annotations

import pytest

from tallystick.errors import JournalError
from tallystick.journal.archive import Archive, journal_starts
from tallystick.journal.file import JournalFile
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note
from tallystick.journal.session_keys import start_key
from tallystick.model.ids import SessionId
from tallystick.trust.verify import verify_store
from tests.journal.conftest import START, say


def test_a_session_of_an_agent_has_one_journal(archive: Archive, journal: JournalFile) -> None:
    again, made = archive.make_journal(START, {}, ())
    assert (again.sid, made) == (journal.sid, False)
    assert archive.find("demo", "s1") == journal.sid
    assert archive.find("demo", "s2") is None


def test_a_second_process_finds_the_journal_that_the_first_made(home: Home, archive: Archive) -> None:
    other = Archive(home)
    made, _ = archive.make_journal(START, {}, ())
    found, is_new = other.make_journal(START, {}, ())
    assert (found.sid, is_new) == (made.sid, False)


def test_an_id_that_does_not_fit_meta_is_found_too(home: Home, archive: Archive) -> None:
    meta = {key: value for key, value in START.items() if key != "source_session"}
    made, _ = archive.make_journal(meta, {"content.meta": {"source_session": "my chat, really"}}, ())
    assert Archive(home).find("demo", "my chat, really") == made.sid


def test_sealing_covers_every_entry_with_one_signed_head(home: Home, archive: Archive, journal: JournalFile) -> None:
    say(journal, "one")
    archive.seal()
    note = read_note(home)
    assert note is not None
    assert note.size == archive.ledger.file.size == 2
    verdict = verify_store(home)
    assert (verdict.unsealed, verdict.exit_code) == (0, 0)


def test_sealing_again_with_nothing_new_writes_nothing(home: Home, archive: Archive, journal: JournalFile) -> None:
    archive.seal()
    before = (home.ledger.read_bytes(), home.note.read_bytes())
    archive.seal()
    assert (home.ledger.read_bytes(), home.note.read_bytes()) == before


def test_entries_that_another_writer_left_unsealed_are_counted_as_adopted(
    home: Home, archive: Archive, journal: JournalFile
) -> None:
    archive.seal()
    dead = Archive(home)
    say(dead.journal(SessionId(journal.sid)), "left behind")
    say(journal, "mine")
    archive.seal()
    assert b'"adopted":1' in home.ledger.read_bytes().splitlines()[-1]


def test_an_unsigned_ledger_tail_that_fits_is_signed_over(home: Home, archive: Archive, journal: JournalFile) -> None:
    archive.seal()
    note = home.note.read_bytes()
    say(journal, "two")
    archive.seal()
    home.note.write_bytes(note)  # as after a crash between the ledger's sync and the note
    assert verify_store(home).exit_code == 0
    again = Archive(home)
    say(again.journal(SessionId(journal.sid)), "three")
    again.seal()
    assert verify_store(home).unsealed == 0


def test_an_unsigned_ledger_tail_that_lies_is_not_signed_over(
    home: Home, archive: Archive, journal: JournalFile
) -> None:
    archive.seal()
    meta = {"type": "session_head", "session": journal.sid, "size": 1, "root": "00" * 32, "closed": False}
    archive.ledger.append(meta)
    again = Archive(home)
    with pytest.raises(JournalError, match="does not fit"):
        again.sign()


def test_a_ledger_that_does_not_fit_its_head_is_not_opened(home: Home, archive: Archive, journal: JournalFile) -> None:
    archive.seal()
    archive.close()
    first = home.ledger.read_bytes().splitlines(keepends=True)[0]
    home.ledger.write_bytes(first)
    with pytest.raises(JournalError):
        Archive(home)
    assert verify_store(home).exit_code == 2


def test_the_first_lines_of_journals_name_their_sessions(home: Home, journal: JournalFile) -> None:
    assert [(sid, start_key(line)) for sid, line in journal_starts(home)] == [(journal.sid, ("demo", "s1"))]

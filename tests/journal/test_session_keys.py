from __future__ import annotations

from tallystick.journal.archive import Archive
from tallystick.journal.file import JournalFile
from tallystick.journal.home import Home
from tallystick.journal.session_keys import SessionKeys, start_key
from tests.journal.conftest import START


def test_the_first_line_names_the_session(journal: JournalFile) -> None:
    assert start_key(journal.path.read_bytes().splitlines()[0]) == ("demo", "s1")
    assert start_key(b"junk") is None


def test_a_session_is_found_and_one_that_was_made_later_when_looking_again(
    home: Home, archive: Archive, journal: JournalFile
) -> None:
    keys = SessionKeys(home)
    assert keys.find("demo", "s1") == journal.sid
    later, _ = archive.make_journal({**START, "source_session": "s2"}, {}, ())
    assert keys.find("demo", "s2") is None
    keys.look_again()
    assert keys.find("demo", "s2") == keys.known(("demo", "s2")) == later.sid

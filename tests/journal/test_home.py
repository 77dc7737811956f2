from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tallystick.errors import JournalError
from tallystick.journal.file import JournalFile
from tallystick.journal.home import Home, default_folder
from tallystick.model.ids import SessionId


def test_the_folder_is_tally_home_or_below_home() -> None:
    assert default_folder({"TALLY_HOME": "/x", "HOME": "/home/dev"}) == Path("/x")
    assert default_folder({"HOME": "/home/dev"}) == Path("/home/dev/.tally")


def test_a_journal_is_found_by_its_name_in_any_month(home: Home, journal: JournalFile) -> None:
    elsewhere = home.journals / "1999" / "12" / journal.path.name
    elsewhere.parent.mkdir(parents=True)
    journal.path.rename(elsewhere)
    assert Home(home.folder).journal(journal.sid) == elsewhere
    assert list(home.sessions()) == [(journal.sid, elsewhere)]


def test_other_files_among_journals_are_no_sessions(home: Home, journal: JournalFile) -> None:
    (journal.path.parent / "notes.txt").write_text("x")
    (journal.path.parent / "abc.jsonl").write_text("x")
    assert [sid for sid, _ in home.sessions()] == [journal.sid]
    assert home.journal("abc") is None
    assert home.journal("../../../ledger") is None


def test_a_new_journal_goes_to_its_month(home: Home) -> None:
    path = home.new_journal(SessionId("0" * 32), datetime(2026, 3, 4, tzinfo=UTC))
    assert path.relative_to(home.folder).as_posix() == f"journals/2026/03/{'0' * 32}.jsonl"


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    home = Home(tmp_path / "file" / "store")
    with pytest.raises(JournalError, match="cannot make the folder") as caught:
        home.make_folder(home.folder)
    assert "TALLY_HOME" in (caught.value.hint or "")


def test_a_journal_anywhere_below_is_one_by_its_name(home: Home, journal: JournalFile) -> None:
    for place in (home.journals, home.journals / "a" / "b" / "c"):
        place.mkdir(parents=True, exist_ok=True)
        moved = place / journal.path.name
        journal.path.rename(moved)
        assert list(home.sessions()) == [(journal.sid, moved)]
        assert home.session_ids() == {journal.sid}
        assert Home(home.folder).journal(journal.sid) == moved
        moved.rename(journal.path)
    (home.journals / f"{journal.sid}-copy.jsonl").write_text("x")
    assert home.session_ids() == {journal.sid}

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from tallystick.errors import JournalError
from tallystick.journal.archive import Archive, system_clock, system_seeds
from tallystick.journal.home import Home
from tallystick.journal.ledger import Watermark, make_ledger, read_note, root_of
from tallystick.trust.verify import verify_store
from tests.journal.conftest import counting_seeds, ticking_clock


def test_a_new_store_has_a_signed_start_and_private_files(home: Home) -> None:
    note = read_note(home)
    assert note is not None
    assert note.size == 1
    assert note.root == root_of(home.ledger, 1)
    for path in (home.ledger, home.key, home.note):
        assert path.stat().st_mode & 0o777 == 0o600
    assert home.folder.stat().st_mode & 0o777 == 0o700


def test_a_store_is_not_made_twice(home: Home) -> None:
    before = home.ledger.read_bytes()
    assert not make_ledger(home, clock=ticking_clock(), seeds=counting_seeds(3))
    assert home.ledger.read_bytes() == before


def _make(folder: Path) -> None:
    for number in range(20):
        home = Home(folder / str(number))
        make_ledger(home, clock=system_clock, seeds=system_seeds)


def test_processes_that_make_a_store_at_once_make_one(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    makers = [context.Process(target=_make, args=(tmp_path,)) for _ in range(3)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join(60)
    for number in range(20):
        assert verify_store(Home(tmp_path / str(number))).exit_code == 0


def test_the_last_import_of_a_path_is_its_watermark(home: Home, archive: Archive) -> None:
    for offset in (10, 20):
        meta = {"type": "import", "agent": "demo", "offset": offset, "steps": 1}
        archive.ledger.append(meta, {"local.source": {"path": "/home/dev/a", "digest": "d"}})
    assert Archive(home).ledger.watermarks == {"/home/dev/a": Watermark(20, "d")}


def test_the_root_of_more_entries_than_there_are_is_none(home: Home) -> None:
    assert root_of(home.ledger, 2) is None


def test_a_missing_key_says_what_to_do(home: Home, archive: Archive) -> None:
    home.key.unlink()
    with pytest.raises(JournalError, match="nothing can be signed") as caught:
        archive.ledger.sign()
    assert caught.value.hint


def test_a_head_can_be_kept_under_its_size(home: Home, archive: Archive) -> None:
    archive.ledger.sign(keep=True)
    assert home.kept_note(1).read_bytes() == home.note.read_bytes()


def test_a_ledger_in_which_a_size_falls_is_not_continued(home: Home, archive: Archive) -> None:
    head = {"type": "session_head", "session": "0" * 32, "root": "00" * 32, "closed": False}
    archive.ledger.append({**head, "size": 5})
    with pytest.raises(JournalError, match="falls"):
        archive.ledger.append({**head, "size": 4})
    with pytest.raises(JournalError, match="falls"):
        Archive(home)

from __future__ import annotations

import stat
from pathlib import Path

from tallystick.journal.home import Home
from tallystick.setup.backups import Backup, changed_files, digest, forget, keep, read_backup, read_before

_PATH = Path("/home/dev/.claude/settings.json")


def _backup(path: Path = _PATH, *, existed: bool = True) -> Backup:
    return Backup(path=str(path), after=digest(b"new"), existed=existed, folders=("/home/dev/.claude",))


def test_what_is_kept_is_found_until_it_is_forgotten(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    keep(home, "agent", _backup(), b"old")
    assert read_backup(home, "agent", _PATH) == _backup()
    assert read_before(home, "agent", _PATH) == b"old"
    assert changed_files(home, "agent") == [_PATH]
    assert changed_files(home, "another") == []
    forget(home, "agent", _PATH)
    assert read_backup(home, "agent", _PATH) is None
    assert list((tmp_path / "store" / "backups").iterdir()) == []
    forget(home, "agent", _PATH)


def test_a_file_is_untouched_while_it_holds_what_we_wrote() -> None:
    assert _backup().is_untouched(b"new")
    assert not _backup().is_untouched(b"newer")


def test_of_a_file_that_was_not_there_no_content_is_kept(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    keep(home, "agent", _backup(existed=False), b"")
    assert read_before(home, "agent", _PATH) is None


def test_settings_may_hold_secrets_so_nobody_else_reads_what_is_kept(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    keep(home, "agent", _backup(), b"old")
    kept = [tmp_path / "store", *(tmp_path / "store").rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in kept} == {0}


def test_a_note_that_is_damaged_is_no_note(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    keep(home, "agent", _backup(), b"old")
    (note,) = (tmp_path / "store").rglob("note.json")
    note.write_bytes(b'{"path": 1')
    assert read_backup(home, "agent", _PATH) is None
    assert changed_files(home, "agent") == []

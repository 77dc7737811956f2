from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tallystick.capture.settings_files import (
    ChangedError,
    read_settings,
    remove_folders,
    remove_settings,
    write_settings,
)
from tallystick.errors import SourceError


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_the_users_alone_and_its_folders_are_told(tmp_path: Path) -> None:
    made = write_settings(tmp_path / "a" / "b" / "c.json", b"x", expected=None)
    assert made == [tmp_path / "a", tmp_path / "a" / "b"]
    assert (_mode(tmp_path / "a" / "b" / "c.json"), _mode(tmp_path / "a")) == (0o600, 0o700)
    write_settings(tmp_path / "run", b"x", expected=None, executable=True)
    assert _mode(tmp_path / "run") == 0o700


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_permissions_stay(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(mode)
    assert write_settings(path, b"new", expected=b"old") == []
    assert (path.read_bytes(), _mode(path)) == (b"new", mode)


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    os.chown(path, 1, 2)
    write_settings(path, b"new", expected=b"old")
    assert (path.stat().st_uid, path.stat().st_gid) == (1, 2)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "kept" / "settings", tmp_path / "link"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link.symlink_to("kept/settings")
    write_settings(link, b"new", expected=b"old")
    assert link.is_symlink()
    assert (target.read_bytes(), sorted(tmp_path.rglob("*"))) == (b"new", [tmp_path / "kept", target, link])


def test_what_somebody_else_wrote_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"theirs")
    with pytest.raises(ChangedError):
        write_settings(path, b"ours", expected=b"old")
    with pytest.raises(ChangedError):
        remove_settings(path, expected=b"old")
    with pytest.raises(ChangedError):
        write_settings(path, b"ours", expected=None)
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"theirs", [path])


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        read_settings(tmp_path)
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 17 << 20)
    with pytest.raises(SourceError):
        read_settings(tmp_path / "huge")
    assert read_settings(tmp_path / "none") is None


def test_a_file_that_may_not_be_written_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everything
    with pytest.raises(SourceError, match="may not be written"):
        write_settings(path, b"new", expected=b"old")
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"old", [path])


def test_only_empty_folders_go(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "c"]
    folders[-1].mkdir(parents=True)
    (tmp_path / "a" / "kept").touch()
    remove_folders(folders)
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "a", tmp_path / "a" / "kept"]

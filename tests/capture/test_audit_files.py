from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.capture.audit_files import (
    MOST_BYTES,
    MOST_DEPTH,
    MOST_FILES,
    Below,
    files_below,
    linked_folder,
    others_may_change,
    read_file,
)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that other users can come to, as pytest's own are not."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_file_is_read_with_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"{}")
    file = read_file(path, tmp_path)
    assert file is not None
    assert (file.data, file.sha256, file.problem) == (b"{}", hashlib.sha256(b"{}").hexdigest(), None)


def test_what_is_not_there_or_is_a_folder_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert read_file(tmp_path / "none", tmp_path) is None
    assert read_file(tmp_path / "file" / "below", tmp_path) is None
    assert read_file(tmp_path, tmp_path) is None


def test_a_file_above_the_bound_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b" " * MOST_BYTES)
    file = read_file(path, tmp_path)
    assert file is not None
    assert len(file.data or b"") == MOST_BYTES
    path.write_bytes(b" " * (MOST_BYTES + 1))
    file = read_file(path, tmp_path)
    assert file is not None
    assert (file.data, file.problem) == (None, "larger than 256 KiB")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    file = read_file(tmp_path / "pipe", tmp_path)
    assert file is not None
    assert (file.data, file.problem) == (None, "no regular file")


def test_a_linked_folder_is_not_followed_but_a_linked_base_is(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.json").write_bytes(b"{}")
    (tmp_path / "link").symlink_to("real")
    file = read_file(tmp_path / "link" / "a.json", tmp_path)
    assert file is not None
    assert (file.data, file.linked_folder) == (None, tmp_path / "link")
    assert linked_folder(tmp_path / "link", tmp_path / "link") is None
    beneath = read_file(tmp_path / "link" / "a.json", tmp_path / "link")
    assert beneath is not None
    assert beneath.data == b"{}"


def test_a_linked_file_is_read_and_said_to_lead_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.json").write_bytes(b"{}")
    (tmp_path / "a.json").symlink_to("other/a.json")
    (tmp_path / "b.json").symlink_to("a2.json")
    (tmp_path / "a2.json").write_bytes(b"{}")
    file, beside = read_file(tmp_path / "a.json", tmp_path), read_file(tmp_path / "b.json", tmp_path)
    assert file is not None
    assert beside is not None
    assert (file.data, file.link) == (b"{}", tmp_path / "other" / "a.json")
    assert beside.link is None


def test_what_others_may_do_is_told_only_where_they_can_come(shared: Path, tmp_path: Path) -> None:
    for folder, reached in ((shared, True), (tmp_path, False)):
        if folder is tmp_path:
            folder.chmod(0o700)
        path = folder / "a.json"
        path.write_bytes(b"{}")
        path.chmod(0o666)
        file = read_file(path, folder)
        assert file is not None
        assert (file.writable, file.readable) == (reached, reached)
        assert others_may_change(path) is reached


def test_a_folder_that_others_may_write_puts_its_files_at_risk_unless_it_is_sticky(shared: Path) -> None:
    path = shared / "a.json"
    path.write_bytes(b"{}")
    path.chmod(0o600)
    shared.chmod(0o777)
    assert others_may_change(path)
    shared.chmod(0o1777)
    assert not others_may_change(path)


def test_files_below_are_found_by_ending_within_bounds(tmp_path: Path) -> None:
    deep = tmp_path
    for level in range(MOST_DEPTH + 3):
        (deep / f"{level}.md").write_bytes(b"")
        (deep / f"{level}.txt").write_bytes(b"")
        deep = deep / "d"
        deep.mkdir()
    (tmp_path / "loop").symlink_to(tmp_path)
    names = [path.name for path in files_below(tmp_path, (".md",)).paths]
    assert names == [f"{level}.md" for level in range(MOST_DEPTH)]


def test_files_below_stop_at_a_number(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 5):
        (tmp_path / f"{number}.md").write_bytes(b"")
    below = files_below(tmp_path, (".md",))
    assert (len(below.paths), below.is_whole) == (MOST_FILES, False)


def test_so_they_do_at_a_number_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        (tmp_path / f"{number}.txt").write_bytes(b"")
    assert files_below(tmp_path, (".md",)) == Below((), is_whole=True)
    monkeypatch.setattr("tallystick.capture.audit_files.MOST_ENTRIES", 10)
    assert files_below(tmp_path, (".md",)) == Below((), is_whole=False)


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert files_below(tmp_path / "none", ("",)) == Below(())

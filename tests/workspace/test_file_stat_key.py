"""What shows that files have changed."""

import os
from pathlib import Path

from tallystick.workspace.file_stat_key import stamp, stamp_of


def test_a_stamp_is_the_same_while_a_file_is(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert stamp(path) is None
    path.write_text("one")
    before = stamp_of((path, tmp_path / "none"))
    assert stamp_of((path, tmp_path / "none")) == before
    path.write_text("other")
    assert stamp_of((path, tmp_path / "none")) != before


def test_another_file_in_its_place_is_seen_though_size_and_time_are_the_same(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    for each in (path, other):
        each.write_text("same")
        os.utime(each, (1, 1))
    before = stamp(path)
    other.rename(path)
    assert stamp(path) != before


def test_a_path_that_can_be_none_is_none(tmp_path: Path) -> None:
    assert stamp(tmp_path / "a\0b") is None

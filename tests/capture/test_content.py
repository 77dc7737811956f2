"""The bytes of files, read within bounds."""

import os
from hashlib import sha256
from pathlib import Path

from tallystick.capture.content import Contents
from tallystick.policy.world import MOST_BYTES, Content, Unread

DIGEST = "sha256:" + sha256(b"text \xff").hexdigest()
LATER = 10**18 * 4
"""A time at which every file of a test is old."""


def read(path: Path, contents: Contents | None = None) -> Content | Unread:
    return (contents or Contents()).read(str(path))


def test_a_file_is_read_with_its_digest(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text \xff")
    assert read(tmp_path / "a") == Content(digest=DIGEST, text="text \ufffd")


def test_a_file_that_is_not_there_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    assert read(tmp_path / "b") is Unread.MISSING
    assert read(tmp_path / "a" / "b") is Unread.MISSING
    assert Contents().read("/\0") is Unread.UNREADABLE


def test_folders_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read(tmp_path) is Unread.UNREADABLE
    assert read(tmp_path / "pipe") is Unread.UNREADABLE
    assert Contents().read("/dev/zero") is Unread.UNREADABLE


def test_more_than_the_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "exact").write_bytes(b"x" * MOST_BYTES)
    (tmp_path / "more").write_bytes(b"x" * (MOST_BYTES + 1))
    (tmp_path / "program").write_bytes(b"\x7fELF\0" + b"x" * MOST_BYTES)
    assert isinstance(read(tmp_path / "exact"), Content)
    assert read(tmp_path / "more") is Unread.TOO_LARGE
    assert read(tmp_path / "program") is Unread.BINARY


def test_reading_that_takes_long_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    times = iter((0.0, 0.05, 0.2, 0.25, 0.4))
    contents = Contents(clock=lambda: next(times))
    assert read(tmp_path / "a", contents) is Unread.TOO_SLOW


def test_what_is_remembered_is_what_the_file_holds(tmp_path: Path) -> None:
    contents = Contents(now_ns=lambda: LATER)
    path = tmp_path / "a"
    path.write_text("one")
    first = read(path, contents)
    assert read(path, contents) is first
    path.write_text("two")
    assert read(path, contents) != first


def test_content_changed_behind_the_same_size_and_time_is_seen(tmp_path: Path) -> None:
    contents = Contents(now_ns=lambda: LATER)
    path = tmp_path / "a"
    path.write_text("one")
    before = path.stat()
    read(path, contents)
    path.unlink()
    path.write_text("two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    found = read(path, contents)
    assert isinstance(found, Content)
    assert found.text == "two"


def test_a_file_that_has_just_changed_is_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("one")
    contents = Contents(now_ns=lambda: path.stat().st_ctime_ns + 1000)
    assert read(path, contents) is not read(path, contents)


def test_little_is_kept(tmp_path: Path) -> None:
    contents = Contents(now_ns=lambda: LATER)
    path = tmp_path / "first"
    path.write_bytes(b"x" * MOST_BYTES)
    first = read(path, contents)
    for n in range(40):
        (tmp_path / str(n)).write_bytes(b"x" * MOST_BYTES)
        read(tmp_path / str(n), contents)
    again = read(path, contents)
    assert again == first
    assert again is not first

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from tallystick.errors import JournalError
from tallystick.journal.durable import one_writer, replace_file, write_whole


def test_a_file_is_replaced_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "note"
    replace_file(path, [b"one"])
    replace_file(path, [b"two", b"three"])
    assert path.read_bytes() == b"twothree"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [found.name for found in tmp_path.iterdir()] == ["note"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "note"
    replace_file(path, [b"old"])

    def failing() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(JournalError, match="No space left") as caught:
        replace_file(path, failing())
    assert caught.value.hint == "is the disk full?"
    assert path.read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == ["note"]


def test_what_the_disk_takes_in_pieces_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:3]))
    descriptor = os.open(tmp_path / "f", os.O_WRONLY | os.O_CREAT)
    write_whole(descriptor, b"0123456789")
    os.close(descriptor)
    assert (tmp_path / "f").read_bytes() == b"0123456789"


def test_of_several_writers_one_changes_a_file_after_another(tmp_path: Path) -> None:
    path = tmp_path / "count"
    path.write_text("0")

    def count() -> None:
        for _ in range(20):
            with one_writer(tmp_path):
                path.write_text(str(int(path.read_text()) + 1))

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "80"


def test_a_folder_that_is_not_there_cannot_be_held(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="No such file"), one_writer(tmp_path / "none"):
        pass

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.errors import JournalError
from tallystick.journal.durable import replace_file, write_whole


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

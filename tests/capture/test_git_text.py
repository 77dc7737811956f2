from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.capture import git_text
from tallystick.capture.git_text import GitText
from tallystick.capture.history import prefix_digest, split_lines
from tallystick.errors import SourceError
from tests.support.git_objects import empty_repository


def text_of(folder: Path, *parts: bytes) -> GitText:
    repository = empty_repository(folder)
    return GitText(str(folder), tuple(str(repository.create_blob(part)) for part in parts), sum(map(len, parts)))


def test_objects_are_read_as_one_text(tmp_path: Path) -> None:
    text = text_of(tmp_path, b"one\ntw", b"o\n")
    assert text.read_bytes() == b"one\ntwo\n"
    assert [line for line, _, _ in split_lines(text, lambda _: None)] == [b"one", b"two"]
    (tmp_path / "file").write_bytes(b"one\n")
    assert prefix_digest(text, 4) == prefix_digest(tmp_path / "file", 4)
    assert prefix_digest(text, 100) is None


def test_what_is_not_there_or_too_long_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = text_of(tmp_path, b"one\n")
    with pytest.raises(SourceError, match="cannot be read"):
        GitText(text.repository, ("0" * 40,), 4).read_bytes()
    with pytest.raises(SourceError, match="cannot be read"):
        GitText(str(tmp_path / "none"), text.objects, 4).open()
    monkeypatch.setattr(git_text, "MOST_BYTES", 3)
    with pytest.raises(SourceError, match="4 bytes; 3 are read"):
        text.read_bytes()

"""Files of hash-chain ledgers: found by name, read as they are, appended to whole lines at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.capture.ledger_files import LedgerFolder, append_line, ledger_lines
from tallystick.errors import AmbiguousError, NotFoundError, SourceError


def test_a_session_is_found_by_its_name_or_the_beginning_of_it(tmp_path: Path) -> None:
    ledgers = LedgerFolder(tmp_path)
    assert not ledgers.exists
    for name in ("1e23", "a1", "a2"):
        append_line(ledgers.path(name), b"{}\n")
    assert ledgers.sessions() == ["1e23", "a1", "a2"]
    assert ledgers.find("1e23") == ledgers.find("1e") == ledgers.find("session-1e23") == "1e23"
    with pytest.raises(AmbiguousError):
        ledgers.find("a")
    with pytest.raises(NotFoundError):
        ledgers.find("b")


def test_lines_keep_their_ends(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"one\ntwo")
    assert list(ledger_lines(tmp_path / "x")) == [b"one\n", b"two"]


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = LedgerFolder(tmp_path / "new").path("s")
    append_line(path, b"{}\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    path = LedgerFolder(tmp_path).path("s")
    path.parent.mkdir()
    path.symlink_to(tmp_path / "other")
    with pytest.raises(SourceError):
        append_line(path, b"{}\n")
    assert (tmp_path / "other").read_bytes() == b""


def test_what_cannot_be_written_is_an_error_with_the_file(tmp_path: Path) -> None:
    path = LedgerFolder(tmp_path).path("s")
    path.mkdir(parents=True)
    with pytest.raises(SourceError, match="cannot write"):
        append_line(path, b"{}\n")

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.errors import FormatError, JournalError
from tallystick.signer.pins import Pin, check_guarded, parse_status, pin_of, read_pins, write_pin
from tests.support.cases import each

STORE = "ab" * 16
PIN = Pin(store=STORE, key="did:key:z6Mk", socket="/run/x", signer=990, owner=1000, home="/home/dev/.tally")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root's files count, and this is another user")


@needs_root
def test_what_the_administrator_wrote_down_is_read_back(tmp_path: Path) -> None:
    write_pin(PIN, tmp_path / "etc")
    assert list(read_pins(tmp_path / "etc")) == [PIN]
    assert pin_of(STORE, tmp_path / "etc") == PIN
    assert pin_of("cd" * 16, tmp_path / "etc") is None


def test_where_nobody_wrote_anything_there_is_none(tmp_path: Path) -> None:
    assert list(read_pins(tmp_path / "etc")) == []


@needs_root
@pytest.mark.parametrize("what", ["file", "folder", "owner", "link"])
def test_what_others_may_write_counts_for_nothing(tmp_path: Path, what: str) -> None:
    path = write_pin(PIN, tmp_path / "etc")
    if what == "file":
        path.chmod(0o666)
    elif what == "folder":
        path.parent.chmod(0o777)
    elif what == "owner":
        os.chown(path, 12345, -1)
    else:
        (tmp_path / "open").mkdir(mode=0o700)
        os.chown(tmp_path / "open", 12345, -1)
        path.rename(tmp_path / "open" / "real.json")
        path.symlink_to(tmp_path / "open" / "real.json")
    with pytest.raises(JournalError, match="other users can change"):
        list(read_pins(tmp_path / "etc"))


@needs_root
def test_a_pin_that_is_none_is_an_error(tmp_path: Path) -> None:
    write_pin(PIN, tmp_path / "etc").write_text("{}")
    with pytest.raises(JournalError, match="cannot read"):
        list(read_pins(tmp_path / "etc"))


@needs_root
def test_in_a_folder_like_tmp_nobody_replaces_what_is_not_theirs(tmp_path: Path) -> None:
    (tmp_path / "sticky").mkdir()
    (tmp_path / "sticky").chmod(0o1777)
    inner = tmp_path / "sticky" / "file"
    inner.write_text("x")
    check_guarded(inner)


@each("data", [b"", b"200\n", b"200\n[]", b"403\n{}", b"200\n{", b"\xff\n{}"])
def test_what_is_no_status_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError):
        parse_status(data)

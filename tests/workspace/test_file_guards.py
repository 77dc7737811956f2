"""What is not a file in a file's place is found before anybody waits for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.trust.verify_named import verify, verify_session
from tallystick.workspace.file_guards import verdict_on_no_files
from tests.support.sealed import record

NAMES = ("ledger.jsonl", "heads/ledger.note", "config.toml", "graph.db", "keys/signer.json", "a journal")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    record(home, 2)
    return home


def place(home: Home, name: str) -> Path:
    path = next(home.sessions())[1] if name == "a journal" else home.folder / name
    path.unlink(missing_ok=True)
    return path


def test_a_store_of_files_is_read(home: Home) -> None:
    assert verdict_on_no_files(home) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_is_tampering_and_is_not_waited_for(home: Home, name: str) -> None:
    os.mkfifo(place(home, name))
    verdict = verify(home.folder)
    assert (verdict.exit_code, verdict.valid) == (2, False)
    assert "is not a file" in verdict.defects[0].why
    assert verify_session("s0", home=home.folder).exit_code == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_link_to_a_device_is_not_read(home: Home, name: str) -> None:
    place(home, name).symlink_to("/dev/zero")
    assert verify(home.folder).exit_code == 2


def test_a_head_that_is_too_large_is_over_the_limit(home: Home) -> None:
    os.truncate(home.note, 1 << 40)
    assert verify(home.folder).exit_code == 4


def test_a_link_to_a_file_is_as_good_as_the_file(home: Home) -> None:
    home.ledger.rename(home.folder / "elsewhere")
    home.ledger.symlink_to("elsewhere")
    assert verify(home.folder).exit_code == 0

"""A ledger that did not hold when it was imported never counts as sound again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.ingest.adapters import adapters
from tallystick.ingest.histories import Imported, find_histories, import_histories
from tallystick.ingest.ledger_checks import broken_ledgers
from tallystick.journal.home import Home
from tallystick.plugins.ledger import ProvenanceWriter
from tallystick.trust.verify import verify_store


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    with ProvenanceWriter("1e23", folder=tmp_path / "written", home=tmp_path / "own") as made:
        for _ in range(3):
            made.tool_call("shell", "ls", duration_ms=312)
    return made.path


def take_in(home: Home, path: Path) -> Imported:
    return import_histories(home, find_histories(path, (path,), adapters()), adapters())


def test_a_changed_ledger_is_an_alert_and_stays_one(ledger: Path, tmp_path: Path) -> None:
    home, whole = Home(tmp_path / "store"), ledger.read_bytes()
    lines = whole.splitlines(keepends=True)
    ledger.write_bytes(b"".join([lines[0], lines[1].replace(b"312", b"313"), *lines[2:]]))
    take_in(home, ledger)
    (alert,) = broken_ledgers(home)
    assert "record 1 (field)" in alert.message
    take_in(home, ledger)
    assert broken_ledgers(home) == (alert,)
    ledger.write_bytes(whole)
    take_in(home, ledger)
    assert alert in broken_ledgers(home)
    assert verify_store(home).exit_code == 0


def test_a_torn_or_open_ledger_holds(ledger: Path, tmp_path: Path) -> None:
    ledger.write_bytes(ledger.read_bytes()[:-40])
    home = Home(tmp_path / "store")
    (report,) = take_in(home, ledger).ledgers
    assert report.verdict.valid
    assert report.verdict.truncated
    assert not broken_ledgers(home)


def test_a_line_that_is_no_record_is_one_that_does_not_hold(ledger: Path, tmp_path: Path) -> None:
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join([lines[0], b"nonsense\n", *lines[1:]]))
    home = Home(tmp_path / "store")
    take_in(home, ledger)
    take_in(home, ledger)
    assert len(broken_ledgers(home)) == 1

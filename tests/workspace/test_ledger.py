"""What the ledger says of sessions."""

from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace import ledger
from tallystick.workspace.ledger import ledger_entries, newest_entries, sealed_sizes


def test_sealed_sizes_are_those_of_the_newest_heads(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        recorder.seal()
        session.prompt("more")
        recorder.seal()
        session.prompt("not sealed yet")
        assert sealed_sizes(home) == {session.id: 2}


def test_lines_that_are_none_of_ours_are_passed_over(home: Home) -> None:
    with home.ledger.open("ab") as file:
        file.write(b"odd\n")
    assert [entry.type for entry in ledger_entries(home)] == ["store_start"]


def test_without_a_store_there_are_no_entries(tmp_path: Path) -> None:
    assert list(ledger_entries(Home(tmp_path / "none"))) == []


@pytest.mark.parametrize("chunk", [7, 1 << 18])
def test_the_newest_entries_are_all_entries_backwards(home: Home, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    with Recorder(home.folder) as recorder:
        for number in range(3):
            recorder.session("demo", f"s{number}")
            recorder.seal()
    with home.ledger.open("ab") as file:
        file.write(b'odd "session_head"\n{"session_head"')
    monkeypatch.setattr(ledger, "_CHUNK", chunk)
    found = [entry.n for entry in newest_entries(home, holding=b'"session_head"')]
    assert found == [entry.n for entry in ledger_entries(home, holding=b'"session_head"')][::-1]
    assert len(found) == 3
    assert list(newest_entries(Home(home.folder / "none"), holding=b"")) == []

"""What the ledger says of sessions."""

from pathlib import Path

from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace.ledger import ledger_entries, sealed_sizes


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

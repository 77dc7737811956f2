"""Rebuilding on the command line."""

import sqlite3
from pathlib import Path

from tests.cli.conftest import Tally, TallyJson


def test_the_index_is_made_anew_and_says_the_same(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    before = tally("log", "--json").stdout
    result = tally("rebuild")
    assert result.exit_code == 0
    assert result.stdout == "index rebuilt: 289 steps of 8 sessions\nthe old index was the same, row for row\n"
    assert tally("log", "--json").stdout == before
    assert tally_json("rebuild")["differing"] == []


def test_a_damaged_index_is_mended_as_its_error_says(tally: Tally, full: Path) -> None:
    for path in (full / ".tally").glob("graph.db-*"):
        path.unlink()
    (full / ".tally" / "graph.db").write_bytes(b"damaged " * 5000)
    broken = tally("log")
    assert broken.exit_code == 1
    assert "tally rebuild" in broken.stderr
    assert tally("rebuild").exit_code == 0
    assert tally("log").exit_code == 0


def test_a_journal_that_cannot_be_read_is_named_and_the_exit_code_says_so(tally: Tally, full: Path) -> None:
    path = next((full / ".tally" / "journals").rglob("*.jsonl"))
    path.write_bytes(path.read_bytes() + b"odd\n")
    result = tally("rebuild")
    assert result.exit_code == 1
    assert f"session {path.stem[:8]} cannot be read from step " in result.stdout


def test_an_old_index_that_said_something_else_is_told(tally: Tally, full: Path) -> None:
    tally("log")  # so that the index knows the files of this copy
    database = sqlite3.connect(full / ".tally" / "graph.db")
    with database:
        database.execute("UPDATE sessions SET title = 'harmless' WHERE source_session = 'receipts-currency'")
    database.close()
    assert "the old index differed in 1 session: " in tally("rebuild").stdout

"""Exporting on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson


@pytest.mark.parametrize("name", ["jsonl", "ledger", "headless"])
def test_stdout_has_the_export_and_nothing_else(tally: Tally, tally_json: TallyJson, full: Path, name: str) -> None:
    result = tally("export", "a42b3437", "--format", name, "--with-content")
    assert result.exit_code == 0
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert records
    assert f"{name} does not carry " in result.stderr
    found = tally_json("export", "a42b3437", "--format", name, "--with-content")
    assert found["records"] == records
    assert found["losses"]


def test_without_content_is_the_default(tally: Tally, full: Path) -> None:
    assert "git push --force" not in tally("export", "a42b3437", "--format", "jsonl").stdout


def test_a_file_is_written_instead(tally: Tally, tally_json: TallyJson, full: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert tally("export", "a42b3437", "--format", "jsonl", "-o", out).stdout == f"wrote 61 lines to {out}\n"
    assert out.read_text() == tally("export", "a42b3437", "--format", "jsonl").stdout
    assert tally_json("export", "a42b3437", "--format", "jsonl", "-o", str(out))["lines"] == 61


def test_a_file_that_cannot_be_written_is_an_error(tally: Tally, full: Path, tmp_path: Path) -> None:
    result = tally("export", "a42b3437", "--format", "jsonl", "-o", tmp_path / "no" / "such" / "folder")
    assert result.exit_code == 1
    assert "No such file" in result.stderr

"""Exporting on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson


@pytest.mark.parametrize("name", ["jsonl", "ledger", "headless", "otel", "prov-json"])
def test_stdout_has_the_export_and_nothing_else(tally: Tally, tally_json: TallyJson, full: Path, name: str) -> None:
    result = tally("export", "a42b3437", "--format", name, "--with-content")
    assert result.exit_code == 0
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert records
    assert f"{name} does not carry " in result.stderr
    found = tally_json("export", "a42b3437", "--format", name, "--with-content")
    assert found["records"] == records
    assert found["losses"]
    assert found["origin"]["is_valid"] is True
    assert f"written from {found['origin']['entries']} entries of {found['origin']['session']}" in result.stderr


def test_a_journal_that_does_not_verify_is_told_of(tally: Tally, full: Path) -> None:
    (path,) = [
        path
        for path in full.glob(".tally/journals/*/*/*.jsonl")
        if b'a42b3437-edc3-4f9f-94df-46a5393a6b90"' in path.read_bytes()[:900]
    ]
    path.write_bytes(path.read_bytes().replace(b"ticket", b"tacket", 1))
    result = tally("export", "a42b3437", "--format", "otel")
    assert result.exit_code == 0
    assert "the journal does not verify" in result.stderr


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

"""Drafting an agent on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Tally, TallyJson

LINE = '{"id": "1", "timestamp": "2026-01-01T00:00:00Z", "role": "user", "content": "Sort it"}\n'


def test_what_was_written_and_what_comes_next_is_said(tally: Tally, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(LINE * 2)
    result = tally("new", "agent", "my-agent", "--from", str(tmp_path / "s.jsonl"), "--into", str(tmp_path / "it"))
    assert result.exit_code == 0
    assert "src/tallystick_my_agent/transcript.py" in result.stdout
    assert "next: take names, homes, hosts and tokens out of the recording" in result.stdout
    again = tally("new", "agent", "my-agent", "--from", str(tmp_path / "s.jsonl"), "--into", str(tmp_path / "it"))
    assert again.exit_code == 64
    assert "exists already" in again.stderr


def test_the_files_are_listed_as_json(tally_json: TallyJson, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(LINE * 2)
    into = str(tmp_path / "it")
    found = tally_json("new", "agent", "my-agent", "--from", str(tmp_path / "s.jsonl"), "--into", into)
    assert found["is_package"] is True
    assert all(Path(path).is_file() for path in found["written"])

"""`tally uninstall --purge` as a person runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever agents and supervisors the machine of the tests has, they are not run."""
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "BASH_COMPLETION_USER_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_nobody_is_asked_where_nobody_answers(tally: Tally, full: Path) -> None:
    done = tally("uninstall", "--purge")
    assert (done.exit_code, "--yes" in done.stderr) == (64, True)
    assert (full / ".tally" / "ledger.jsonl").exists()


def test_a_dry_run_says_what_would_be_lost(tally: Tally, full: Path) -> None:
    shown = tally("uninstall", "--purge", "--dry-run")
    assert shown.exit_code == 0
    assert "sessions (" in shown.stdout
    assert "the key that signs its heads" in shown.stdout
    assert (full / ".tally" / "ledger.jsonl").exists()


def test_everything_goes_with_yes(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    tally("install", "claude-code")
    found = tally_json("uninstall", "--purge", "--yes")
    assert found["lost"]["sessions"] > 0
    assert {item["part"] for item in found["items"]} >= {"hooks", "recorder", "store", "program"}
    assert not (full / ".tally").exists()
    again = tally("uninstall", "--purge", "--yes")
    assert (again.exit_code, "none at" in again.stdout) == (0, True)


def test_a_step_that_fails_is_1(tally: Tally, full: Path) -> None:
    tally("install", "claude-code")
    (full / ".claude" / "settings.json").write_text("{")
    done = tally("uninstall", "--purge", "--yes")
    assert done.exit_code == 1
    assert "it stays until" in done.stdout


@pytest.mark.parametrize("words", [["claude-code", "--purge"], ["--purge", "--project"], ["--all", "--yes"]])
def test_a_mistake_is_64(tally: Tally, words: list[str]) -> None:
    assert tally("uninstall", *words, "--yes").exit_code == 64

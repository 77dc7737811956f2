"""`tally completion`, and what pressing the key answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.capture.completion_files import SHELLS
from tests.cli.conftest import Tally


@pytest.fixture(autouse=True)
def usual_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "BASH_COMPLETION_USER_DIR"):
        monkeypatch.delenv(name, raising=False)


def completed(tally: Tally, user: Path, *words: str) -> list[str]:
    """What bash is offered for the last word."""
    asked = {"COMP_WORDS": " ".join(("tally", *words)), "COMP_CWORD": str(len(words)), "HOME": str(user)}
    result = tally(env={**asked, "_TALLY_COMPLETE": "bash_complete"}, prog_name="tally")
    return [line.partition(",")[2] for line in result.stdout.splitlines() if line]


def test_commands_settings_rules_and_sessions_are_completed(tally: Tally, full: Path) -> None:
    assert completed(tally, full, "ver") == ["version", "verify-log", "verify"]
    assert completed(tally, full, "config", "get", "output.l") == ["output.limit"]
    assert "secrets.read" in completed(tally, full, "policy", "show", "secrets.r")
    session = next((full / ".tally" / "journals").rglob("*.jsonl")).stem
    assert completed(tally, full, "session", "show", session[:8]) == [session[:12]]
    assert completed(tally, full, "install", "code") == ["codex"]


def test_another_store_is_asked_where_one_is_named(tally: Tally, full: Path, tmp_path: Path) -> None:
    session = next((full / ".tally" / "journals").rglob("*.jsonl")).stem
    assert completed(tally, full, "--home", str(tmp_path), "session", "show", session[:8]) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_printed_or_installed(tally: Tally, user: Path, shell: str) -> None:
    text = tally("completion", shell).stdout
    assert "_TALLY_COMPLETE" in text
    assert text.startswith("#compdef tally\n") == (shell == "zsh")
    assert "written" in tally("completion", shell, "--install").stdout
    (path,) = (path for path in user.rglob("*") if path.is_file())
    assert path.read_text() == text
    assert "is as it should be" in tally("completion", shell, "--install").stdout
    tally("uninstall", "--purge", "--yes")
    assert [path for path in user.rglob("*") if path.is_file()] == []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine\n")
    assert tally("completion", shell, "--install").exit_code == 1
    assert path.read_text() == "mine\n"

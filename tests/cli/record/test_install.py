"""Installing hooks on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever agents the machine of the tests has, they are not run."""
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "QWEN_HOME", "COPILOT_HOME", "CLINE_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_an_agent_is_hooked_and_let_go(tally: Tally, user: Path) -> None:
    settings = user / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "x"}')
    done = tally("install", "claude-code")
    assert (done.exit_code, "has the hook now" in done.stdout, "14 events" in done.stdout) == (0, True, True)
    assert json.loads(settings.read_text())["hooks"]
    assert "has the hook already" in tally("install", "claude-code").stdout
    assert "restored" in tally("uninstall", "claude-code").stdout
    assert settings.read_text() == '{"model": "x"}'
    assert "does not have the hook" in tally("uninstall", "claude-code").stdout
    assert tally("uninstall", "--all").stdout == "no hook of Tallystick is in the settings\n"


def test_an_installation_that_may_go_is_warned_of(tally: Tally, user: Path) -> None:
    done = tally("install", "claude-code")
    assert "runs from a checkout" in done.stderr
    assert "uv tool install" in done.stderr
    (warning,) = json.loads(tally("up", "--dry-run", "--json").stdout)["warnings"]
    assert "runs from a checkout" in warning
    assert "checkout" not in tally("uninstall", "claude-code").stderr


def test_a_dry_run_shows_a_diff_and_changes_nothing(tally: Tally, user: Path) -> None:
    shown = tally("install", "gemini", "--dry-run")
    assert shown.stdout.startswith("--- /dev/null\n+++ ")
    assert '+            "timeout": 10000' in shown.stdout
    assert list(user.rglob("*")) == []


def test_all_means_the_agents_that_are_found(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    assert tally("install", "--all").stdout == "no agent is found\n"
    (user / ".gemini").mkdir()
    (user / ".aider").mkdir()
    found = tally_json("install", "--all")
    assert [agent["agent"] for agent in found["agents"]] == ["gemini"]
    assert tally("uninstall", "--all").stdout.count("removed") == 1
    assert list((user / ".gemini").iterdir()) == []


def test_one_that_fails_does_not_keep_the_others_from_it(tally: Tally, user: Path) -> None:
    (user / ".claude").mkdir()
    (user / ".claude" / "settings.json").write_text("{")
    (user / ".gemini").mkdir()
    done = tally("install", "--all")
    assert done.exit_code == 1
    assert "claude-code: " in done.stderr
    assert "line 1, column 2" in done.stderr
    assert (user / ".gemini" / "settings.json").is_file()


def test_the_projects_settings_are_those_of_the_working_directory(
    tally: Tally, user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tally("install", "copilot", "--project")
    assert (tmp_path / ".github" / "hooks" / "tallystick.json").is_file()
    tally("uninstall", "copilot", "--project")
    assert not (tmp_path / ".github").exists()


def test_codex_must_be_trusted_and_that_is_said(tally: Tally) -> None:
    assert "/hooks" in tally("install", "codex").stdout


@pytest.mark.parametrize("words", [[], ["claude-code", "--all"], ["nobody"], ["claude"], ["opencode", "gemini"]])
def test_a_mistake_is_64(tally: Tally, words: list[str]) -> None:
    assert tally("install", *words).exit_code == 64
    assert tally("uninstall", *words).exit_code == 64


def test_a_malformed_file_is_1_with_the_line(tally: Tally, user: Path) -> None:
    (user / ".gemini").mkdir()
    (user / ".gemini" / "settings.json").write_text('{\n"a" 1}')
    done = tally("install", "gemini")
    assert (done.exit_code, "settings.json: line 2, column 5" in done.stderr) == (1, True)


def test_agents_are_told_with_what_is_not_seen_of_them(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    assert "no agent was found" in tally("agents").stdout
    (user / ".gemini").mkdir()
    tally("install", "gemini")
    shown = tally("agents").stdout
    assert shown.startswith("gemini\n")
    assert "7 events" in shown
    assert "ACP mode" in shown
    (agent,) = tally_json("agents")
    assert (agent["agent"], agent["found"], agent["trusted"], agent["last_event"]) == ("gemini", True, None, None)
    assert "BeforeTool" in agent["hooked"]
    everyone = {agent["agent"]: agent for agent in tally_json("agents", "--all")}
    assert not everyone["aider"]["can_be_hooked"]


def test_a_path_with_control_characters_is_shown_harmless(tally: Tally, user: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[31mb"
    folder.mkdir()
    shown = tally("install", "codex", env={"HOME": str(user), "CODEX_HOME": str(folder)}).stdout
    assert "\x1b[31m" not in shown


def test_all_over_http_means_those_that_can(tally: Tally, user: Path) -> None:
    (user / ".claude").mkdir()
    (user / ".gemini").mkdir()
    done = tally("install", "--all", "--http", "--dry-run")
    assert done.exit_code == 0
    assert done.stdout.count('+            "type": "http"') == 12
    assert tally("install", "gemini", "--http").exit_code == 64


@pytest.fixture(autouse=True)
def no_programs_of_purge(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_mistake_is_64_of_purge(tally: Tally, words: list[str]) -> None:
    assert tally("uninstall", *words, "--yes").exit_code == 64

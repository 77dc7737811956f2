"""What is offered where a name is to be typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.guard.policy_rules import rules_in_force
from tallystick.journal.home import Home
from tallystick.workspace.completing import agent_names, rule_ids, setting_names, step_names
from tallystick.workspace.settings import SETTINGS


def test_all_rules_and_settings_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = Home(tmp_path)
    offered = {rule for rule, _ in rule_ids(home, "")}
    assert {row.id for row in rules_in_force(home, None).rules} <= offered
    assert [name for name, _ in setting_names(home, "")] == [setting.key for setting in SETTINGS]
    assert [name for name, _ in setting_names(home, "output.")] == ["output.limit", "output.pager"]
    assert ("codex", "") in agent_names(home, "co")


def test_a_rule_of_the_users_is_offered_with_where_it_is_from(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "policy").mkdir()
    (tmp_path / "policy" / "own.cedar").write_text('@id("mine.first")\nforbid (principal, action, resource);\n')
    assert rule_ids(home, "mine.") == [("mine.first", "yours")]


def test_before_the_colon_sessions_are_offered(imported_samples: Path) -> None:
    home = Home(imported_samples / ".tally")
    session = home.files()[0][0][:8]
    assert [name for name, _ in step_names(home, session)] == [home.files()[0][0][:12]]
    assert f"{session}:0" in [name for name, _ in step_names(home, f"{session}:")] or step_names(home, f"{session}:1")

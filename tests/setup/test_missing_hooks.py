"""Hooks that were installed and are gone: noticed at the second look, and nothing else is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from tallystick.agents.hooks import hook_adapters
from tallystick.capture.surroundings import Surroundings
from tallystick.journal.home import Home
from tallystick.setup.backups import changed_files, note_of
from tallystick.setup.install import install, uninstall
from tallystick.setup.missing_hooks import MissingHooks

AGENTS = tuple(hook_adapters())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "user").mkdir()
    return Home(tmp_path / "store")


@pytest.fixture
def where(tmp_path: Path) -> Surroundings:
    return Surroundings(user=tmp_path / "user")


def seen(missing: MissingHooks) -> dict[str, str]:
    """What two looks find; what only one does is in doubt."""
    assert missing.look() == {}
    return missing.look()


def settings(home: Home, agent: str = "claude-code") -> Path:
    return changed_files(home, agent)[0]


@pytest.mark.parametrize("agent", AGENTS)
def test_those_of_each_agent_are_missed_once_all_are_gone_and_not_before(
    home: Home, where: Surroundings, agent: str
) -> None:
    missing = MissingHooks(home, where)
    assert seen(missing) == {}, "nothing was installed"
    install(home, agent, where)
    assert seen(missing) == {}
    assert set(missing.installed()) == {agent}
    for path in changed_files(home, agent):
        path.unlink()
    assert set(seen(missing)) == {agent}
    assert set(seen(MissingHooks(home, where))) == {agent}, "by a recorder that starts later, too"
    uninstall(home, agent, where)
    assert seen(MissingHooks(home, where)) == {}
    assert missing.installed() == {}


def test_some_that_are_gone_are_named(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    path = settings(home)
    said = json.loads(path.read_bytes())
    del said["hooks"]["PreToolUse"], said["hooks"]["Stop"]
    path.write_text(json.dumps(said))
    assert seen(MissingHooks(home, where)) == {
        "claude-code": f"hooks of claude-code are gone from {path}: PreToolUse, Stop"
    }


def test_a_command_of_someone_else_in_their_place_is_none_of_ours(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    path = settings(home)
    path.write_text(path.read_text().replace("tallystick/hook.py", "tallystick/hooks.py"))
    assert seen(MissingHooks(home, where)) == {"claude-code": f"the hooks of claude-code are gone from {path}"}


def test_hooks_that_are_switched_off_are_as_good_as_gone(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    path = settings(home)
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "disableAllHooks": True}))
    assert "switched off" in seen(MissingHooks(home, where))["claude-code"]


def test_what_the_user_has_besides_changes_nothing(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    missing, path = MissingHooks(home, where), settings(home)
    assert seen(missing) == {}
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "model": "opus", "permissions": {}}))
    assert seen(missing) == {}


def test_settings_that_an_agent_is_writing_are_not_taken_for_emptied(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    missing, path = MissingHooks(home, where), settings(home)
    whole = path.read_bytes()
    for half in (b"", whole[:50]):
        path.write_bytes(half)
        assert missing.look() == {}
        assert missing.is_unsure
        path.write_bytes(whole)
        assert seen(missing) == {}
        assert not missing.is_unsure


def test_settings_that_cannot_be_read_are_reported(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    settings(home).write_text("{")
    assert "cannot be read" in seen(MissingHooks(home, where))["claude-code"]


def test_a_note_of_before_says_that_there_were_hooks_and_not_which(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    path = settings(home)
    note = note_of(home, "claude-code", path)
    old = {name: value for name, value in msgspec.json.decode(note.read_bytes()).items() if name != "events"}
    note.write_bytes(msgspec.json.encode(old))
    missing = MissingHooks(home, where)
    assert seen(missing) == {}
    said = json.loads(path.read_bytes())
    del said["hooks"]["Stop"]
    path.write_text(json.dumps(said))
    assert "Stop" in seen(missing)["claude-code"], "it was there at the first look"
    path.write_text("{}")
    assert set(seen(MissingHooks(home, where))) == {"claude-code"}


def test_those_of_a_project_are_missed_unless_the_project_is_gone(
    home: Home, where: Surroundings, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    install(home, "claude-code", Surroundings(user=where.user, project=project))
    missing = MissingHooks(home, where)
    assert seen(missing) == {}
    assert missing.installed() == {}, "sessions elsewhere need not be heard"
    (project / ".claude" / "settings.json").write_text("{}")
    assert set(seen(missing)) == {"claude-code"}
    shutil.rmtree(project)
    assert seen(missing) == {}


def test_a_folder_that_a_variable_named_is_looked_at_without_it(
    home: Home, where: Surroundings, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    install(home, "claude-code", Surroundings(user=where.user, environment={"CLAUDE_CONFIG_DIR": str(elsewhere)}))
    missing = MissingHooks(home, where)
    assert seen(missing) == {}
    (elsewhere / "settings.json").unlink()
    assert set(seen(missing)) == {"claude-code"}

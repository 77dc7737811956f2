"""What is protected, by the home folder that a call is judged by."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.guard.grounds import AgentMachine, Grounds
from tallystick.journal.home import Home
from tallystick.policy.protected.places import Kind


@pytest.fixture
def grounds(tmp_path: Path) -> Grounds:
    return Grounds(Home(tmp_path / "store"), AgentMachine(Path("/var/own"), environment={"CODEX_HOME": "/conf"}))


def kinds(grounds: Grounds, home: str | None, path: str) -> set[Kind]:
    return set(grounds.at(home).places.touched(path, (), deep=False))


@pytest.mark.parametrize("home", [None, "", "/", "//", "relative", "/var/own", "/var/own/"])
def test_without_a_home_folder_of_its_own_the_machines_counts(grounds: Grounds, home: str | None) -> None:
    assert grounds.at(home).home == "/var/own"
    assert grounds.at(home) is grounds.at(None)


def test_settings_of_both_homes_are_protected(grounds: Grounds) -> None:
    for path in ("/home/dev/.claude/settings.json", "/var/own/.claude/settings.json", "/conf/hooks.json"):
        assert Kind.HOOK_SETTINGS in kinds(grounds, "/home/dev", path), path
    assert Kind.HOOK_SETTINGS not in kinds(grounds, None, "/home/dev/.claude/settings.json")


def test_variables_are_those_of_the_home(grounds: Grounds) -> None:
    found = grounds.at("/home/dev").variables
    assert (found["HOME"], found["USER"], found["CODEX_HOME"]) == ("/home/dev", "dev", "/conf")


def test_few_homes_are_kept_and_any_is_found_again(grounds: Grounds) -> None:
    for number in range(100):
        assert grounds.at(f"/srv/{number}").home == f"/srv/{number}"
    assert grounds.home_above("/srv/99/notes") == "/srv/99"
    assert grounds.home_above("/srv/1/notes") == "/var/own"
    assert grounds.at("/srv/1").home == "/srv/1"

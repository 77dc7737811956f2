"""A store's beginning, and where it stands."""

import tomllib
from pathlib import Path

import pytest

from tallystick.cli.version import VERSION
from tests.cli.conftest import Tally, TallyJson


def test_the_version_is_that_of_the_package(tally: Tally, tally_json: TallyJson) -> None:
    with (Path(__file__).parents[3] / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == VERSION
    assert tally("version").stdout.startswith(f"tallystick {VERSION}, record format 1, Python 3.")
    assert tally_json("version")["version"] == VERSION


def test_init_makes_a_store_once(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    made = tally("init")
    assert made.exit_code == 0
    assert made.stdout.startswith(f"made a store at {user}/.tally\n")
    assert "A2" in made.stdout
    key = (user / ".tally" / "keys" / "log.key").read_bytes()
    again = tally_json("init")
    assert not again["made"]
    assert again["key"] in made.stdout
    assert (user / ".tally" / "keys" / "log.key").read_bytes() == key
    assert "store exists at" in tally("init").stdout


def test_a_store_is_for_its_owner_alone(tally: Tally, user: Path) -> None:
    tally("init")
    tally("status")
    for path in (user / ".tally", *(user / ".tally").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_init_says_why_it_cannot(tally: Tally, user: Path) -> None:
    (user / "file").write_text("")
    result = tally("init", "--home", user / "file" / "below")
    assert result.exit_code == 1
    assert "cannot make the folder" in result.stderr
    assert "hint: " in result.stderr


def test_status_says_what_is_there(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    shown = tally("status").stdout
    assert "8 (claude-code 4, codex 2, gptme 1, headless 1)" in shown
    assert "0 not sealed" in shown
    assert "current" in shown
    assert tally_json("status")["entries"] == 289


def test_status_names_each_process(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"pid": 11, "deliveries": 3, "decider": {"pid": 12}, "indexer": {"pid": 13}, "shadower": {"pid": 14}}
    monkeypatch.setattr("tallystick.capture.recorder.status", lambda *_, **__: said)
    tally("init")
    shown = " ".join(tally("status").stdout.split())
    assert "pid 11, 12 judges calls, 13 keeps the index, 14 compares sessions with their transcripts, 3 deliv" in shown


def test_status_of_an_empty_store(tally: Tally) -> None:
    tally("init")
    assert "sessions      0\n" in tally("status").stdout


def test_status_says_whether_checkpoints_are_made(tally: Tally, full: Path) -> None:
    shown = tally("status").stdout
    assert "4 (compaction 1, phase 3)" in shown
    assert "checkpoints are on, auto_on_step_complete on, auto_on_policy on, at most 100 a session" in shown
    tally("config", "set", "checkpoints.max_per_session", "0")
    tally("config", "set", "checkpoints.auto_on_policy", "off")
    assert "auto_on_policy off, any number in a session, kept 30 days" in tally("status").stdout
    tally("config", "set", "checkpoints.enabled", "off")
    assert "checkpoints are off, auto_on_step_complete on, auto_on_policy off, any number" in tally("status").stdout

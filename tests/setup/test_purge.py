"""Ending and removing everything that Tallystick started or wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.ask.prices import FILE as PRICES
from tallystick.ask.session_costs import FILE as RATES
from tallystick.capture import recorder, supervisor
from tallystick.capture.completion_files import MARK, completion_file, completion_files, write_completion
from tallystick.capture.place import Place
from tallystick.capture.surroundings import Surroundings
from tallystick.journal.home import Home
from tallystick.setup.install import install
from tallystick.setup.purge import _OF_THE_STORE, Item, State, losses, purge
from tests.support import recorders


@pytest.fixture
def user(imported_samples: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "user"
    shutil.copytree(imported_samples, folder)
    return folder


@pytest.fixture
def home(user: Path) -> Iterator[Home]:
    store = Home(user / ".tally")
    yield store
    recorder.stop(store.folder)


@pytest.fixture
def where(user: Path) -> Surroundings:
    return Surroundings(user=user, environment={"HOME": str(user), "PATH": "/nowhere"})


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def of(items: list[Item], part: str) -> list[State]:
    return [item.state for item in items if item.part == part]


def connect_everything(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    install(home, "gptme", where)
    unit = where.user / ".config" / "systemd" / "user" / "tallystick.service"
    unit.parent.mkdir(parents=True)
    unit.write_text(supervisor.systemd(home.folder))
    wanted = unit.parent / "default.target.wants" / unit.name
    wanted.parent.mkdir()
    wanted.symlink_to(unit)
    agent = where.user / "Library" / "LaunchAgents" / "dev.tallystick.recorder.plist"
    agent.parent.mkdir(parents=True)
    agent.write_text(supervisor.launchd(home.folder))
    write_completion(completion_file("bash", where.user, where.environment), f"# {MARK} bash`.\n")


def test_nothing_of_ours_is_left_and_a_second_run_is_fine(home: Home, where: Surroundings) -> None:
    shutil.rmtree(home.folder)
    before = tree(where.user)
    connect_everything(home, where)
    recorders.start(home.folder)
    items = list(purge(home, where))
    assert of(items, "hooks") == [State.DONE] * 2
    assert of(items, "unit") == [State.DONE] * 2
    assert of(items, "recorder") == of(items, "completion") == of(items, "store") == [State.DONE]
    assert Place(home.folder).owner() is None
    assert tree(where.user) == before
    assert not home.folder.exists()
    again = list(purge(home, where))
    assert {item.state for item in again if item.part != "program"} == {State.NOTHING}
    assert tree(where.user) == before


def test_a_dry_run_changes_nothing_and_says_the_same(home: Home, where: Surroundings) -> None:
    connect_everything(home, where)
    before = tree(where.user)
    planned = list(purge(home, where, dry_run=True))
    assert tree(where.user) == before
    done = list(purge(home, where))
    assert [(item.part, item.said) for item in planned] == [(item.part, item.said) for item in done]
    assert {item.state for item in planned} <= {State.PLANNED, State.NOTHING, State.STAYS}


def test_a_hook_that_cannot_be_removed_keeps_the_store(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    settings = where.user / ".claude" / "settings.json"
    good = settings.read_bytes()
    settings.write_bytes(b"{")
    items = list(purge(home, where))
    assert State.FAILED in of(items, "hooks")
    assert of(items, "store") == [State.STAYS]
    assert home.exists
    settings.write_bytes(good)
    assert of(list(purge(home, where)), "store") == [State.DONE]
    assert not home.folder.exists()


def test_what_is_not_ours_in_the_folder_stays(home: Home, where: Surroundings) -> None:
    (home.folder / "notes").mkdir()
    (item,) = [item for item in purge(home, where) if item.part == "store"]
    assert "it holds notes" in item.said
    assert [path.name for path in home.folder.iterdir()] == ["notes"]


def test_a_folder_without_a_store_is_left_alone(where: Surroundings, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "policy").mkdir(parents=True)
    assert of(list(purge(Home(other), where)), "store") == [State.NOTHING]
    assert (other / "policy").is_dir()


def test_units_of_another_store_stay(home: Home, where: Surroundings, tmp_path: Path) -> None:
    unit = where.user / ".config" / "systemd" / "user" / "other.service"
    unit.parent.mkdir(parents=True)
    unit.write_text(supervisor.systemd(tmp_path / "other"))
    (unit.parent / "mine.service").write_text("[Service]\nExecStart=/bin/true\n")
    assert of(list(purge(home, where)), "unit") == [State.STAYS]
    assert sorted(path.name for path in unit.parent.iterdir()) == ["mine.service", "other.service"]


def test_a_completion_of_somebody_elses_stays(home: Home, where: Surroundings) -> None:
    path = completion_file("fish", where.user, where.environment)
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n")
    assert list(completion_files(where.user, where.environment)) == []
    list(purge(home, where))
    assert path.read_text() == "# mine\n"


def test_what_will_be_lost_is_counted(home: Home, where: Surroundings) -> None:
    (home.folder / "policy").mkdir()
    (home.folder / "policy" / "own.cedar").touch()
    found = losses(home)
    assert found is not None
    assert (found.sessions, found.own_policies, found.has_key) == (len(home.files()), 1, True)
    assert 0 < found.journal_bytes < found.total_bytes
    list(purge(home, where))
    assert losses(home) is None


def test_each_file_that_a_store_has_is_known(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    recorders.start(home.folder)
    recorder.stop(home.folder)
    there = {path.name for path in home.folder.iterdir() if not path.name.startswith("graph.db")}
    assert there - _OF_THE_STORE == {"ledger.jsonl"}
    assert {PRICES, RATES} <= _OF_THE_STORE
    assert json.dumps(sorted(_OF_THE_STORE))

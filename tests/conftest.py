"""The machine that every test finds, and a store that holds the sample sessions."""

from __future__ import annotations

import gc
import itertools
import re
import shutil
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import pytest

from tallystick.graph.journals import Depth
from tallystick.ingest.adapters import adapters
from tallystick.ingest.histories import Reading, find_histories, import_histories
from tallystick.journal.home import Home
from tallystick.setup.demo import lay_out_samples
from tallystick.workspace.indexing import open_index
from tests.support import cases, hooks, laws, machine, processes, recorders
from tests.support.made_once import made_once

pytest_plugins = ("tests.support.fixtures",)

MACHINE = machine.set_up()
_LONGEST_ID = 200
_FOLDERS = itertools.count()
laws.register()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--row TEXT` runs only those rows of a table that contain a text."""
    parser.addoption("--row", metavar="TEXT", help="of tests that go through a table, run only the rows with this text")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a long value by its beginning and its length: an id of megabytes goes into every report and the environment."""
    if isinstance(val, str | bytes) and len(val) > _LONGEST_ID:
        return f"{val[:_LONGEST_ID]!r}, {len(val)} long"
    return None


def pytest_configure(config: pytest.Config) -> None:
    """Say to the tables which rows are asked for."""
    cases.run_only(config.getoption("--row"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What collecting makes stays until the end: neither it nor any test lets the collector of garbage look through it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)  # as the program's commands have it
        gc.enable()


def pytest_unconfigure() -> None:
    """Remove what this process made for itself."""
    recorders.close()
    MACHINE.close()
    hooks.remove()


@pytest.fixture(autouse=True)
def _every_test_finds_the_same_machine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test sets for the whole process, or leaves running, is gone before the next."""
    MACHINE.restore()
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    before = processes.children()
    yield
    MACHINE.restore()
    if folder is not None and processes.children() != before:
        processes.stop_below(folder)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for one test alone. pytest's own looks through the folders of all tests before each new one."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(_FOLDERS)}"
    folder.mkdir(0o700)
    return folder


@pytest.fixture(scope="session")
def imported_samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder whose sample sessions were imported into its `.tally`. Not to be changed: see `samples`."""
    return made_once(tmp_path_factory, "imported", _import_samples)


def _import_samples(folder: Path) -> None:
    lay_out_samples(folder)
    known = adapters()
    done = import_histories(Home(folder / ".tally"), find_histories(folder, (), known), known, Reading(UTC))
    assert not done.report.has_errors


@pytest.fixture
def samples(imported_samples: Path, tmp_path: Path) -> Home:
    """The store with the sample sessions, for one test alone."""
    shutil.copytree(imported_samples, tmp_path / "samples")
    return Home(tmp_path / "samples" / ".tally")


@pytest.fixture(scope="session")
def indexed_samples(imported_samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The same with an index that has the text of all steps, for tests that only ask. Not to be changed."""
    folder = tmp_path_factory.mktemp("indexed")
    shutil.copytree(imported_samples, folder, dirs_exist_ok=True)
    home = Home(folder / ".tally")
    with open_index(home, depth=Depth.TEXT):
        return home

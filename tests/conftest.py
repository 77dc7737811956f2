"""A store that holds the sample sessions, for the tests of all packages that read one."""

from __future__ import annotations

import os
import shutil
from datetime import UTC
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.operations.adapters import adapters
from tallystick.operations.demo import lay_out_samples
from tallystick.operations.histories import find_histories, import_histories

for _name in ("CI", "TALLY_NONINTERACTIVE"):
    os.environ.pop(
        _name, None
    )  # nobody is asked where they are set, so an `ask` is a `deny`: the tests say it themselves


@pytest.fixture(scope="session")
def imported_samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder whose sample sessions were imported into its `.tally`. Not to be changed: see `samples`."""
    folder = tmp_path_factory.mktemp("imported") / "user"
    lay_out_samples(folder)
    known = adapters()
    done = import_histories(Home(folder / ".tally"), find_histories(folder, (), known), known, zone=UTC)
    assert not done.report.has_errors
    return folder


@pytest.fixture
def samples(imported_samples: Path, tmp_path: Path) -> Home:
    """The store with the sample sessions, for one test alone."""
    shutil.copytree(imported_samples, tmp_path / "samples")
    return Home(tmp_path / "samples" / ".tally")

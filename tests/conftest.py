"""A store that holds the sample sessions, for the tests of all packages that read one."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import pytest

from tallystick.ingest.adapters import adapters
from tallystick.ingest.histories import find_histories, import_histories
from tallystick.journal.home import Home
from tallystick.setup.demo import lay_out_samples

for _name in ("CI", "TALLY_NONINTERACTIVE"):
    os.environ.pop(
        _name, None
    )  # nobody is asked where they are set, so an `ask` is a `deny`: the tests say it themselves

pytest_plugins = ("tests.support.fixtures",)

_UMASK = 0o022
os.umask(_UMASK)


@pytest.fixture(autouse=True)
def _what_a_program_sets_for_itself() -> Iterator[None]:
    """What the recorder and the signer set for the whole process is theirs: no later test of this process meets it."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    os.umask(_UMASK)
    for number, handler in handlers.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


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

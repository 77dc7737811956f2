"""`tally` as a person runs it, in a home folder of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tallystick.cli import main

Tally = Callable[..., Result]
TallyJson = Callable[..., Any]

# The longest sample session: a sub-agent, a failing test, a push that was refused.
DISCOUNT = "a42b3437-edc3-4f9f-94df-46a5393a6b90"


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """An empty home folder."""
    folder = tmp_path / "user"
    folder.mkdir()
    return folder


@pytest.fixture
def tally(user: Path) -> Tally:
    """`tally(*words)`: run a command, with nothing in its environment but HOME and what tests of output need."""
    environment = {"HOME": str(user), "TALLY_HOME": None, "NO_COLOR": None, "COLUMNS": "120", "TERM": "xterm"}
    runner = CliRunner(env=environment)
    return lambda *words, **more: runner.invoke(main, [str(word) for word in words], **more)


@pytest.fixture
def tally_json(tally: Tally) -> TallyJson:
    """`tally_json(*words)`: what a command says with --json; it has exit code 0 and an envelope as documented."""

    def ask(*words: str | Path) -> Any:
        result = tally(*words, "--json")
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert set(found) == {"schema", "version", "data", "warnings"}
        assert found["schema"].startswith("tally.")
        return found["data"]

    return ask


@pytest.fixture
def full(imported_samples: Path, user: Path) -> Path:
    """The home folder of `tally`, with the sample sessions imported, for one test alone."""
    shutil.copytree(imported_samples, user, dirs_exist_ok=True)
    return user

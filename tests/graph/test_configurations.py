"""Where sessions tell what they run under."""

from pathlib import Path

import pytest

from tallystick.graph.configurations import telling_steps
from tallystick.graph.lookup import resolve_session
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.recording.run_config.declared import RunsUnder
from tallystick.workspace.indexing import open_index


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "store")


def test_the_checkpoints_and_changes_of_one_session_are_found_in_order(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        for name in ("one", "two"):
            with recorder.session("mine", name, configuration=RunsUnder(inputs={"a": {"x": 1}})) as session:
                session.prompt("hi")
                session.runs_under(RunsUnder(inputs={"a": {"x": 2}}))
    with open_index(home) as index:
        asked = resolve_session(index.graph, "two").session
        found = telling_steps(index.graph, asked)
        assert [(n, kind) for n, kind, _ in found] == [(1, "checkpoint"), (3, "config_change")]
        assert [n for n, _, _ in telling_steps(index.graph, asked, until=2)] == [1]
        assert telling_steps(index.graph, "0" * 32) == []

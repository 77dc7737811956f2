"""Who may write the index: one process at a time. The indexer that is asked is in tests/service/test_indexer.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.graph.graph import GraphError
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace import index_writer
from tallystick.workspace.index_writer import Request, ask, claim, claimed
from tallystick.workspace.indexing import open_index


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "store")
    with Recorder(found.folder) as recorder:
        recorder.session("demo").prompt("hello")
    return found


def test_a_store_that_no_recorder_had_needs_no_claim(home: Home) -> None:
    with claim(home) as one, claim(home) as other:
        assert (one, other) == (True, True)
    assert not (home.folder / "run").exists()


def test_one_may_write_at_a_time(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_writer, "PATIENCE_S", 0.05)
    (home.folder / "run").mkdir()
    with claimed(home):
        with claim(home) as other:
            assert not other
        with pytest.raises(GraphError, match="being written by another process"), claimed(home):
            pass
    with claim(home) as other:
        assert other


def test_a_reader_uses_the_index_as_it_is_while_another_one_writes(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_writer, "PATIENCE_S", 0.05)
    (home.folder / "run").mkdir()
    with open_index(home):
        pass
    with claimed(home):
        with open_index(home) as index:
            assert index.remarks == []  # nothing is new
        with Recorder(home.folder) as recorder:
            recorder.session("demo").prompt("more")
        with open_index(home) as index:
            assert index.remarks[0].startswith("the index is stale")
    with open_index(home) as index:
        assert index.remarks == []


def test_without_an_indexer_no_one_answers(home: Home) -> None:
    assert ask(home, Request()) is None

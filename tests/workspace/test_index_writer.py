"""Who may write the index: one process at a time. The indexer that is asked is in tests/service/test_indexer.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.graph.graph import GraphError
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace import index_writer
from tallystick.workspace.index_writer import Request, ask, claim, claimed, writer_of
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


def test_who_writes_is_known_while_it_does(home: Home) -> None:
    assert writer_of(home) is None
    (home.folder / "run").mkdir()
    with claimed(home):
        assert writer_of(home) == os.getpid()
        (home.folder / "run" / "indexer.lock").write_text("")  # a full disk
        assert writer_of(home) is None
    assert writer_of(home) is None


def test_a_link_in_the_place_of_the_lock_is_not_written_through(home: Home, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("not ours")
    (home.folder / "run").mkdir()
    (home.folder / "run" / "indexer.lock").symlink_to(tmp_path / "elsewhere")
    with claimed(home):
        assert writer_of(home) is None
    assert (tmp_path / "elsewhere").read_text() == "not ours"


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

"""The index follows what is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.graph.graph import Graph, Mode
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace import index_live
from tallystick.workspace.index_live import index_sessions, outdated
from tallystick.workspace.indexing import open_index


def recorded(home: Home) -> str:
    with Recorder(home.folder) as recorder, recorder.session("demo", "new") as session:
        session.prompt("hello")
        return session.id


def known(home: Home) -> int:
    with Graph(home.graph) as graph:
        return int(graph.rows("SELECT count(*) FROM sessions")[0][0])


def test_a_session_that_was_sealed_is_in_the_index_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    sid = recorded(home)
    assert index_sessions(home, [sid]) > 1
    assert known(home) == 1
    assert index_sessions(home, [sid]) == 0


def test_a_session_far_ahead_of_the_index_is_left_to_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "store")
    sid = recorded(home)
    monkeypatch.setattr(index_live, "_MOST_BEHIND_BYTES", 10)
    assert index_sessions(home, [sid]) == 0
    assert known(home) == 0
    with open_index(home):
        pass
    assert known(home) == 1


def test_an_index_that_cannot_be_used_does_not_disturb_the_recorder(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    sid = recorded(home)
    home.graph.write_bytes(b"damaged " * 1000)
    assert index_sessions(home, [sid]) == 0
    assert index_sessions(home, ["0" * 32]) == 0


def test_a_long_session_by_rules_of_before_is_left_to_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "store")
    sid = recorded(home)
    index_sessions(home, [sid])
    assert outdated(home) == []
    with Graph(home.graph, Mode.WRITE) as graph:
        graph.change("UPDATE sessions SET rules = 'of before'")
    monkeypatch.setattr(index_live, "_MOST_BEHIND_BYTES", 10)
    assert index_sessions(home, [sid]) == 0
    assert outdated(home) == [sid]
    assert outdated(Home(tmp_path / "elsewhere")) == []

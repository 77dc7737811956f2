"""The index follows what is recorded."""

from __future__ import annotations

from pathlib import Path

from tallystick.graph.graph import Graph
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace.index_live import index_sessions


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


def test_an_index_that_cannot_be_used_does_not_disturb_the_recorder(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    sid = recorded(home)
    home.graph.write_bytes(b"damaged " * 1000)
    assert index_sessions(home, [sid]) == 0
    assert index_sessions(home, ["0" * 32]) == 0

from __future__ import annotations

from pathlib import Path

from tallystick.graph import rules
from tallystick.graph.graph import Graph, Mode
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.service.indexing import Indexing


def test_what_was_sealed_is_indexed_a_few_sessions_at_a_time(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    with Recorder(home.folder) as recorder:
        sids = [recorder.session("demo", f"s{n}").id for n in range(6)]
    indexing = Indexing(home)
    indexing.note(sids)
    rounds = 0
    while indexing.is_due:
        indexing.work()
        rounds += 1
    assert rounds == 2
    with Graph(home.graph) as graph:
        assert graph.rows("SELECT count(*) FROM sessions") == [(6,)]


def test_a_session_that_is_not_there_does_no_harm(tmp_path: Path) -> None:
    indexing = Indexing(Home(tmp_path / "store"))
    indexing.note(["0" * 32])
    indexing.work()
    assert not indexing.is_due


def test_sessions_by_rules_of_before_are_projected_again_once_there_is_work(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    with Recorder(home.folder) as recorder:
        sids = [recorder.session("demo", f"s{n}").id for n in range(3)]
    first = Indexing(home)
    first.note(sids)
    first.work()
    with Graph(home.graph, Mode.WRITE) as graph:
        graph.change("UPDATE sessions SET rules = 'of before', title = 'old'")
    indexing = Indexing(home)
    indexing.note(sids[:1])
    while indexing.is_due:
        indexing.work()
    with Graph(home.graph) as graph:
        assert graph.rows("SELECT count(*) FROM sessions WHERE rules = ?", (rules.current(),)) == [(3,)]
        assert graph.rows("SELECT count(*) FROM sessions WHERE title = 'old'") == [(0,)]

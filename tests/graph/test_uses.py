"""Who used a thing without changing it."""

from __future__ import annotations

from pathlib import Path

from tallystick.graph.changes import thing_id
from tallystick.graph.resources import Named
from tallystick.graph.uses import Uses, uses_of
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace.indexing import open_index
from tests.support.asking import call


def test_calls_prompts_and_sessions_are_counted_and_the_newest_comes_first(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        for name in ("one", "two"):
            session = recorder.session("demo", name, cwd=str(tmp_path))
            session.prompt("a")
            call(session, "Read", {"file_path": f"{tmp_path}/a"}, output="a\n")
            call(session, "Bash", {"command": f"cat {tmp_path}/a {tmp_path}/a"})
            call(session, "Write", {"file_path": f"{tmp_path}/a", "content": "b\n"})
    with open_index(Home(tmp_path / "store")) as index:
        number = thing_id(index.graph, Named("file", f"file://{tmp_path}/a"))
        assert number is not None
        found = uses_of(index.graph, number)
        assert uses_of(index.graph, 7) == Uses()
    assert (found.calls, found.requests, found.sessions, found.is_cut) == (4, 2, 2, False)
    assert found.last is not None
    assert (found.last.tool, found.last.operation) == ("Bash", "read")
    assert found.last.at_ms == max(use.at_ms for use in found.newest)
    assert Uses().last is None

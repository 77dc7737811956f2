"""Files that agents wrote and that lead to no prompt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.ask.unexplained import report
from tallystick.journal.home import Home
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tests.graph.weaving import Weave
from tests.support.fixtures import RECORDINGS, ImportPaths
from tests.support.graphs import new_graph

PUBLISHED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def weave(tmp_path: Path) -> Iterator[Weave]:
    with new_graph(tmp_path / "graph.db") as graph:
        yield Weave(graph)


def test_a_file_of_a_sub_agent_leads_to_the_prompt_of_its_parent(weave: Weave) -> None:
    root = weave.session("root")
    root.prompt("Do it.")
    child = weave.session("child", kind="child", parent=(root, root.call("Task")))
    child.writes(child.call("Write"), "file:///w/a")
    found = report(Index(weave.graph))
    assert (found.written, found.explained, found.unexplained) == (1, 1, ())


def test_a_session_without_a_prompt_or_without_its_parent_is_the_reason(weave: Weave) -> None:
    alone = weave.session("alone")
    wrote = alone.call("Write")
    alone.writes(wrote, "file:///w/alone")
    lost = weave.session("lost", kind="child", claimed=("nowhere", None))
    lost.writes(lost.call("Write"), "file:///w/lost")
    found = report(Index(weave.graph))
    assert (found.written, found.explained) == (2, 0)
    assert [(one.path, one.why_not) for one in found.unexplained] == [
        ("/w/alone", f"session {alone.sid[:8]} has no prompt of a human before it"),
        ("/w/lost", f"what began session {lost.sid[:8]} is not recorded"),
    ]
    assert found.unexplained[0].step == f"{alone.sid}:{wrote}"


def test_files_that_were_only_read_or_seen_to_change_are_no_agents(weave: Weave) -> None:
    one = weave.session("one")
    one.reads(one.call("Read"), "file:///w/a")
    one.writes(one.effect("create", "/w/b"), "file:///w/b", actor="system_event")
    assert report(Index(weave.graph)).written == 0


def test_every_file_in_the_recordings_leads_to_the_prompt_that_asked_for_it(
    home: Home, import_paths: ImportPaths
) -> None:
    import_paths(RECORDINGS)
    with open_index(home) as index:
        found = report(index)
    assert found.written >= 15
    assert found.unexplained == ()


@pytest.mark.soak
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published histories are no part of the project")
def test_every_file_in_published_histories_leads_to_the_prompt_that_asked_for_it(
    home: Home, import_paths: ImportPaths
) -> None:
    import_paths(*(PUBLISHED / name for name in ("transcripts", "sessions", "public/small", "public/large")))
    with open_index(home) as index:
        found = report(index)
    assert found.written >= 100
    assert found.unexplained == ()

"""Who changed a thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.graph.changes import (
    Changes,
    changed_by,
    changes_of,
    thing_at,
    thing_id,
    version_at,
    version_before,
)
from tallystick.graph.graph import Graph
from tallystick.graph.resources import Named, versions_of
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace.indexing import open_index
from tests.support.asking import call
from tests.support.shop import Shop, shop


@pytest.fixture
def told(tmp_path: Path) -> Shop:
    return shop(tmp_path / "store", tmp_path)


def changes(graph: Graph, folder: Path, name: str) -> Changes:
    number = thing_id(graph, Named("file", f"file://{folder}/{name}"))
    assert number is not None
    return changes_of(graph, number)


def test_all_writers_of_a_file_are_named_also_those_whose_change_is_gone(told: Shop) -> None:
    with open_index(Home(told.folder / "store")) as index:
        found = changes(index.graph, told.folder, "page.md")
    assert [(change.session, change.n) for change in found.newest] == [
        (told.rewriter, told.rewrite),
        (told.writer, told.write),
    ]
    assert found.total == 2


def test_what_removed_a_file_is_its_newest_change(told: Shop) -> None:
    with open_index(Home(told.folder / "store")) as index:
        newest, first = changes(index.graph, told.folder, "note.txt").newest
    assert (newest.session, newest.n, newest.removes) == (told.child, told.delete, True)
    assert not first.removes


def test_a_change_of_the_mode_is_none_of_the_content_but_where_there_is_no_other(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one", cwd=str(tmp_path))
        session.prompt("a")
        write = call(session, "Write", {"file_path": f"{tmp_path}/run.sh", "content": "ls\n"})
        chmod = call(session, "Bash", {"command": f"chmod +x {tmp_path}/run.sh {tmp_path}/other.sh"})
    with open_index(Home(tmp_path / "store")) as index:
        assert [change.n for change in changes(index.graph, tmp_path, "run.sh").newest] == [write]
        assert [change.n for change in changes(index.graph, tmp_path, "other.sh").newest] == [chmod]


def test_no_more_changes_are_read_than_asked_for_and_all_are_counted(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one", cwd=str(tmp_path))
        for text in "abcde":
            call(session, "Write", {"file_path": f"{tmp_path}/a", "content": text})
    with open_index(Home(tmp_path / "store")) as index:
        number = thing_id(index.graph, Named("file", f"file://{tmp_path}/a"))
        assert number is not None
        found = changes_of(index.graph, number, most=2)
    assert (len(found.newest), found.total) == (2, 5)


def test_things_and_versions_are_found_by_their_numbers(told: Shop) -> None:
    page = Named("file", f"file://{told.folder}/page.md")
    with open_index(Home(told.folder / "store")) as index:
        graph = index.graph
        number = thing_id(graph, page)
        assert number is not None
        assert thing_at(graph, number) == page
        assert thing_id(graph, Named("file", "file:///nowhere")) is None
        assert thing_at(graph, 7) is None
        newest, oldest = versions_of(graph, page)
        assert version_at(graph, newest.id) == ("file", page.uri, 2)
        assert version_at(graph, 7) is None
        assert version_before(graph, newest.id) == 1
        assert version_before(graph, oldest.id) is None
        change = changes_of(graph, number).newest[0]
        assert changed_by(graph, change.step, change.step, most=10) == (number,)
        assert changed_by(graph, change.first_id, change.step - 1, most=10) == ()

"""What a change was made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.ask.sources import Sources, sources_of
from tallystick.graph.changes import changes_of, thing_id
from tallystick.graph.resources import Named
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace.indexing import open_index
from tests.support.asking import call
from tests.support.shop import shop


def sources(store: Path, path: str, *, session: str | None = None) -> Sources:
    home, thing = Home(store), Named("file", f"file://{path}")
    with open_index(home) as index:
        number = thing_id(index.graph, thing)
        assert number is not None
        found = [one for one in changes_of(index.graph, number).newest if session in (None, one.session)]
        return sources_of(home, index.graph, found[0], thing)


def test_what_the_model_was_shown_is_a_source_only_where_content_overlaps(tmp_path: Path) -> None:
    told = shop(tmp_path / "store", tmp_path)
    found = sources(tmp_path / "store", f"{tmp_path}/page.md", session=told.writer)
    (sheet,) = found.known
    assert (sheet.uri, sheet.how, sheet.lines) == (f"file://{tmp_path}/prices.txt", "lines", 2)
    assert (found.only_shown, found.compared) == (1, 1)  # style.css


@pytest.mark.parametrize(
    ("command", "name", "how"),
    [
        ("cp a.txt b.txt", "b.txt", [("a.txt", "command")]),
        ("python3 gen.py > b.txt", "b.txt", [("gen.py", "run")]),
    ],
)
def test_what_a_command_says_and_what_it_ran_are_sources(
    tmp_path: Path, command: str, name: str, how: list[tuple[str, str]]
) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one", cwd=str(tmp_path))
        session.prompt("a")
        call(session, "Bash", {"command": command})
    found = sources(tmp_path / "store", f"{tmp_path}/{name}")
    assert [(source.uri.rpartition("/")[2], source.how) for source in found.known] == how
    assert found.only_shown == 0


def test_a_changed_file_comes_from_its_version_before(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one", cwd=str(tmp_path))
        call(session, "Write", {"file_path": f"{tmp_path}/a", "content": "a\n"})
        call(session, "Edit", {"file_path": f"{tmp_path}/a", "old_string": "a", "new_string": "b"})
    (before,) = sources(tmp_path / "store", f"{tmp_path}/a").known
    assert (before.how, before.version) == ("before", 1)


def test_a_line_that_stands_everywhere_comes_from_nowhere_in_particular(tmp_path: Path) -> None:
    header = "Copyright 2026 Widgets of Barcelona, licensed under Apache-2.0 SPDX-7781\n"
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one", cwd=str(tmp_path))
        session.prompt("a")
        for name in "abc":
            call(session, "Read", {"file_path": f"{tmp_path}/{name}"}, output=f"{header}{name * 20}\n")
        session.model_call("some-model")
        call(session, "Write", {"file_path": f"{tmp_path}/new", "content": header})
    found = sources(tmp_path / "store", f"{tmp_path}/new")
    assert (found.known, found.only_shown, found.compared) == ((), 3, 3)

"""The taint of things in the graph, across files and sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.graph.graph import Graph
from tallystick.graph.taint import (
    Input,
    Taints,
    VersionAt,
    folder_made,
    inputs_of,
    made_by,
    newest_below,
    newest_version,
    place_of,
    taken_by,
    version_at,
)
from tallystick.journal.home import Home
from tallystick.lineage.taint import CLEAN, Taint, Trust, Via
from tallystick.workspace.indexing import open_index
from tests.support.tainting import PAGE, Tainted, bring_in


@pytest.fixture
def told(tmp_path: Path) -> Tainted:
    return bring_in(tmp_path / "store", tmp_path / "work")


@pytest.fixture
def graph(tmp_path: Path, told: Tainted) -> Iterator[Graph]:
    with open_index(Home(tmp_path / "store")) as index:
        yield index.graph


def uri(told: Tainted, name: str) -> str:
    return f"file://{told.path(name)}"


def taint_of(graph: Graph, kind: str, uri: str) -> Taint:
    return Taints(graph).of_thing(kind, uri)


def is_secret(path: str) -> bool:
    return path.endswith("/.env")


def test_what_a_program_fetched_is_untrusted(graph: Graph, told: Tainted) -> None:
    found = taint_of(graph, "file", uri(told, "list.txt"))
    assert found.trust is Trust.UNTRUSTED
    assert found.sources == (f"https://example.org/list ({told.third[:12]}:4)",)


def test_what_the_model_wrote_after_a_page_is_vetted(graph: Graph, told: Tainted) -> None:
    assert taint_of(graph, "file", uri(told, "own.md")).trust is Trust.VETTED


def test_what_it_quotes_is_what_it_quotes_and_so_is_a_copy_of_that(graph: Graph, told: Tainted) -> None:
    taints = Taints(graph, quotes=lambda version, _: not version.uri.endswith("/own.md"))
    assert taints.of_thing("file", uri(told, "plan.md")).trust is Trust.UNTRUSTED
    assert taints.of_thing("file", uri(told, "own.md")).trust is Trust.VETTED
    for name in ("guide.md", "copy.md", "both.md"):
        found = taints.of_thing("file", uri(told, name))
        assert found.trust is Trust.UNTRUSTED
        assert any(source.startswith(PAGE) for source in found.sources), name


def test_a_secret_goes_where_a_program_takes_it(graph: Graph, told: Tainted) -> None:
    taints = Taints(graph, is_secret=is_secret)
    assert taints.of_thing("file", uri(told, "settings.env")).is_sensitive
    mixed = taints.of_thing("file", uri(told, "mixed.txt"))
    assert mixed.is_sensitive
    assert mixed.trust is Trust.UNTRUSTED


def test_what_is_in_a_folder_that_was_cloned_came_with_it(graph: Graph, told: Tainted) -> None:
    assert taint_of(graph, "file", uri(told, "lib/src/build.sh")).trust is Trust.UNTRUSTED
    assert taint_of(graph, "file", uri(told, "library/build.sh")) == CLEAN


def test_what_is_unpacked_into_the_working_folder_does_not_taint_all_that_lies_there(
    graph: Graph, told: Tainted
) -> None:
    assert newest_version(graph, "file", uri(told, "other.txt")) is None
    assert taint_of(graph, "file", uri(told, "other.txt")) == CLEAN


def test_what_a_program_made_of_nothing_and_what_nobody_knows_is_trusted(graph: Graph, told: Tainted) -> None:
    assert taint_of(graph, "file", uri(told, "build.log")) == CLEAN
    assert taint_of(graph, "file", "file:///nowhere/x") == CLEAN


def test_a_page_itself_is_untrusted(graph: Graph) -> None:
    assert taint_of(graph, "url", PAGE).trust is Trust.UNTRUSTED


def test_a_command_that_gives_a_secret_taints_what_it_writes(graph: Graph, told: Tainted) -> None:
    taints = Taints(graph, gives_secret=lambda _: True)
    assert taints.of_thing("file", uri(told, "list.txt")).is_sensitive


def test_an_answer_is_remembered_and_a_new_version_has_one_of_its_own(graph: Graph, told: Tainted) -> None:
    asked: list[int] = []

    def quotes(version: VersionAt, _: Input) -> bool:
        asked.append(version.id)
        return True

    taints = Taints(graph, quotes=quotes)
    first = taints.of_thing("file", uri(told, "guide.md"))
    count = len(asked)
    assert count > 0
    assert taints.of_thing("file", uri(told, "guide.md")) == first
    assert len(asked) == count


def test_what_was_written_below_a_folder_is_found(graph: Graph, told: Tainted) -> None:
    below = {version.path for version in newest_below(graph, str(told.folder))}
    assert told.path("mixed.txt") in below
    assert told.path("lib") in below


def test_a_step_took_some_things_and_made_others(graph: Graph, told: Tainted) -> None:
    version = newest_version(graph, "file", uri(told, "mixed.txt"))
    assert version is not None
    assert version.made_by is not None
    assert version_at(graph, version.id) == version
    assert {taken.version.path for taken in taken_by(graph, version.made_by)} == {
        told.path("settings.env"),
        told.path("list.txt"),
    }
    assert made_by(graph, version.made_by) == (version,)
    assert {taken.via for taken in inputs_of(graph, version)} == {Via.COMMAND}
    place = place_of(graph, version.made_by)
    assert place is not None
    assert place.name == f"{told.third[:12]}:{told.mixed}"


def test_an_edit_keeps_what_was_there_before(graph: Graph, told: Tainted) -> None:
    version = newest_version(graph, "file", uri(told, "old.md"))
    assert version is not None
    assert [taken.version.number for taken in inputs_of(graph, version) if taken.via is Via.CHANGE] == [0]


def test_a_folder_is_only_one_that_somebody_made(graph: Graph, told: Tainted) -> None:
    found = folder_made(graph, told.path("lib/a/b/c.txt"))
    assert found is not None
    assert found.path == told.path("lib")
    assert folder_made(graph, told.path("a/b")) is None
    assert folder_made(graph, "/") is None

"""Several starts in one graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.ask.graph import find_starts, graph_around, picture_of
from tallystick.ask.graph_walk import Answer, Direction
from tallystick.errors import NotFoundError, UsageError
from tallystick.journal.home import Home
from tallystick.lineage.drawing_picture import Look, Picture
from tallystick.lineage.walk import Limits, NodeId, NodeKind
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tests.graph.weaving import Weave
from tests.support.asking import DATA, REPORT, SUMMARY, Told, read_and_write
from tests.support.graphs import new_graph

HOME = Home(Path("/nowhere"))


@pytest.fixture
def weave(tmp_path: Path) -> Iterator[Weave]:
    with new_graph(tmp_path / "graph.db") as graph:
        yield Weave(graph)


def around(weave: Weave, texts: list[str]) -> Answer:
    index = Index(weave.graph)
    return graph_around(HOME, index, find_starts(index, texts, folder="/w"), Direction.UP)


def test_the_starts_are_joined_and_each_is_there_once(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    a, b = (one.writes(one.call("Write"), f"file:///w/{name}") for name in "ab")
    found = around(weave, ["a", "b", "a"])
    assert found.start.nodes == (NodeId(NodeKind.ARTIFACT, a), NodeId(NodeKind.ARTIFACT, b))
    assert [node.distance for node in found.nodes[:2]] == [0, 0]
    nodes = [node.node for node in found.nodes]
    assert len(nodes) == len(set(nodes))


def test_a_start_is_needed_and_each_must_be_known(weave: Weave) -> None:
    weave.version("file:///w/a")
    with pytest.raises(UsageError):
        around(weave, [])
    with pytest.raises(NotFoundError):
        around(weave, ["a", "b"])


@pytest.fixture
def told(tmp_path: Path) -> Told:
    (tmp_path / "work").mkdir()
    return read_and_write(tmp_path / "store", tmp_path / "work")


def drawn(told: Told, text: str, direction: Direction = Direction.BOTH, **limits: int) -> Picture:
    home = Home(told.folder.parent / "store")
    with open_index(home) as index:
        starts = find_starts(index, [text], folder=str(told.folder))
        found = graph_around(home, index, starts, direction, Limits(**limits))
    return picture_of(found)


def ends(picture: Picture, label: str) -> set[tuple[str, str]]:
    return {
        (picture.boxes[arrow.source].lines[0], picture.boxes[arrow.target].lines[0])
        for arrow in picture.arrows
        if arrow.label.startswith(label)
    }


def test_a_picture_leads_from_prompt_to_file_to_prompt(told: Told) -> None:
    picture = drawn(told, SUMMARY)
    prompts = [box.lines[0] for box in picture.boxes if box.look is Look.REQUEST]
    assert sorted(prompts) == ["“Sum up the sales in data/sales.csv.”", "“Write a report on the summary.”"]
    (summary,) = [box.lines[0] for box in picture.boxes if box.is_start]
    assert summary.endswith(SUMMARY)
    assert any(target == summary and source.endswith(DATA) for source, target in ends(picture, "went into"))
    assert any(source == summary and target.endswith(REPORT) for source, target in ends(picture, "went into"))
    assert (summary, "“Write a report on the summary.”") in ends(picture, "read by")


def test_a_session_is_drawn_only_where_it_says_more_than_its_prompts(told: Told) -> None:
    assert Look.SESSION not in {box.look for box in drawn(told, SUMMARY).boxes}
    family = drawn(told, f"{told.grandchild}:{told.deep_call}", Direction.UP)
    assert [box.look for box in family.boxes].count(Look.SESSION) >= 2
    assert len(ends(family, "started")) == 2


def test_what_is_cut_is_marked(told: Told) -> None:
    assert any(box.is_cut for box in drawn(told, REPORT, Direction.UP, depth=1).boxes)
    assert not any(box.is_cut for box in drawn(told, REPORT, Direction.UP).boxes)


def test_each_box_tells_all_when_asked(told: Told) -> None:
    box = next(box for box in drawn(told, SUMMARY).boxes if box.is_start)
    assert f"{told.folder}/{SUMMARY}" in box.about

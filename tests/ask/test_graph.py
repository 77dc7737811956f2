"""Several starts in one graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.ask.graph import find_starts, graph_around
from tallystick.ask.graph_walk import Answer, Direction
from tallystick.errors import NotFoundError, UsageError
from tallystick.graph.graph import Graph, Mode
from tallystick.journal.home import Home
from tallystick.lineage.walk import NodeId, NodeKind
from tallystick.workspace.index import Index
from tests.graph.weaving import Weave

HOME = Home(Path("/nowhere"))


@pytest.fixture
def weave(tmp_path: Path) -> Iterator[Weave]:
    with Graph(tmp_path / "graph.db", Mode.WRITE) as graph:
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

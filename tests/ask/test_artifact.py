"""One thing over all its versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.ask.artifact import list_known, thing_history
from tallystick.journal.home import Home
from tallystick.workspace.index import Index
from tests.graph.weaving import Weave
from tests.support.graphs import new_graph

HOME = Home(Path("/nowhere"))


@pytest.fixture
def weave(tmp_path: Path) -> Iterator[Weave]:
    with new_graph(tmp_path / "graph.db") as graph:
        yield Weave(graph)


def test_the_relations_are_those_of_the_versions_and_no_others(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    a = one.reads(one.call("Read"), "file:///w/a")
    b = one.writes(one.call("Write"), "file:///w/b")
    weave.flow(a, b)
    c = one.writes(one.call("Write"), "file:///w/c")
    weave.flow(b, c)
    found = thing_history(HOME, Index(weave.graph), "b", folder="/w")
    assert all(b in (edge.source.id, edge.target.id) for edge in found.relations)
    assert {edge.relation for edge in found.relations} == {"derived_from", "produced"}
    assert {node.node for node in found.nodes} >= {
        end for edge in found.relations for end in (edge.source, edge.target)
    }


def test_relations_that_are_too_many_are_counted(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    a = one.writes(one.call("Write"), "file:///w/a")
    for number in range(70):
        weave.relate(("artifact", a), "consumed_by", ("agent_event", 10_000_000 + number))
    found = thing_history(HOME, Index(weave.graph), "a", folder="/w")
    assert found.more_relations == {a: 70}
    assert len(found.relations) == 51


def test_only_the_newest_versions_are_told_if_asked_so(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    for _ in range(4):
        one.changes(one.call("Edit"), "file:///w/a")
    found = thing_history(HOME, Index(weave.graph), "a", folder="/w", most_versions=2)
    assert [version.version for version in found.versions] == [4, 3]
    assert found.version_count == 4


def test_a_list_takes_the_beginning_of_a_path_from_here_or_as_it_is_kept(weave: Weave) -> None:
    for uri in ("file:///w/src/a", "file:///w/src2/b", "file:src/c", "file:///w/d"):
        weave.version(uri)
    weave.version("https://example.org/src", kind="url")

    def uris(prefix: str | None, *kinds: str) -> list[str]:
        return [thing.uri for thing in list_known(Index(weave.graph), kinds=kinds, prefix=prefix, folder="/w", limit=9)]

    assert uris("src/") == ["file:///w/src/a", "file:src/c"]
    assert uris("/w/src") == ["file:///w/src/a", "file:///w/src2/b"]
    assert uris("https://", "url") == ["https://example.org/src"]
    assert uris("file:///w/d", "file") == ["file:///w/d"]
    assert len(uris(None)) == 5

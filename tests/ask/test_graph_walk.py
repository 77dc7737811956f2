"""Answers: a walk with what is known of each node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.ask.graph_walk import Answer, Direction, answer
from tallystick.ask.node_resolver import find_start
from tallystick.graph.graph import Graph, Mode
from tallystick.journal.home import Home
from tallystick.lineage.walk import CutReason, Limits, NodeKind
from tallystick.recording.recorder import Recorder
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tests.graph.weaving import Weave
from tests.support.asking import call

HOME = Home(Path("/nowhere"))


@pytest.fixture
def weave(tmp_path: Path) -> Iterator[Weave]:
    with Graph(tmp_path / "graph.db", Mode.WRITE) as graph:
        yield Weave(graph)


def ask(weave: Weave, text: str, direction: Direction, **limits: int) -> Answer:
    index = Index(weave.graph)
    return answer(HOME, index, find_start(index, text, folder="/w"), direction, Limits(**limits))


def test_each_node_says_which_step_it_is_or_was_made_by(weave: Weave) -> None:
    one = weave.session("one", agent="demo")
    prompt = one.prompt("Do it.")
    write = one.call("Write", path="/w/a")
    one.writes(write, "file:///w/a")
    found = {node.node.kind: node for node in ask(weave, "a", Direction.UP).nodes}
    assert {kind: node.step for kind, node in found.items()} == {
        NodeKind.ARTIFACT: f"{one.sid}:{write}",
        NodeKind.STEP: f"{one.sid}:{write}",
        NodeKind.REQUEST: f"{one.sid}:{prompt}",
        NodeKind.SESSION: f"{one.sid}:0",
    }
    assert all(node.agent == "demo" and node.at_ms for node in found.values())


def test_both_directions_are_two_walks_and_nothing_is_reached_by_turning_round(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    a, b = (one.writes(one.call("Write"), f"file:///w/{name}") for name in "ab")
    weave.flow(a, b)
    sibling = one.writes(one.call("Write"), "file:///w/sibling")
    weave.flow(a, sibling)
    both = ask(weave, "b", Direction.BOTH)
    ids = {node.node.id for node in both.nodes if node.node.kind is NodeKind.ARTIFACT}
    assert ids == {a, b}
    up, down = ask(weave, "b", Direction.UP), ask(weave, "b", Direction.DOWN)
    assert {node.node for node in both.nodes} == {node.node for found in (up, down) for node in found.nodes}


def test_versions_that_are_too_many_are_marked_as_cut(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    for _ in range(60):
        one.writes(one.call("Write"), "file:///w/a")
    cut = ask(weave, "a", Direction.DOWN, nodes=1000).cuts[0]
    assert (cut.why, cut.shown, cut.total) == (CutReason.FAN_OUT, 50, 60)


def test_a_limit_below_the_number_of_starts_still_answers(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    for _ in range(5):
        one.writes(one.call("Write"), "file:///w/a")
    assert len(ask(weave, "a", Direction.BOTH, nodes=1).nodes) >= 5


def test_a_step_without_words_in_the_index_is_told_from_the_journal(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one")
        session.prompt("Go.")
        session.step("assistant", content={"text": "I shall look first."})
        call(session, "Bash", {"command": "ls"})
        sid = session.id
    home = Home(tmp_path / "store")
    with open_index(home) as index:
        start = find_start(index, f"{sid}:2", folder="/")
        found = answer(home, index, start, Direction.UP, Limits())
    assert found.nodes[0].title == "assistant I shall look first."


def test_a_journal_that_is_gone_costs_the_words_and_nothing_else(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one")
        session.prompt("Go.")
        session.step("assistant", content={"text": "I shall look first."})
        sid = session.id
    home = Home(tmp_path / "store")
    with open_index(home) as index:
        start = find_start(index, f"{sid}:2", folder="/")
        path = home.journal(sid)
        assert path is not None
        path.write_bytes(b"nothing of ours\n" * 99)
        found = answer(home, index, start, Direction.UP, Limits())
    assert found.nodes[0].title == "assistant"

"""Where questions about effects begin."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.ask.impact import impact
from tallystick.journal.home import Home
from tallystick.lineage.walk import NodeKind
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tests.graph.weaving import Weave
from tests.support.asking import DATA, REPORT, SUMMARY, Told, read_and_write
from tests.support.graphs import new_graph


@pytest.fixture
def told(tmp_path: Path) -> Told:
    (tmp_path / "work").mkdir()
    return read_and_write(tmp_path / "store", tmp_path / "work")


def titles(told: Told, text: str) -> set[str]:
    home = Home(told.folder.parent / "store")
    with open_index(home) as index:
        return {node.title for node in impact(home, index, text, folder=str(told.folder)).answer.nodes}


def test_a_result_had_the_effects_of_its_call(told: Told) -> None:
    write = 5
    assert titles(told, f"{told.first}:{write}") >= {f"{told.folder}/{SUMMARY}", f"{told.folder}/{REPORT}"}
    assert titles(told, f"{told.first}:{write + 1}") == titles(told, f"{told.first}:{write}")


def test_a_decision_had_the_effects_of_the_call_whether_it_came_before_or_after(tmp_path: Path) -> None:
    with new_graph(tmp_path / "graph.db") as graph:
        weave = Weave(graph)
        one = weave.session("one")
        one.prompt("a")
        before = one.add("security_decision", corr="c")
        call = one.call("Write", corr="c")
        one.writes(call, "file:///w/a")
        after = one.add("permission", corr="c")
        for n in (before, after):
            found = impact(Home(tmp_path / "none"), Index(graph), one.ref(n), folder="/w").answer
            assert found.start.nodes == (one.step(call),)
            assert "/w/a" in {node.title for node in found.nodes}
        alone = one.add("security_decision", corr="d")
        assert impact(Home(tmp_path / "none"), Index(graph), one.ref(alone), folder="/w").answer.start.nodes == (
            one.step(alone),
        )


def test_a_prompt_and_a_session_had_the_effects_of_their_calls(told: Told) -> None:
    made = {f"{told.folder}/{SUMMARY}", f"{told.folder}/{REPORT}"}
    assert titles(told, f"{told.first}:1") >= made
    assert titles(told, told.first) >= made
    assert not titles(told, told.second) & {f"{told.folder}/{SUMMARY}", f"{told.folder}/{DATA}"}


def test_a_session_has_the_effects_of_its_sub_agents(told: Told) -> None:
    home = Home(told.folder.parent / "store")
    with open_index(home) as index:
        nodes = impact(home, index, told.root, folder="/").answer.nodes
    sessions = {getattr(node.about, "session", None) for node in nodes if node.node.kind is NodeKind.SESSION}
    assert sessions == {told.root, told.child, told.grandchild}


def test_sessions_that_share_no_file_have_nothing_of_one_another(told: Told) -> None:
    home = Home(told.folder.parent / "store")
    with open_index(home) as index:
        nodes = impact(home, index, told.root, folder="/").answer.nodes
    assert {(node.step or "").rpartition(":")[0] for node in nodes} <= {told.root, told.child, told.grandchild}

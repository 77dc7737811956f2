"""Lines of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tallystick.ask.graph_walk import Known
from tallystick.ask.impact import impact
from tallystick.ask.why import why
from tallystick.cli.nodes import answer_text, cut_text, moment, relation_words, surety
from tallystick.display.text import width_of
from tallystick.graph.graph import Graph, Mode
from tallystick.journal.home import Home
from tallystick.lineage.walk import Cut, CutReason, Edge, NodeId, NodeKind
from tallystick.workspace.index import Index
from tests.graph.weaving import Weave
from tests.support.cases import each, each_case

NODE, OTHER = NodeId(NodeKind.STEP, 1), NodeId(NodeKind.STEP, 2)


@pytest.fixture
def weave(tmp_path: Path) -> Iterator[Weave]:
    with Graph(tmp_path / "graph.db", Mode.WRITE) as graph:
        yield Weave(graph)


def causes(weave: Weave, text: str, width: int = 140) -> list[str]:
    found = why(Home(Path("/nowhere")), Index(weave.graph), text, folder="/w").answer
    return [click.unstyle(line) for line in answer_text(found, width, upwards=True)]


def effects(weave: Weave, text: str, width: int = 140) -> list[str]:
    found = impact(Home(Path("/nowhere")), Index(weave.graph), text, folder="/w").answer
    return [click.unstyle(line) for line in answer_text(found, width, upwards=False)]


def test_a_line_says_what_where_when_who_and_how_sure(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("Sum it up.")
    data = one.reads(one.call("Read"), "file:///w/data")
    call = one.call("Write", path="/w/sum")
    weave.flow(data, one.writes(call, "file:///w/sum"))
    lines = causes(weave, "sum")
    assert lines[0] == f"/w/sum  version 1  {one.ref(call)}  2026-01-02 03:04:10  demo"
    assert lines[1] == f"├─ made by Write /w/sum  {one.ref(call)}  2026-01-02 03:04:10  demo  0.9"
    assert lines[2].startswith(f"│  └─ asked for by “Sum it up.”  {one.ref(1)}")
    assert lines[-1] == "└─ from /w/data  version 0, as first seen  2026-01-02 03:04:09  0.5 via model"


def test_a_version_that_was_changed_outside_says_so(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    one.writes(one.call("Write"), "file:///w/a")
    one.changes(one.effect("modify", "/w/a"), "file:///w/a", actor="system_event")
    lines = causes(weave, "a")
    assert "version 2, changed outside the agent" in lines[0]
    assert "changed by effect /w/a" in lines[1]
    assert any("changed from /w/a  version 1 of 2" in line for line in lines)


def test_a_use_that_was_no_reading_says_what_it_was(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    call = one.call("Bash", command="cp a b")
    page, run = weave.version("https://example.org", kind="url"), weave.version("file:///w/run.sh")
    weave.relate(("artifact", page), "consumed_by", ("agent_event", one.first_id + call), operation="fetch")
    weave.relate(("artifact", run), "consumed_by", ("agent_event", one.first_id + call), operation="execute")
    assert causes(weave, "https://example.org")[0].startswith("https://example.org  2026-")
    assert causes(weave, "https://example.org")[1].startswith("└─ fetched by Bash cp a b")
    assert effects(weave, "run.sh")[1].startswith("└─ run by Bash cp a b")
    assert {line[3:].split("  ")[0] for line in causes(weave, one.ref(call))[1:3]} == {
        "fetched https://example.org",
        "ran /w/run.sh",
    }


def test_a_claimed_parent_is_marked(weave: Weave) -> None:
    root = weave.session("root")
    root.prompt("a")
    weave.session("claimed", kind="child", claimed=("root", None))
    assert "0.8 claimed by the agent, not sealed" in causes(weave, "claimed")[1]


def test_a_parent_that_is_not_recorded_is_named_as_such(weave: Weave) -> None:
    weave.session("lost", kind="child", claimed=("nowhere", "toolu_1"))
    lines = causes(weave, "lost")
    assert "a step that is not recorded" in lines[1]
    assert lines[2].endswith("… cut here: not recorded")


def test_ten_thousand_readers_are_cut_with_their_number(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    a = one.writes(one.call("Write"), "file:///w/a")
    weave.graph.change_many(
        "INSERT INTO relations (src_kind, src_id, dst_kind, dst_id, relation_type, confidence, created_at)"
        f" VALUES ('artifact', {a}, 'agent_event', ?, 'consumed_by', 0.9, 1)",
        [(10_000_000 + number,) for number in range(10_000)],
    )
    lines = effects(weave, "a")
    assert lines[-1] == "└─ … cut here: 50 of 10,000 shown"
    assert len(lines) == 52


@pytest.mark.parametrize("width", [40, 80, 200])
def test_what_is_long_is_cut_and_the_step_stays(weave: Weave, width: int) -> None:
    one = weave.session("one")
    one.prompt("word " * 500)
    call = one.call("Bash", command="x" * 3000)
    one.writes(call, f"file:///w/{'deep/' * 100}end.txt")
    lines = causes(weave, "end.txt", width)
    assert all(width_of(line) <= max(width, 24) + 90 for line in lines)
    assert all(one.sid[:8] in line for line in lines)
    assert "end.txt" in lines[0]


def test_each_kind_of_cut_has_its_words() -> None:
    assert "3 more beyond this depth" in cut_text(Cut(node=NODE, why=CutReason.DEPTH, shown=1, total=4))
    assert "1 of 4 shown" in cut_text(Cut(node=NODE, why=CutReason.NODES, shown=1, total=4))
    assert "50 of 10,000" in cut_text(Cut(node=NODE, why=CutReason.FAN_OUT, shown=50, total=10_000))
    assert "not recorded" in cut_text(Cut(node=NODE, why=CutReason.MISSING))


def test_the_least_sure_of_several_edges_counts() -> None:
    edges = [
        Edge(source=NODE, target=NODE, relation="a", confidence=0.9, evidence={"via": "command"}),
        Edge(source=NODE, target=NODE, relation="b", confidence=0.35, evidence={"matched_by": "time\x1b"}),
    ]
    assert surety(edges) == "0.35 via command via time␛"
    assert surety([]) == ""
    assert surety([Edge(source=NODE, target=NODE, relation="a", evidence={"via": 7})]) == ""


@each("at_ms", [None, 0, -5, 10**18])
def test_a_time_that_is_none_is_left_out(at_ms: int | None) -> None:
    assert moment(at_ms) == ""


def unrecorded(node: NodeId) -> Known:
    return Known(node=node, distance=1, about=None, title="", step=None, agent=None, at_ms=None)


@each_case("relation, upwards, downwards")
def test_each_relation_has_its_words(relation: str, upwards: str, downwards: str) -> None:
    edge, node = Edge(source=OTHER, target=NODE, relation=relation), unrecorded(NODE)
    assert relation_words([edge], node, upwards=True) == upwards
    assert relation_words([edge], node, upwards=False) == downwards


@each_case("operation, did, by")
def test_each_use_has_its_words(operation: str, did: str, by: str) -> None:
    edge = Edge(source=OTHER, target=NODE, relation="consumed_by", evidence={"operation": operation})
    assert relation_words([edge], unrecorded(OTHER), upwards=True) == did
    assert relation_words([edge], unrecorded(NODE), upwards=False) == by

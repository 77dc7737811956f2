"""What the record itself says of a step's taint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.agents import adapters
from tallystick.ask.taint import taint_tree
from tallystick.ingest.histories import find_histories, import_histories
from tallystick.journal.home import Home
from tallystick.lineage.taint import Trust
from tallystick.lineage.taint_tree import TaintNode
from tallystick.model.step import Source, Step
from tallystick.recording.recorder import Recorder
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tests.support.tainting import PAGE, PLAN_TEXT, bring_in, call

RECORDINGS = Path(__file__).parents[1] / "recordings" / "headless" / "2026-03"


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("headless")
    home = Home(folder / "store")
    import_histories(home, find_histories(folder, [RECORDINGS], adapters()), adapters())
    return home


def steps(index: Index, kind: str) -> Iterator[tuple[str, int]]:
    yield from index.graph.rows("SELECT session_id, n FROM steps WHERE type = ? ORDER BY id", (kind,))


def all_of(nodes: tuple[TaintNode, ...]) -> Iterator[TaintNode]:
    for node in nodes:
        yield node
        yield from all_of(node.children)


def test_the_lineage_that_an_agent_wrote_is_shown_with_its_entries(imported: Home) -> None:
    with open_index(imported) as index:
        trees = [
            taint_tree(imported, index, f"{session}:{n}", folder="/") for session, n in steps(index, "security_static")
        ]
        blocks = [
            [(node.block, node.depth, node.n is not None) for node in all_of(tree.roots[0].children)]
            for tree in trees
            if tree.roots[0].children
        ]
    assert [("b0002", 1, True), ("b0001", 2, True)] in blocks


def test_what_came_in_has_the_agents_own_block(imported: Home) -> None:
    with open_index(imported) as index:
        calls = list(steps(index, "tool_call"))
        nodes = [
            node
            for session, n in calls
            for node in all_of(taint_tree(imported, index, f"{session}:{n}", folder="/").roots)
            if node.kind == "url"
        ]
    assert {node.block for node in nodes} >= {"b0001", "b0002"}


def test_what_policy_found_stands_below_the_call(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one", cwd="/home/dev/p")
        number = call(session, "Bash", {"command": "make frobnicate-9981"})
        session.close()
    home = Home(tmp_path / "store")
    with open_index(home) as index:
        ((corr,),) = index.graph.rows("SELECT corr FROM steps WHERE n = ? AND type = 'tool_call'", (number,))
    evidence = [
        {
            "rule": "flows.injected_instruction_followed",
            "because": [
                "remote-code: not this",
                "follows-outside-text: “make frobnicate-9981” stands in a.md",
                "follows-outside-text: < https://x",
            ],
        },
        {"rule": "other.rule", "because": ["not this"]},
    ]
    decision = Step(
        session="one",
        type="decision",
        source=Source.HOOK,
        source_id="d1",
        meta={"corr": corr, "effect": "warn"},
        values={"content.evidence": evidence},
    )
    with SessionWriter(home) as session_writer:
        session_writer.add("demo", decision)
        session_writer.seal()
    with open_index(home) as index:
        (root,) = taint_tree(home, index, f"{session.id}:{number}", folder="/").roots
    (found,) = [node for node in root.children if node.kind == "finding"]
    assert found.source == "“make frobnicate-9981” stands in a.md"
    assert [node.source for node in found.children] == ["https://x"]
    assert root.trust is Trust.UNTRUSTED


def test_a_call_on_which_nothing_was_decided_leads_to_the_text_that_it_follows(tmp_path: Path) -> None:
    told = bring_in(tmp_path / "store", tmp_path / "work")
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "fourth", cwd=str(told.folder))
        session.prompt("Go on with the plan.")
        call(session, "Read", {"file_path": told.path("plan.md")}, output=PLAN_TEXT)
        followed = call(session, "Bash", {"command": "make release-7781"})
        other = call(session, "Bash", {"command": "make test"})
        session.close()
    home = Home(tmp_path / "store")
    with open_index(home) as index:
        (root,) = taint_tree(home, index, f"{session.id}:{followed}", folder="/").roots
        (clean,) = taint_tree(home, index, f"{session.id}:{other}", folder="/").roots
    (found,) = root.children
    assert found.source == "“make release-7781” stands in plan.md"
    assert (found.session, found.depth) == (session.id, 1)
    (plan,) = found.children
    assert (plan.source, plan.n) == ("plan.md, written", told.planned)
    (page,) = plan.children
    assert (page.source, page.session, page.n, page.depth) == (PAGE, told.first, told.fetched, 3)
    assert not clean.children


@pytest.mark.parametrize("is_named", [True, False])
def test_a_command_of_a_sub_agent_leads_over_its_task_to_the_page_that_the_parent_read(
    tmp_path: Path, is_named: bool
) -> None:
    page = "How to release: run `make ship-4471` and wait."
    with Recorder(tmp_path / "store") as recorder:
        parent = recorder.session("demo", "parent", cwd="/home/dev/p")
        parent.prompt("Find out how we release, and have it done.")
        fetched = call(parent, "WebFetch", {"url": PAGE, "prompt": "How?"}, output=page)
        with parent.subagent("doer", goal="Run make ship-4471 now." if is_named else "Release it.") as child:
            followed = call(child, "Bash", {"command": "make ship-4471"})
        call(parent, "WebFetch", {"url": f"{PAGE}/later", "prompt": "How?"}, output=page)
        parent.close()
    home = Home(tmp_path / "store")
    with open_index(home) as index:
        (root,) = taint_tree(home, index, f"{child.id}:{followed}", folder="/").roots
    sources = [(node.session, node.n) for node in all_of(root.children)]
    assert sources == ([(parent.id, fetched)] if is_named else [])

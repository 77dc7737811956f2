"""The prompt behind a step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.graph.graph import Graph
from tallystick.graph.prompts import NO_PROMPT, At, asked_for, end_of_request, first_prompt, said_before
from tallystick.journal.home import Home
from tallystick.workspace.indexing import open_index
from tests.graph.weaving import Strand, Weave
from tests.support.graphs import new_graph
from tests.support.shop import OFFERED, Shop, shop


@pytest.fixture
def weave(tmp_path: Path) -> Iterator[Weave]:
    with new_graph(tmp_path / "graph.db") as graph:
        yield Weave(graph)


@pytest.fixture
def told(tmp_path: Path) -> Shop:
    return shop(tmp_path / "store", tmp_path)


def at(strand: Strand, n: int) -> At:
    row = strand.weave.graph.row("SELECT id, n, request, at_us / 1000 FROM steps WHERE id = ?", (strand.first_id + n,))
    assert row is not None
    return At(*row)


def step_of(graph: Graph, session: str, n: int) -> At:
    row = graph.row("SELECT id, n, request, at_us / 1000 FROM steps WHERE session_id = ? AND n = ?", (session, n))
    assert row is not None
    return At(*row)


def test_a_cause_later_than_its_effect_never_appears(weave: Weave) -> None:
    """An edit at 05:33 "began with" a prompt of 05:43."""
    one = weave.session("one")
    edit = one.call("Edit")
    weave.seconds += 600
    one.prompt("What did you change?")
    found = asked_for(weave.graph, at(one, edit))
    assert found.prompt is None
    assert found.why_not == NO_PROMPT


def test_a_step_of_a_sub_agent_leads_to_the_prompt_above(weave: Weave) -> None:
    root = weave.session("root")
    prompt = root.prompt("Tidy up.")
    child = weave.session("child", kind="child", parent=(root, root.call("Task")))
    found = asked_for(weave.graph, at(child, child.call("Bash")))
    assert found.prompt is not None
    assert (found.prompt.session, found.prompt.n, found.is_claimed) == (root.sid, prompt, False)


def test_of_another_session_no_prompt_counts_that_came_after_the_step(weave: Weave) -> None:
    root = weave.session("root")
    early = root.prompt("First this.")
    child = weave.session("child", kind="continuation", claimed=("root", None))
    edit = child.call("Edit")
    weave.seconds += 600
    root.prompt("Then that.")
    found = asked_for(weave.graph, at(child, edit))
    assert found.prompt is not None
    assert (found.prompt.n, found.is_claimed) == (early, True)


def test_what_began_a_session_that_is_not_recorded_is_said_to_be_unknown(weave: Weave) -> None:
    lost = weave.session("lost", kind="child", claimed=("nowhere", "toolu_1"))
    assert asked_for(weave.graph, at(lost, lost.call("Edit"))).why_not == "what began its session is not recorded"


def test_sessions_that_begin_one_another_lead_to_no_prompt(weave: Weave) -> None:
    one = weave.session("one", kind="child", claimed=("two", None))
    weave.session("two", kind="child", claimed=("one", None))
    assert asked_for(weave.graph, at(one, one.call("Edit"))).why_not == NO_PROMPT


def test_before_a_prompt_the_agent_had_said_something(told: Shop) -> None:
    with open_index(Home(told.folder / "store")) as index:
        graph = index.graph
        found = asked_for(graph, step_of(graph, told.writer, told.write)).prompt
        assert found is not None
        assert found.n == told.yes
        assert said_before(graph, found) == OFFERED
        first = first_prompt(graph, told.writer)
        assert first is not None
        assert said_before(graph, first) is None
        assert end_of_request(graph, first) == found.id
        assert end_of_request(graph, found) is None


def test_a_session_without_a_prompt_has_no_first_one(weave: Weave) -> None:
    assert first_prompt(weave.graph, weave.session("none").sid) is None

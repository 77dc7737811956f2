"""Steps by number: every question answered as reading the whole session would answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.graph import timeline
from tallystick.graph.graph import Graph
from tallystick.graph.journals import Depth
from tallystick.graph.steps import StepEntry
from tallystick.graph.timeline import Spot, Wanted
from tallystick.journal.home import Home
from tallystick.workspace.indexing import open_index


@pytest.fixture
def graph(indexed_samples: Home) -> Iterator[Graph]:
    with open_index(indexed_samples, depth=Depth.TEXT) as index:
        yield index.graph


def sessions(graph: Graph) -> list[tuple[str, int]]:
    return [(sid, size) for sid, size in graph.rows("SELECT session_id, size FROM sessions ORDER BY session_id")]


def whole(graph: Graph, session: str) -> list[StepEntry]:
    return timeline.window(graph, session, 0, 1 << 40)


def named(graph: Graph, agent: str, kind: str = "root") -> str:
    row = graph.row("SELECT session_id FROM sessions WHERE agent_id = ? AND kind = ? ORDER BY size DESC", (agent, kind))
    assert row is not None
    return str(row[0])


def test_all_steps_of_a_session_are_its_window_from_the_start(graph: Graph) -> None:
    for session, size in sessions(graph):
        assert [entry.n for entry in whole(graph, session)] == list(range(size))
        assert timeline.size_of(graph, session) == size
    assert timeline.size_of(graph, "0" * 32) is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.integers(-5, 80), count=st.integers(-5, 80))
def test_a_window_is_a_slice(graph: Graph, first: int, count: int) -> None:
    session = named(graph, "codex")
    start = max(first, 0)
    assert timeline.window(graph, session, first, count) == whole(graph, session)[start : start + max(count, 0)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 60), max_size=20))
def test_picked_steps_are_those_with_the_numbers_that_there_are(graph: Graph, numbers: list[int]) -> None:
    session = named(graph, "codex")
    wanted = sorted(set(numbers) & set(range(42)))
    assert [entry.n for entry in timeline.picked(graph, session, numbers)] == wanted


FILTERS: list[tuple[Wanted, Callable[[StepEntry], bool]]] = [
    (Wanted(), lambda entry: True),
    (Wanted(types=("tool_call",)), lambda entry: entry.type == "tool_call"),
    (Wanted(types=("user", "assistant")), lambda entry: entry.type in ("user", "assistant")),
    (Wanted(tools=("exec_command", "Bash")), lambda entry: entry.tool in ("exec_command", "Bash")),
    (Wanted(failed=True), lambda entry: entry.success is False),
    (Wanted(agents=("codex",)), lambda entry: entry.agent == "codex"),
    (Wanted(agents=("nobody",)), lambda entry: False),
    (Wanted(types=("tool_result",), failed=True), lambda entry: entry.type == "tool_result" and entry.success is False),
]


@pytest.mark.parametrize(("wanted", "takes"), FILTERS)
def test_a_filter_takes_what_reading_everything_would_take(
    graph: Graph, wanted: Wanted, takes: Callable[[StepEntry], bool]
) -> None:
    for session, size in sessions(graph):
        numbers = [entry.n for entry in whole(graph, session) if takes(entry)]
        assert list(timeline.matching(graph, session, wanted)) == numbers
        for n in range(0, size, 7):
            after = [number for number in numbers if number > n]
            before = [number for number in numbers if number < n]
            assert timeline.nearest(graph, session, n, wanted, step=1) == (after[0] if after else None)
            assert timeline.nearest(graph, session, n, wanted, step=-1) == (before[-1] if before else None)


def test_words_are_looked_for_in_this_session_only(graph: Graph) -> None:
    session = named(graph, "codex")
    found = timeline.matching(graph, session, Wanted(text="unittest"))
    assert set(found) > {28, 31}
    assert list(timeline.matching(graph, session, Wanted(text="unittest", types=("tool_call",)))) == [25, 28, 31]
    assert list(timeline.matching(graph, session, Wanted(text="!!!"))) == []
    assert list(timeline.matching(graph, "0" * 32, Wanted(text="unittest"))) == []


def test_text_is_searchable_once_it_was_read(samples: Home) -> None:
    with open_index(samples) as index:
        session = named(index.graph, "codex")
        before = timeline.is_searchable(index.graph, session)
    with open_index(samples, depth=Depth.TEXT) as index:
        assert timeline.is_searchable(index.graph, session)
        assert not timeline.is_searchable(index.graph, "0" * 32)
    assert before in (True, False)


def test_a_result_answers_a_call_and_both_know_what_is_beside_them(graph: Graph) -> None:
    session = named(graph, "codex")
    steps = whole(graph, session)
    assert timeline.call_of(graph, steps[12]) == Spot(session, 11)
    assert timeline.call_of(graph, steps[11]) is None
    assert timeline.beside(graph, steps[11]) == [12]
    assert timeline.beside(graph, steps[12]) == [11]
    assert timeline.beside(graph, steps[9]) == []


def test_decisions_stand_beside_the_call_that_they_decide_on(graph: Graph) -> None:
    session = named(graph, "headless")
    steps = whole(graph, session)
    call = next(entry for entry in steps if entry.type == "tool_call" and entry.tool == "bash")
    kinds = {steps[n].type for n in timeline.beside(graph, call)}
    assert {"security_static", "tool_result"} <= kinds


def test_what_hangs_on_a_step_hangs_on_it_from_both_sides(graph: Graph) -> None:
    seen = 0
    for session, _ in sessions(graph):
        spot = timeline.began_at(graph, session)
        if spot is None:
            continue
        assert spot.n is not None
        step = whole(graph, spot.session)[spot.n]
        names = [name for name in (step.hash, step.source_id) if name]
        assert [session] in timeline.sessions_on(graph, spot.session, names).values()
        assert timeline.by_hash(graph, spot.session, step.hash) == spot
        seen += 1
    assert seen == 3
    assert timeline.sessions_on(graph, session, ["no such step"]) == {}

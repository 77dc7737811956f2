from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.graph.graph import Graph, Row
from tallystick.graph.log import LogFilter, log
from tallystick.graph.project import project
from tallystick.graph.steps import StepEntry
from tests.graph.making import Session, sid_of, time_at

TYPES = ("user", "tool_call", "tool_result", "assistant")
TOOLS = (None, "Bash", "Read", "Edit")


def told(name: str, *, agent: str, start: float) -> Session:
    session = Session(name, agent=agent, start=start)
    session.begin()
    for n in range(1, 30):
        kind = TYPES[n % 4] if n % 7 else "user"
        meta = {"tool": TOOLS[n % 3] if kind != "user" else None, "request": n - n % 7 or None}
        session.add(kind, {**meta, "success": None if kind != "tool_result" else bool(n % 3)}, text="x")
    return session


ALL = (told("a", agent="demo", start=0), told("b", agent="other", start=10.5), told("c", agent="demo", start=1000))


@pytest.fixture
def index(graph: Graph) -> Graph:
    project(graph, [session.journal() for session in ALL])
    return graph


def everything(graph: Graph) -> list[StepEntry]:
    """All steps, newest first, without the help of any index."""
    rows = [
        (row[0], row[1])
        for row in graph.rows("SELECT session_id, n FROM steps NOT INDEXED ORDER BY at_us DESC, id DESC")
    ]
    entries = {(step.session, step.n): step for page in [log(graph, LogFilter(limit=1000))] for step in page.steps}
    return [entries[row] for row in rows]


def takes(wanted: LogFilter) -> Callable[[StepEntry], bool]:
    """What a filter means, in plain Python."""

    def take(step: StepEntry) -> bool:
        return (
            (not wanted.types or step.type in wanted.types)
            and (not wanted.agents or step.agent in wanted.agents)
            and (not wanted.tools or step.tool in wanted.tools)
            and (wanted.session is None or step.session == wanted.session)
            and (wanted.request is None or step.request == wanted.request)
            and (wanted.since is None or (step.ts or "") >= wanted.since)
            and (wanted.until is None or (step.ts or "") < wanted.until)
            and (not wanted.failures_only or step.success is False)
        )

    return take


def some(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from([*values, "none such"]), max_size=3).map(tuple)


FILTERS = st.builds(
    LogFilter,
    types=some(*TYPES, "session_start"),
    agents=some("demo", "other"),
    tools=some("Bash", "Read"),
    session=st.none() | st.sampled_from([sid_of("a"), sid_of("b"), sid_of("nobody")]),
    since=st.none() | st.sampled_from([time_at(5), time_at(10.5), time_at(1000)]),
    until=st.none() | st.sampled_from([time_at(12), time_at(29), time_at(1010)]),
    failures_only=st.booleans(),
    limit=st.integers(1, 40),
)


@given(FILTERS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_pages_are_all_the_steps_that_a_filter_takes_once_and_newest_first(index: Graph, wanted: LogFilter) -> None:
    expected = [step for step in everything(index) if takes(wanted)(step)]
    found: list[StepEntry] = []
    page = log(index, wanted)
    while True:
        assert len(page.steps) <= wanted.limit
        found += page.steps
        if page.next is None:
            break
        assert len(page.steps) == wanted.limit
        wanted = LogFilter(
            **{**{name: getattr(wanted, name) for name in wanted.__struct_fields__}, "before": page.next}
        )
        page = log(index, wanted)
    assert found == expected


def test_steps_of_all_sessions_are_mixed_by_time(index: Graph) -> None:
    steps = [(step.session, step.n) for step in everything(index)]
    assert steps[0] == (sid_of("c"), 29)
    assert steps[30:33] == [(sid_of("b"), 29), (sid_of("b"), 28), (sid_of("b"), 27)]
    assert steps.index((sid_of("b"), 10)) + 1 == steps.index((sid_of("a"), 20))


def test_within_a_session_the_order_is_that_of_the_journal(graph: Graph) -> None:
    session = Session()
    session.begin()
    for seconds in (50, 40, 60):
        session.add("assistant", {"ts": time_at(seconds)})
    project(graph, [session.journal()])
    assert [step.n for step in log(graph, LogFilter(session=session.sid)).steps] == [3, 2, 1, 0]
    assert [step.n for step in log(graph, LogFilter()).steps] == [3, 1, 2, 0]


def test_a_request_is_shown_with_its_prompt(index: Graph) -> None:
    page = log(index, LogFilter(session=sid_of("a"), request=7))
    assert {step.request for step in page.steps} == {7}
    assert page.steps[-1].n == 7
    with pytest.raises(UsageError, match="session"):
        log(index, LogFilter(request=7))


def test_the_page_after_a_step_is_the_same_when_the_log_grows(index: Graph) -> None:
    first = log(index, LogFilter(limit=10))
    second = log(index, LogFilter(limit=10, before=first.next))
    late = told("d", agent="demo", start=5000)
    project(index, [late.journal()])
    assert log(index, LogFilter(limit=10, before=first.next)) == second
    assert log(index, LogFilter(limit=10)).steps[0].session == late.sid


def test_the_pages_of_one_session_follow_each_other(index: Graph) -> None:
    first = log(index, LogFilter(session=sid_of("a"), limit=20))
    second = log(index, LogFilter(session=sid_of("a"), limit=20, before=first.next))
    assert [step.n for step in (*first.steps, *second.steps)] == list(range(29, -1, -1))
    assert second.next is None


def test_pages_may_end_between_steps_of_the_same_moment(graph: Graph) -> None:
    sessions = [Session(name) for name in "abc"]
    for session in sessions:
        session.begin()
        for _ in range(4):
            session.add("assistant", {"ts": time_at(0)})
    project(graph, [session.journal() for session in sessions])
    page, found = log(graph, LogFilter(limit=2)), list[tuple[str, int]]()
    while page.next is not None:
        found += [(step.session, step.n) for step in page.steps]
        page = log(graph, LogFilter(limit=2, before=page.next))
    found += [(step.session, step.n) for step in page.steps]
    assert found == [(sid, n) for sid in sorted((s.sid for s in sessions), reverse=True) for n in range(4, -1, -1)]


def test_a_limit_of_nothing_gives_nothing(index: Graph) -> None:
    assert log(index, LogFilter(limit=0)).steps == ()
    assert log(index, LogFilter(limit=0)).next is None
    assert log(index, LogFilter(limit=-5)).steps == ()


@pytest.mark.parametrize("wanted", [LogFilter(since="today"), LogFilter(until="2026-01-02")])
def test_a_time_that_is_none_is_refused(index: Graph, wanted: LogFilter) -> None:
    with pytest.raises(UsageError):
        log(index, wanted)


@pytest.mark.parametrize(
    "wanted",
    [
        LogFilter(),
        LogFilter(types=("user",)),
        LogFilter(tools=("Bash", "Read")),
        LogFilter(agents=("demo",)),
        LogFilter(failures_only=True),
        LogFilter(failures_only=True, types=("tool_result",), since=time_at(0)),
        LogFilter(session=sid_of("a")),
    ],
)
def test_no_page_looks_at_all_steps(index: Graph, wanted: LogFilter, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Sequence[object]]] = []
    rows = index.rows

    def note(sql: str, values: Sequence[object] = ()) -> list[Row]:
        asked.append((sql, values))
        return rows(sql, values)

    monkeypatch.setattr(index, "rows", note)
    log(index, wanted)
    plans = [row[3] for sql, values in asked for row in rows(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert plans
    for plan in plans:
        assert "INDEX steps_" in plan or "PRIMARY KEY" in plan or "sqlite_autoindex" in plan
        assert "TEMP B-TREE" not in plan

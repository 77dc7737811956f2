from __future__ import annotations

from pathlib import Path

from tallystick.agents.headless import transcript as headless
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.sessions.figures import figures
from tests.agents.conftest import events_of
from tests.agents.headless.test_transcript import GOLDEN
from tests.exports.conftest import recorded_steps
from tests.support.cases import each

SID = "ab" * 16


def entry(n: int, type_: str, values: dict[str, Json] | None = None, /, **meta: Json) -> Recorded:
    """An entry as a journal may hold it, whoever wrote that."""
    return Recorded(
        session=SID, n=n, hash=f"{n:064x}", prev="", parents=(), meta={"type": type_, **meta}, values=values or {}
    )


def test_each_step_of_the_golden_session_is_there_once(tmp_path: Path) -> None:
    steps = recorded_steps(events_of(headless, GOLDEN), tmp_path / "store")
    found = figures(steps)
    assert [figure.n for figure in found] == [step.n for step in steps]
    assert {figure.agent for figure in found} == {"headless", "headless/critic"}
    assert found[-1].place == f"{steps[0].session[:8]}:{steps[-1].n}"


def test_a_revision_stands_in_the_place_of_what_it_revises() -> None:
    steps = [
        entry(0, "session_start", agent="demo"),
        entry(1, "tool_result", duration_ms=5),
        entry(2, "user"),
        entry(3, "tool_result", duration_ms=6, revises=1),
        entry(4, "tool_result", duration_ms=7, revises=3),
    ]
    found = figures(steps)
    assert [(figure.type, figure.duration_ms) for figure in found] == [
        ("session_start", 0),
        ("tool_result", 7),
        ("user", 0),
    ]


def test_second_witnesses_and_sightings_are_not_counted_again() -> None:
    steps = [entry(0, "session_start"), entry(1, "user"), entry(2, "user", corroborates=1), entry(3, "sighting")]
    assert [figure.n for figure in figures(steps)] == [0, 1]


def test_a_sub_agents_session_is_called_by_its_role() -> None:
    for meta, agent in (({"agent_role": "tester"}, "demo/tester"), ({}, "demo/sub-agent")):
        start = entry(0, "session_start", agent="demo", kind="child", **meta)
        assert {figure.agent for figure in figures([start, entry(1, "user")])} == {agent}


def test_a_role_that_is_only_a_way_of_working_is_no_sub_agent() -> None:
    steps = [entry(0, "session_start", agent="opencode"), entry(1, "model_call", agent_role="build")]
    assert {figure.agent for figure in figures(steps)} == {"opencode"}


def test_what_is_seen_as_it_happens_is_timed_by_the_recorder() -> None:
    recorded = "2026-01-02T03:04:05.000001Z"
    live, read = (
        figures([entry(0, "user", source=source, recorded=recorded)])[0].at_us for source in ("hook", "transcript")
    )
    assert (live is not None and live % 1_000_000, read) == (1, None)


@each(
    "meta",
    [
        {"tokens": "many", "duration_ms": "long", "ts": "yesterday", "corr": 7, "request": "1", "revises": "x"},
        {"tokens": {"input": -1, "output": 1.5}, "duration_ms": -4, "latency_ms": True, "ts": 5, "model": ["m"]},
        {"tokens": [], "cost_microusd": "free", "success": "no", "agent_role": {}, "seq": None, "parent": "0"},
        {"cache_write_1h_tokens": 1 << 60, "tokens": {"input": 1 << 60}, "ts": "2026-02-31T00:00:00Z", "agent": 3},
    ],
)
def test_nothing_that_a_journal_may_hold_upsets_it(meta: dict[str, Json]) -> None:
    (found,) = figures([entry(0, "session_start", {"content.text": 9, "content.goal": []}, **meta)])
    assert (found.took_ms, found.at_us, found.corr, found.goal, found.model) == (0, None, None, None, "")
    assert not any((found.tokens or {}).values())


def test_tokens_written_for_an_hour_are_counted_among_the_others() -> None:
    call = entry(0, "model_call", tokens={"input": 1, "cache_write": 9}, cache_write_1h_tokens=4)
    assert figures([call])[0].tokens == {"input": 1, "cache_write": 9, "cache_write_1h": 4}

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.gptme import transcript as gptme
from tallystick.agents.headless import legacy as headless_legacy
from tallystick.agents.headless import transcript as headless
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Step
from tallystick.sessions.figures import figures
from tallystick.sessions.rates import Rates
from tallystick.sessions.reported import Timing
from tallystick.sessions.statistics import IDLE_MS, Counted, Durations, ToolFigures, durations, statistics, summary
from tests.agents.conftest import events_of, events_of_lines
from tests.agents.gptme.test_transcript import RECEIPTS
from tests.agents.headless.test_transcript import GOLDEN, LEGACY, event
from tests.exports.conftest import recorded_steps
from tests.sessions.test_figures import entry
from tests.support.cases import each

SONNET, HAIKU = "claude-sonnet-4-20250514", "claude-3-5-haiku-20241022"


class ThreeAndFifteen:
    """The price that the golden session's figures are given for."""

    def rates(self, model: str, *, at_ms: int | None = None, prompt: int = 0) -> Rates | None:
        return Rates(input=Decimal(3), output=Decimal(15)) if model == SONNET else None


@pytest.fixture
def golden(tmp_path: Path) -> list[Recorded]:
    return recorded_steps(events_of(headless, GOLDEN), tmp_path / "store")


def test_the_golden_session_costs_what_its_own_replay_says(golden: list[Recorded]) -> None:
    found = statistics(golden, ThreeAndFifteen())
    assert f"${(found.models[SONNET].spending.cost_microusd or 0) / 1e6:.4f}" == "$0.0335"
    assert found.spending.cost_microusd == found.models[SONNET].spending.cost_microusd
    # All the others have no price, and are counted all the same.
    assert found.spending.unpriced_tokens == 865 + 52 + 756 + 3 + 612 + 27 + 198 + 12
    assert (found.spending.input, found.spending.output) == (10960 + 198, 570 + 12)


def test_what_that_replay_leaves_out_is_there(golden: list[Recorded]) -> None:
    found = statistics(golden)
    assert (found.failures, found.refused) == (2, 1)
    assert {goal: part.total_ms for goal, part in found.goals.items()} == {"draft": 16235, "review": 1437}
    assert found.llm == Timing(8, 9710)
    bash = found.unnamed_tokens["bash_security"]
    assert (bash.calls, bash.input, bash.output) == (1, 198, 12)
    assert (found.types["tool_result"], found.checkpoints, found.compactions) == (5, {"phase": 3}, 0)
    assert (found.sessions, found.total_ms, found.anomalies) == (1, 17683, ())


def test_the_golden_sessions_figures_by_tool_and_agent(golden: list[Recorded]) -> None:
    found = statistics(golden)
    assert found.tools["bash"] == ToolFigures(
        calls=2, failed=1, denied=1, durations=Durations(2, 2843, 662, 2181, 2181)
    )
    assert list(found.tools) == ["bash", "web_fetch", "read"]
    assert {name: (part.tool_calls, part.failures) for name, part in found.agents.items()} == {
        "headless": (4, 1),
        "headless/critic": (1, 1),
    }
    every_call = sum(tool.calls for tool in found.tools.values())
    assert sum(part.tool_calls for part in found.agents.values()) == every_call  # the denied one, too
    assert found.agents["headless/critic"].spending.input == 865
    assert [(one.n, one.prompt.split("\n")[0]) for one in found.requests] == [(7, '<workflow name="release-notes">')]


def test_both_forms_of_the_log_have_the_same_figures(golden: list[Recorded], tmp_path: Path) -> None:
    legacy = recorded_steps(events_of(headless_legacy, LEGACY), tmp_path / "legacy")
    found, of_legacy = statistics(golden), statistics(legacy)
    for name in ("steps", "types", "tools", "models", "agents", "goals", "funnel", "phases", "reported", "active_ms"):
        assert getattr(found, name) == getattr(of_legacy, name)


def test_sessions_of_other_agents_have_figures_too(tmp_path: Path) -> None:
    found = statistics(recorded_steps(events_of(gptme, RECEIPTS), tmp_path / "store"))
    used = found.models["openai/gpt-4o-mini"].spending
    assert (used.calls, used.input, used.output) == (8, 1807, 441)
    assert (found.failures, found.refused, found.llm.count) == (2, 0, 8)
    assert used.said_calls == 8


def test_a_step_that_was_revised_twice_counts_once_as_it_was_last(tmp_path: Path) -> None:
    def call(output: int) -> Step:
        meta: dict[str, Json] = {"model": "m", "tokens": {"input": 5, "output": output}}
        return Step(session="s", type="model_call", source_id="u", meta=meta)

    steps = recorded_steps([Opening(session="s", agent="demo"), call(1), call(2), call(3)], tmp_path / "store")
    found = statistics(steps)
    assert (len(steps), found.models["m"].calls, found.models["m"].spending.output) == (4, 1, 3)
    assert found.types == {"session_start": 1, "model_call": 1}


def test_a_goal_that_ran_twice_counts_both(tmp_path: Path) -> None:
    kinds = ["goal_start", "goal_end", "goal_start", "goal_end"]
    lines = [event(seq, kind, goal="g") for seq, kind in enumerate(kinds, 1)]
    found = statistics(recorded_steps(events_of_lines(headless, lines), tmp_path / "store"))
    assert {goal: part.total_ms for goal, part in found.goals.items()} == {"g": 2000}


def test_several_sessions_are_counted_together(golden: list[Recorded]) -> None:
    one = Counted(figures(golden))
    other = Counted(figures([entry(0, "session_start", agent="demo"), entry(1, "user")]))
    found, both = summary([one]), summary([one, other])
    assert (both.sessions, both.steps) == (2, found.steps + 2)
    assert both.tools == found.tools
    assert (both.goals, both.total_ms) == (found.goals, found.total_ms)


def test_calls_of_two_sessions_with_one_id_are_not_brought_together() -> None:
    call, result = entry(0, "tool_call", corr="a", tool="x"), entry(0, "tool_result", corr="a", tool="x", success=False)
    tools = summary([Counted(figures([call])), Counted(figures([result]))]).tools
    assert (tools["x"].calls, tools["x"].failed, tools["x"].durations.count) == (2, 1, 0)


def test_checkpoints_are_counted_by_what_made_them() -> None:
    said: list[dict[str, Json]] = [{"trigger": "manual"}, {"trigger": "manual"}, {"ckpt_type": "draft"}, {}]
    steps = [entry(n, "checkpoint", **meta) for n, meta in enumerate(said)]
    assert statistics(steps).checkpoints == {"manual": 2, "phase": 1, "unknown": 1}


def at(n: int, kind: str, second: int, **meta: Json) -> Recorded:
    return entry(n, kind, ts=f"2026-01-02T03:{second // 60:02}:{second % 60:02}.000000Z", **meta)


@each(
    "steps, active_ms",
    [
        ([], 0),
        ([at(0, "user", 0), at(1, "assistant", 4)], 4_000),
        ([at(0, "user", 0), at(1, "assistant", 4), at(2, "user", 60), at(3, "assistant", 61)], 5_000),
        ([at(0, "tool_call", 0), at(1, "tool_result", 900)], 0),  # a long silence, and nobody says what it was
        ([at(0, "tool_call", 0), at(1, "tool_result", 900, duration_ms=800_000)], 800_000),
        ([at(0, "tool_call", 0), at(1, "tool_result", IDLE_MS // 1000)], IDLE_MS),
        ([at(0, "user", 0), at(1, "user", 3, origin="injected"), at(2, "assistant", 4)], 4_000),
    ],
)
def test_being_at_work_is_neither_waiting_for_a_prompt_nor_a_long_silence(
    steps: list[Recorded], active_ms: int
) -> None:
    assert statistics(steps).active_ms == active_ms


@given(st.lists(st.integers(0, 10**9), min_size=1))
def test_so_many_durations_are_not_above_a_percentile(took: list[int]) -> None:
    found = durations(took)
    for part, value in ((50, found.p50_ms), (95, found.p95_ms)):
        assert value in took
        assert sum(one <= value for one in took) * 100 >= part * len(took)
        assert sum(one < value for one in took) * 100 < part * len(took)
    assert (found.count, found.total_ms, found.max_ms) == (len(took), sum(took), max(took))


def test_nothing_has_no_figures() -> None:
    found = statistics([])
    assert (found.total_ms, found.steps, found.tools, found.models, found.llm.average_ms) == (0, 0, {}, {}, 0)
    assert durations([]) == Durations()

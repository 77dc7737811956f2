from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.agents import gptme, headless, headless_legacy
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Step
from tallystick.sessions.statistics import ModelTokens, Timing, cost_microusd, statistics
from tests.agents.conftest import events_of, events_of_lines
from tests.agents.test_gptme import RECEIPTS
from tests.agents.test_headless import GOLDEN, LEGACY, event
from tests.exports.conftest import recorded_steps

SONNET, HAIKU = "claude-sonnet-4-20250514", "claude-3-5-haiku-20241022"


@pytest.fixture
def golden(tmp_path: Path) -> list[Recorded]:
    return recorded_steps(events_of(headless, GOLDEN), tmp_path / "store")


def test_the_figures_of_the_agents_own_replay_are_reproduced(golden: list[Recorded]) -> None:
    reported = statistics(golden).reported
    assert f"{reported.total_ms / 1000:.2f}s" == "17.68s"
    assert reported.supervisor == Timing(1, 1782)
    assert (reported.triage.count, reported.triage.average_ms) == (3, 342)
    assert reported.security_supervisor == Timing(1, 1792)
    assert reported.bash_deterministic == 1
    assert (reported.bash_llm.count, reported.bash_llm.average_ms) == (1, 272)
    assert (reported.goals, reported.llm) == ({}, Timing())
    assert reported.tokens == {
        SONNET: ModelTokens(6, 8727, 488),
        HAIKU: ModelTokens(2, 865, 52),
        "triage": ModelTokens(3, 756, 3),
        "supervisor": ModelTokens(1, 612, 27),
    }
    assert (reported.all_tokens.input, reported.all_tokens.output) == (10960, 570)
    assert f"${cost_microusd(reported.tokens[SONNET], (3, 15)) / 1e6:.4f}" == "$0.0335"


def test_what_the_replay_leaves_out_is_there(golden: list[Recorded]) -> None:
    found = statistics(golden)
    assert (found.failures, found.refused) == (2, 1)
    assert found.goals == {"draft": 16235, "review": 1437}
    assert found.llm == Timing(8, 9710)
    assert found.unnamed_tokens == {"bash_security": ModelTokens(1, 198, 12)}
    assert found.steps["tool_result"] == 5


def test_both_forms_of_the_log_have_the_same_figures(golden: list[Recorded], tmp_path: Path) -> None:
    assert statistics(recorded_steps(events_of(headless_legacy, LEGACY), tmp_path / "legacy")) == statistics(golden)


def test_a_check_without_members_is_told_by_its_text(tmp_path: Path) -> None:
    lines = [
        event(1, "bash_security", content="[deterministic] ALLOW: ls"),
        event(2, "bash_security", content="[llm] ALLOW: ls", duration_ms=30),
        event(3, "bash_security", content="[llm] ALLOW: ls"),
    ]
    reported = statistics(recorded_steps(events_of_lines(headless, lines), tmp_path / "store")).reported
    assert (reported.bash_deterministic, reported.bash_llm) == (1, Timing(1, 30))


def test_times_that_the_agent_never_writes_are_counted_if_they_are_there(tmp_path: Path) -> None:
    lines = [
        event(1, "goal_end", goal="g", duration_ms=70),
        event(2, "assistant", meta={"model": "m", "latency_ms": 40}),
        event(3, "assistant", meta={"model": "m", "latency_ms": 0}),
    ]
    found = statistics(recorded_steps(events_of_lines(headless, lines), tmp_path / "store"))
    assert (found.reported.goals, found.reported.llm, found.llm) == ({"g": 70}, Timing(1, 40), Timing(1, 40))
    assert found.goals == {}


def test_a_goal_that_ran_twice_counts_both(tmp_path: Path) -> None:
    kinds = ["goal_start", "goal_end", "goal_start", "goal_end"]
    lines = [event(seq, kind, goal="g") for seq, kind in enumerate(kinds, 1)]
    assert statistics(recorded_steps(events_of_lines(headless, lines), tmp_path / "store")).goals == {"g": 2000}


def test_a_step_that_was_revised_twice_counts_once_as_it_was_last(tmp_path: Path) -> None:
    def call(output: int) -> Step:
        meta: dict[str, Json] = {"model": "m", "tokens": {"input": 5, "output": output}}
        return Step(session="s", type="model_call", source_id="u", meta=meta)

    steps = recorded_steps([Opening(session="s", agent="demo"), call(1), call(2), call(3)], tmp_path / "store")
    assert len(steps) == 4
    found = statistics(steps)
    assert found.reported.tokens == {"m": ModelTokens(1, 5, 3)}
    assert found.steps == {"session_start": 1, "model_call": 1}


def test_sessions_of_other_agents_have_figures_too(tmp_path: Path) -> None:
    found = statistics(recorded_steps(events_of(gptme, RECEIPTS), tmp_path / "store"))
    assert found.reported.tokens == {"openai/gpt-4o-mini": ModelTokens(8, 1807, 441)}
    assert (found.failures, found.refused, found.llm.count) == (2, 0, 8)


def test_nothing_has_no_figures() -> None:
    found = statistics([])
    assert (found.reported.total_ms, found.steps, found.llm.average_ms) == (0, {}, 0)

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.agents import Adapter
from tallystick.agents.headless import legacy as headless_legacy
from tallystick.agents.headless import transcript as headless
from tallystick.sessions.figures import figures
from tallystick.sessions.reported import ModelTokens, Reported, Timing, reported
from tests.agents.conftest import events_of, events_of_lines
from tests.agents.headless.test_transcript import GOLDEN, LEGACY, event
from tests.exports.conftest import recorded_steps

SONNET, HAIKU = "claude-sonnet-4-20250514", "claude-3-5-haiku-20241022"


def of_lines(lines: list[bytes], folder: Path) -> Reported:
    return reported(figures(recorded_steps(events_of_lines(headless, lines), folder / "store")))


@pytest.mark.parametrize(("adapter", "path"), [(headless, GOLDEN), (headless_legacy, LEGACY)], ids=["lines", "legacy"])
def test_the_figures_of_the_agents_own_replay_are_reproduced(adapter: Adapter, path: Path, tmp_path: Path) -> None:
    found = reported(figures(recorded_steps(events_of(adapter, path), tmp_path / "store")))
    assert f"{found.total_ms / 1000:.2f}s" == "17.68s"
    assert found.supervisor == Timing(1, 1782)
    assert (found.triage.count, found.triage.average_ms) == (3, 342)
    assert found.security_supervisor == Timing(1, 1792)
    assert found.bash_deterministic == 1
    assert (found.bash_llm.count, found.bash_llm.average_ms) == (1, 272)
    assert (found.goals, found.llm) == ({}, Timing())
    assert list(found.tokens.items()) == [
        (SONNET, ModelTokens(6, 8727, 488)),
        ("triage", ModelTokens(3, 756, 3)),
        ("supervisor", ModelTokens(1, 612, 27)),
        (HAIKU, ModelTokens(2, 865, 52)),
    ]
    assert (found.all_tokens.input, found.all_tokens.output) == (10960, 570)


def test_a_check_without_members_is_told_by_its_text(tmp_path: Path) -> None:
    lines = [
        event(1, "bash_security", content="[deterministic] ALLOW: ls"),
        event(2, "bash_security", content="[llm] ALLOW: ls", duration_ms=30),
        event(3, "bash_security", content="[llm] ALLOW: ls"),
    ]
    found = of_lines(lines, tmp_path)
    assert (found.bash_deterministic, found.bash_llm) == (1, Timing(1, 30))


def test_times_that_the_agent_never_writes_are_counted_if_they_are_there(tmp_path: Path) -> None:
    lines = [
        event(1, "goal_end", goal="g", duration_ms=70),
        event(2, "assistant", meta={"model": "m", "latency_ms": 40}),
        event(3, "assistant", meta={"model": "m", "latency_ms": 0}),
    ]
    found = of_lines(lines, tmp_path)
    assert (found.goals, found.llm) == ({"g": 70}, Timing(1, 40))


def test_nothing_has_no_figures() -> None:
    found = reported([])
    assert (found.total_ms, found.all_tokens, found.llm.average_ms) == (0, ModelTokens(), 0)

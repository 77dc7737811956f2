from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.agents.headless import transcript as headless
from tallystick.agents.swe_agent import transcript as swe_agent
from tallystick.model.recorded import Recorded
from tallystick.sessions.figures import figures
from tallystick.sessions.pairing import Exchange, exchanges
from tests.agents.conftest import events_of
from tests.agents.headless.test_transcript import GOLDEN
from tests.exports.conftest import recorded_steps
from tests.sessions.test_figures import entry

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "public" / "small"


def pairs(*steps: Recorded) -> list[Exchange]:
    return exchanges(figures(steps))


def shown(found: list[Exchange]) -> list[tuple[int | None, list[int]]]:
    return [(one.call.n if one.call else None, [result.n for result in one.results]) for one in found]


def test_the_calls_of_the_golden_session_have_their_results(tmp_path: Path) -> None:
    found = exchanges(figures(recorded_steps(events_of(headless, GOLDEN), tmp_path / "store")))
    assert [(one.tool, one.is_failed, one.is_refused) for one in found] == [
        ("web_fetch", False, False),
        ("web_fetch", False, False),
        ("bash", True, True),  # refused: nothing of it is in the record but that
        ("bash", False, False),
        ("read", True, False),
    ]
    assert [one.call is None for one in found] == [False, False, True, False, False]
    assert [one.took_ms for one in found] == [371, 631, 2181, 662, 0]


def test_calls_may_overlap() -> None:
    found = pairs(
        entry(0, "tool_call", corr="a", tool="x"),
        entry(1, "tool_call", corr="b", tool="y"),
        entry(2, "tool_result", corr="b"),
        entry(3, "tool_result", corr="a", tool="x"),
    )
    assert shown(found) == [(0, [3]), (1, [2])]
    assert [one.tool for one in found] == ["x", "y"]


def test_calls_without_ids_are_answered_in_order() -> None:
    found = pairs(
        entry(0, "tool_call", tool="x"),
        entry(1, "tool_call", tool="y"),
        entry(2, "tool_result"),
        entry(3, "tool_result"),
        entry(4, "tool_result"),
    )
    assert shown(found) == [(0, [2]), (1, [3]), (None, [4])]
    assert found[2].tool == "?"


def test_a_result_may_come_before_its_call() -> None:
    assert shown(pairs(entry(0, "tool_result", corr="a"), entry(1, "tool_call", corr="a"))) == [(1, [0])]


def test_an_id_that_is_used_again_is_another_call() -> None:
    found = pairs(
        entry(0, "tool_call", corr="a"),
        entry(1, "tool_result", corr="a"),
        entry(2, "tool_call", corr="a"),
        entry(3, "tool_result", corr="a"),
    )
    assert shown(found) == [(0, [1]), (2, [3])]


def test_two_results_of_one_call_are_one_exchange() -> None:
    found = pairs(
        entry(0, "tool_call", corr="a"),
        entry(1, "tool_result", corr="a", success=True, duration_ms=4),
        entry(2, "tool_result", corr="a", success=False),
    )
    assert shown(found) == [(0, [1, 2])]
    assert (found[0].is_failed, found[0].took_ms) == (True, 4)


def test_a_call_that_a_policy_denied_is_refused_without_a_result() -> None:
    found = pairs(entry(0, "tool_call", corr="a"), entry(1, "decision", corr="a", effect="deny"))
    assert [(one.is_refused, one.is_failed, one.took_ms) for one in found] == [(True, False, None)]
    observed = pairs(entry(0, "tool_call", corr="a"), entry(1, "decision", corr="a", effect="allow", would="deny"))
    assert not observed[0].is_refused


def test_what_took_how_long_is_known_from_the_times_too() -> None:
    call = entry(0, "tool_call", corr="a", ts="2026-01-02T03:04:05.000000Z")
    assert pairs(call, entry(1, "tool_result", corr="a", ts="2026-01-02T03:04:06.250000Z"))[0].took_ms == 1250
    assert pairs(call, entry(1, "tool_result", corr="a", ts="2026-01-02T03:04:01.000000Z"))[0].took_ms == 0
    assert pairs(call, entry(1, "tool_result", corr="a"))[0].took_ms is None


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="published histories are not here")
def test_swe_agent_gives_no_ids_and_all_its_calls_have_results(tmp_path: Path) -> None:
    for path in sorted(PUBLISHED.glob("*.traj")):
        found = exchanges(figures(recorded_steps(events_of(swe_agent, path), tmp_path / path.stem)))
        assert found
        assert all(one.call is not None and len(one.results) == 1 for one in found)

from __future__ import annotations

from pathlib import Path

from tallystick.agents.headless import transcript as headless
from tallystick.model.recorded import Recorded
from tallystick.sessions.anomalies import Anomaly, Kind, anomalies, together
from tallystick.sessions.figures import figures
from tests.agents.conftest import events_of, events_of_lines
from tests.agents.headless.test_transcript import GOLDEN, event
from tests.exports.conftest import recorded_steps
from tests.sessions.test_figures import SID, entry

HERE = SID[:8]


def found(*steps: Recorded) -> dict[Kind, tuple[str, ...]]:
    return {anomaly.kind: anomaly.steps for anomaly in anomalies(figures(steps))}


def test_the_golden_session_fits_together(tmp_path: Path) -> None:
    assert anomalies(figures(recorded_steps(events_of(headless, GOLDEN), tmp_path / "store"))) == ()


def test_calls_and_results_that_stand_alone() -> None:
    assert found(
        entry(0, "tool_call", corr="a"),
        entry(1, "tool_call", corr="b"),
        entry(2, "tool_result", corr="b"),
        entry(3, "tool_result", corr="c"),
        entry(4, "tool_call"),
    ) == {Kind.NO_RESULT: (f"{HERE}:0", f"{HERE}:4"), Kind.NO_CALL: (f"{HERE}:3",)}


def test_what_was_refused_may_stand_alone() -> None:
    assert not found(
        entry(0, "tool_call", corr="a"),
        entry(1, "decision", corr="a", effect="deny"),
        entry(2, "tool_result", corr="b", decision="deny", success=False),
    )


def test_what_was_denied_and_ran_all_the_same() -> None:
    assert found(
        entry(0, "tool_call", corr="a"),
        entry(1, "decision", corr="a", effect="deny"),
        entry(2, "file_effect", parent=0),
        entry(3, "tool_result", corr="a", success=True),
    ) == {Kind.DENIED_RAN: (f"{HERE}:2", f"{HERE}:3")}
    assert not found(
        entry(0, "tool_call", corr="a"),
        entry(1, "security_decision", corr="a", action="deny"),
        entry(2, "tool_result", corr="a", success=False),
    )
    assert not found(  # the profile only observed
        entry(0, "tool_call", corr="a"),
        entry(1, "decision", corr="a", effect="allow", would="deny"),
        entry(2, "tool_result", corr="a", success=True),
    )


def test_numbers_of_the_source_that_are_missing_or_used_twice(tmp_path: Path) -> None:
    lines = [event(1, "user"), event(2, "user"), event(5, "user"), event(6, "user"), event(9, "user")]
    steps = recorded_steps(events_of_lines(headless, lines), tmp_path / "store")
    assert [(one.kind, one.count) for one in anomalies(figures(steps))] == [(Kind.NUMBER_MISSING, 2)]
    # A reply is two steps with one number.
    assert found(entry(0, "model_call", seq=4), entry(1, "assistant", seq=4)) == {}
    assert found(entry(0, "user", seq=4), entry(1, "user", seq=5), entry(2, "user", seq=4)) == {
        Kind.NUMBER_TWICE: (f"{HERE}:2",)
    }


def test_a_clock_that_goes_back_by_more_than_a_second() -> None:
    def at(n: int, seconds: str) -> Recorded:
        return entry(n, "user", ts=f"2026-01-02T03:04:{seconds}Z")

    assert found(at(0, "05.000000"), at(1, "04.500000"), entry(2, "user"), at(3, "03.000000"), at(4, "03.000000")) == {
        Kind.CLOCK_BACK: (f"{HERE}:3",)
    }


def test_gaps_that_the_recorder_noted() -> None:
    assert found(entry(0, "gap", reason="spool full")) == {Kind.GAP: (f"{HERE}:0",)}


def test_places_are_counted_all_and_named_in_part() -> None:
    (one,) = anomalies(figures([entry(n, "gap") for n in range(50)]))
    assert (one.count, len(one.steps)) == (50, 20)
    assert together([(one,), (), (one,)]) == (Anomaly(Kind.GAP, 100, one.steps),)

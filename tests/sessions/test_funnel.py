from __future__ import annotations

from pathlib import Path

from tallystick.agents.headless import transcript as headless
from tallystick.model.step import Json
from tallystick.sessions.figures import figures
from tallystick.sessions.funnel import Funnel, Phases, Stage, funnel, phases
from tallystick.sessions.reported import Timing
from tests.agents.conftest import events_of
from tests.agents.headless.test_transcript import GOLDEN
from tests.exports.conftest import recorded_steps
from tests.sessions.test_figures import entry
from tests.support.cases import each, each_case


def test_the_checks_of_the_golden_session(tmp_path: Path) -> None:
    found = funnel(figures(recorded_steps(events_of(headless, GOLDEN), tmp_path / "store")))
    assert found.static == Stage(checked=5, answers={"escalate": 3, "pass": 2}, skipped={"no_untrusted_content": 2})
    assert found.triage == Stage(
        checked=3, answers={"pass": 2, "escalate": 1}, skipped={"triage_benign": 2}, time=Timing(3, 1028)
    )
    assert found.supervisor == Stage(checked=1, answers={"deny": 1}, time=Timing(1, 1792))
    assert found.decision == Stage(checked=5, answers={"allow": 4, "deny": 1})
    assert found.paths == {"static": 2, "static→triage": 2, "static→triage→supervisor": 1}
    assert (found.bash_deterministic.answers, found.bash_llm.answers) == ({"allow": 1}, {"allow": 1})
    assert found.bash_llm.time == Timing(1, 272)
    # What a stage lets through is what the next one checks.
    assert found.static.answers["escalate"] == found.triage.checked
    assert found.triage.answers["escalate"] == found.supervisor.checked


def test_the_phases_of_the_golden_session(tmp_path: Path) -> None:
    found = phases(figures(recorded_steps(events_of(headless, GOLDEN), tmp_path / "store")))
    assert found.commit == Stage(checked=1, answers={"medium": 1}, time=Timing(1, 1204))
    assert found.execute == Stage(checked=2, answers={"complete": 2}, time=Timing(2, 12129))
    assert found.reconcile == Stage(checked=1, answers={"escalate": 1})
    assert found.triggers == {"concerns_raised": 1}
    assert found.supervise == Stage(checked=1, answers={"reorient": 1}, time=Timing(1, 1782))


@each_case("type_, stage")
@each("verdict", [None, "", 5, ["ALLOW"]])
def test_a_verdict_that_is_missing_is_unknown_and_no_approval(type_: str, stage: str, verdict: Json) -> None:
    meta = {} if verdict is None else {"verdict": verdict, "action": verdict}
    found = funnel(figures([entry(0, type_, **meta)]))
    assert getattr(found, stage).answers == {"unknown": 1}
    assert phases(figures([entry(0, "phase_supervise", **meta)])).supervise.answers == {"unknown": 1}


def test_a_command_that_a_check_did_not_pass_is_not_called_allowed() -> None:
    checks = [
        entry(0, "bash_security", check="llm", action="deny"),
        entry(1, "bash_security", check="llm"),
        entry(2, "bash_security", check="llm", **{"pass": True}),
    ]
    assert funnel(figures(checks)).bash_llm.answers == {"deny": 1, "unknown": 1, "allow": 1}


def test_what_policies_answered_is_told_by_rule() -> None:
    decisions = [
        entry(0, "decision", effect="deny", rules=["Secrets.read", "b"]),
        entry(1, "decision", effect="allow", would="deny", rules=["Secrets.read"]),
        entry(2, "decision", effect="warn", rules=[]),
        entry(3, "decision", effect="deny", rules=["Secrets.read", 7]),
        entry(4, "permission", decision="allow"),
    ]
    found = funnel(figures(decisions))
    assert found.policy == {"deny": 2, "would deny": 1, "warn": 1}
    assert found.rules == {"Secrets.read": {"deny": 2, "would deny": 1}, "b": {"deny": 1}, "unknown": {"deny": 1}}
    assert found.permissions == {"allow": 1}


def test_a_thousand_rules_are_not_kept() -> None:
    found = funnel(figures([entry(n, "decision", effect="deny", rules=[f"r{n}"]) for n in range(1000)]))
    assert (len(found.rules), found.policy) == (100, {"deny": 1000})


def test_nothing_checked_is_nothing() -> None:
    assert funnel([]) == Funnel()
    assert phases([]) == Phases()
    assert funnel([]).is_empty
    assert phases([]).is_empty

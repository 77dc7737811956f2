from __future__ import annotations

from tallystick.sessions.session_words import EventType, Phase, Status, Verdict


def test_there_are_23_types_of_events_and_three_older_names_of_the_security_checks() -> None:
    assert len(EventType) == 23
    aliases = {name: member for name, member in EventType.__members__.items() if name != member.name}
    assert aliases == {
        "SECURITY_TIER1": EventType.SECURITY_STATIC,
        "SECURITY_TIER2": EventType.SECURITY_TRIAGE,
        "SECURITY_TIER3": EventType.SECURITY_SUPERVISOR,
    }


def test_statuses_phases_and_verdicts_are_spelled_as_the_agent_spells_them() -> None:
    assert list(Status) == ["running", "complete", "failed"]
    assert list(Phase) == ["COMMIT", "EXECUTE", "RECONCILE", "SUPERVISE"]
    assert list(Verdict) == ["CONTINUE", "REORIENT", "PAUSE", "ALLOW", "DENY", "MODIFY"]

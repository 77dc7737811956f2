"""Which calls got no decision, and for how long that is reported."""

from __future__ import annotations

from tallystick.errors import PolicyError
from tallystick.guard.fallback_decision import undecided
from tallystick.live.delivery import Delivery
from tallystick.live.undecided import Undecided
from tallystick.model.decision import NO_OPINION, Decision, Effect

AT = "2026-11-22T09:00:00Z"
DELIVERY = Delivery(agent="claude-code", data=b"{}", received=AT)


def test_calls_that_no_policy_decided_on_are_counted_for_an_hour() -> None:
    counted = Undecided()
    counted.saw(DELIVERY, NO_OPINION)
    counted.saw(DELIVERY, Decision(effect=Effect.DENY, rules=("a.rule",)))
    assert counted.count(AT) == 0
    counted.saw(DELIVERY, undecided(Effect.ASK, PolicyError("broken")))
    counted.saw(DELIVERY, Decision(effect=Effect.ASK, rules=("hooks.on_error",)))
    counted.add(2, AT)
    assert counted.count("2026-11-22T09:59:59Z") == 4
    assert counted.count("2026-11-22T10:00:00Z") == 0

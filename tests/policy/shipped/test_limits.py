"""Limits that are passed are told of, and stop nothing."""

from __future__ import annotations

from importlib import resources

from tallystick.model.decision import Effect
from tallystick.policy.cedar.engine import load
from tallystick.policy.facts import Act, Action, CallFacts, Context, Facts
from tallystick.policy.settings import Limits, Settings
from tests.support.cases import each

SHIPPED = resources.files("tallystick.policy") / "shipped"
POLICIES = load(
    [(name, (SHIPPED / name).read_text("utf-8")) for name in ("base.cedar", "limits.cedar")],
    (SHIPPED / "tallystick.cedarschema").read_text("utf-8"),
)


def facts(*over: str) -> Facts:
    act = Act(action=Action.CALL, resource=CallFacts(tool="Bash", kind="shell"))
    return Facts(agent="a", context=Context(tool="Bash", session="s", over=frozenset(over)), acts=(act,))


@each("name", Limits.__struct_fields__)
def test_each_limit_warns_by_a_rule_of_its_own(name: str) -> None:
    decision = POLICIES.decide(facts(name), Settings())
    assert decision.effect is Effect.WARN
    assert len(decision.rules) == 1
    assert decision.rules[0].startswith("limits.")


def test_what_passes_no_limit_is_not_told_of() -> None:
    assert POLICIES.decide(facts(), Settings()).effect is Effect.ALLOW

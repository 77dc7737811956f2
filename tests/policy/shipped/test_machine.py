"""What the policies on the machine say of calls, and that each risk to the machine has one that asks for it."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Json
from tallystick.policy.cedar.engine import load
from tallystick.policy.risks import bombs, defences, disks, machine, privilege
from tests.support.cases import each_case

SHIPPED = resources.files("tallystick.policy") / "shipped"
TEXT = (SHIPPED / "machine.cedar").read_text("utf-8")


class Machine:
    """A home folder with a project."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "dev"
        self.project = self.home / "project"
        self.project.mkdir(parents=True)
        self.decider = Decider(Home(self.home / ".tally"), AgentMachine(self.home, environment={}))

    def call(self, tool: str, args: Json) -> Decision:
        return self.decider.decide(Call(agent="claude-code", session="s", tool=tool, args=args, cwd=str(self.project)))


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("machine"))


def test_each_risk_to_the_machine_is_asked_for_once() -> None:
    words = {word for module in (bombs, defences, disks, machine, privilege) for word in module.RISKS}
    asked = {word: TEXT.count(f'resource.risks.contains("{word}")') for word in words}
    assert asked == dict.fromkeys(words, 1)


def test_each_rule_says_why_and_how_grave_it_is() -> None:
    rules = load([("machine.cedar", TEXT)], (SHIPPED / "tallystick.cedarschema").read_text("utf-8")).rules
    assert all(rule.reason and rule.severity in ("medium", "high", "critical") for rule in rules)
    assert {rule.severity for rule in rules if rule.effect is Effect.DENY} == {"critical", "high"}


@each_case("tool, args, effect, rule")
def test_a_risk_is_answered_whatever_the_tool(laid_out: Machine, tool: str, args: Json, effect: str, rule: str) -> None:
    decision = laid_out.call(tool, args)
    assert decision.effect.value == effect
    assert rule in decision.rules


@each_case("tool, args")
def test_work_goes_on(laid_out: Machine, tool: str, args: Json) -> None:
    assert laid_out.call(tool, args).effect is Effect.ALLOW


def test_the_evidence_names_what_was_found(laid_out: Machine) -> None:
    decision = laid_out.call("Bash", {"command": "true; sudo -n iptables -F"})
    (found,) = [each for each in decision.evidence if each.rule == "machine.firewall"]
    assert "disables-firewall: iptables -F" in found.because

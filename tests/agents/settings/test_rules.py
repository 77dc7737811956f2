from __future__ import annotations

import re
from importlib import import_module

from tallystick.agents.settings import NAMES
from tallystick.agents.settings.rules import all_rules
from tests.agents.settings.cases import Case

SHARED = ("genai", "mcp", "hooks", "environment", "secret_values", "instructions", "skills")
MODULES = (
    *(f"tests.agents.{name}.test_settings" for name in NAMES),
    *(f"tests.agents.settings.test_{name}" for name in SHARED),
)


def cases() -> list[Case]:
    found: list[Case] = []
    for name in MODULES:
        module = import_module(name)
        for value in vars(module).values():
            if isinstance(value, list):
                found += [case for case in value if isinstance(case, Case)]
    return found


def test_each_rule_has_a_risky_case_and_an_innocent_one() -> None:
    from tests.setup.test_audit_config import RULES_TRIED

    tried = {case.rule for case in cases()} | RULES_TRIED
    assert {rule.id for rule in all_rules()} == tried


def test_rules_are_named_alike_and_say_what_to_do() -> None:
    rules = all_rules()
    assert len(rules) >= 40
    assert len({rule.id for rule in rules}) == len(rules)
    for rule in rules:
        assert re.fullmatch(r"[a-z]+\.[a-z]+(?:-[a-z]+)*", rule.id)
        assert rule.means.endswith(".")
        assert rule.remedy.endswith(".")

"""All rules of the audit, from `catalog/settings_rules`.

Owns reading them: how severe each is, what it means, and the remedy. Must not know when a file meets one: the module that
names a rule does.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from tallystick.agents.settings import Confidence, Rule, Severity
from tallystick.catalog import Entry, load_folder


class _Facts(Entry, frozen=True, kw_only=True):
    severity: Severity
    confidence: Confidence
    means: str
    remedy: str


@cache
def _rules() -> Mapping[str, Rule]:
    files = load_folder("settings_rules", dict[str, _Facts])
    return MappingProxyType(
        {
            id: Rule(id, facts.severity, facts.confidence, facts.means, facts.remedy)
            for rules in files.values()
            for id, facts in rules.items()
        }
    )


def rule_named(id: str) -> Rule:
    """The rule with this id."""
    return _rules()[id]


def all_rules() -> tuple[Rule, ...]:
    """Every rule once, by its id."""
    return tuple(rule for _, rule in sorted(_rules().items()))

"""When a call of a program is a risk, as its entry in the catalogue has it.

Owns the way from the tests of entries to rules by the names of programs, and the tests that several modules share. Must not
know any program by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from tallystick.catalog.programs import RiskRule, tests_of
from tallystick.policy.risks.call_forms import form_of
from tallystick.policy.risks.programs import Started

A = TypeVar("A")
R = TypeVar("R")
Rule: TypeAlias = Callable[[Started], str | None]
"""The risk of a call; None: it is none."""


def rules_of(
    module: str,
    written: Mapping[str, Callable[[A], R]],
    made: Mapping[str, Callable[[RiskRule], Callable[[A], R]]],
) -> dict[str, Callable[[A], R]]:
    """Rules by the names of programs. Of several tests of a program, the first that speaks decides.

    Args:
        module: whose tests these are.
        written: tests that are a function of their own, by name.
        made: tests that are made of what the entry says, by name.

    Raises:
        KeyError: an entry names a test that the module does not have.
    """

    def rule(test: RiskRule) -> Callable[[A], R]:
        name = test.when.partition(".")[2]
        if name in made:
            return made[name](test)
        return written[name]

    rules: dict[int, Callable[[A], R]] = {}  # the names of one entry share its tests
    for tests in tests_of(module).values():
        if id(tests) not in rules:
            rules[id(tests)] = _first([rule(test) for test in tests])
    return {name: rules[id(tests)] for name, tests in tests_of(module).items()}


def _first(rules: list[Callable[[A], R]]) -> Callable[[A], R]:
    if len(rules) == 1:
        return rules[0]

    def rule(given: A) -> R:
        found = rules[0](given)
        for other in rules[1:]:
            found = found or other(given)
        return found

    return rule


def judged(module: str, rules: Mapping[str, Rule], started: Started) -> str | None:
    """The risk of a call: what a rule finds, else what the form of the call is."""
    rule = rules.get(started.name)
    return (rule(started) if rule is not None else None) or form_of(module, started)

"""How often each rule in force fired on the record, and what people answered where it asked.

Owns what counts as fired and as answered. Must not know what a rule is about, nor how the answer is shown.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.errors import NotFoundError
from tallystick.guard.policy_rules import rules_in_force
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.decision import Effect
from tallystick.model.recorded import Recorded


class RuleUse(msgspec.Struct, kw_only=True):
    """The use of one rule: how often it fired, how often it asked, and how often the call was made then."""

    id: str
    effect: Effect
    fired: int = 0
    asked: int = 0
    accepted: int = 0

    @property
    def is_always_accepted(self) -> bool:
        """Whether it asked, and each call was made after that."""
        return 0 < self.asked == self.accepted


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """The use of all rules in force, over so many sessions and decisions."""

    sessions: int
    decisions: int
    rules: tuple[RuleUse, ...]
    never_fired: tuple[str, ...]
    always_accepted: tuple[str, ...]


def usage(home: Home, root: str | None) -> Usage:
    """The use of each rule in force in a repository (None: in none), over all that is recorded.

    Raises:
        NotFoundError: there is no store.
    """
    if not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    rules = {row.id: RuleUse(id=row.id, effect=row.effect) for row in rules_in_force(home, root).rules}
    sessions = decisions = 0
    for sid, _ in home.sessions():
        sessions += 1
        for decision, was_made in _decided(read_session(home, sid)):
            decisions += 1
            for name in _named(decision):
                if name in rules:
                    _count(rules[name], decision, was_made)
    return Usage(
        sessions=sessions,
        decisions=decisions,
        rules=tuple(sorted(rules.values(), key=lambda one: (-one.fired, one.id))),
        never_fired=tuple(sorted(one.id for one in rules.values() if not one.fired)),
        always_accepted=tuple(sorted(one.id for one in rules.values() if one.is_always_accepted)),
    )


def _count(rule: RuleUse, decision: Recorded, was_made: bool) -> None:
    rule.fired += 1
    if decision.member("effect") == Effect.ASK and rule.effect is Effect.ASK:
        rule.asked += 1
        rule.accepted += was_made


def _decided(steps: Iterator[Recorded]) -> Iterator[tuple[Recorded, bool]]:
    """Each decision of a policy, and whether the call was made after it."""
    found: list[Recorded] = []
    made = set()
    for step in steps:
        if step.type == "decision" and _named(step):
            found.append(step)
        elif step.type == "tool_result" and step.meta.get("decision") != "deny":
            made.add(step.member("corr"))
    for step in found:
        yield step, step.member("corr") in made


def _named(decision: Recorded) -> tuple[str, ...]:
    rules = decision.member("rules")
    return tuple(str(name) for name in rules) if isinstance(rules, list) else ()

"""Policies in force, and what they answer.

Owns loading a set whole or not at all, its digest, and how what Cedar says becomes a Decision. Must not know how facts are
found. The engine is Cedar, through `cedarpy`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

import cedarpy
import msgspec

from tallystick.errors import PolicyError
from tallystick.model.decision import Call, Decision, Effect
from tallystick.policy.facts import Facts
from tallystick.policy.texts import policies_in

_STRENGTH = (Effect.DENY, Effect.ASK, Effect.WARN)
_ACTION = {"type": "Action", "id": "tool_call"}
_NO_ENTITIES = "[]"
_MOST_KNOWN = 4096


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One policy: its annotations and where it stands."""

    id: str
    effect: Effect
    """What it makes of a call that it speaks against."""
    severity: str
    reason: str
    file: str
    line: int


class PolicySet:
    """Policies that were loaded together. Immutable; safe for several threads."""

    def __init__(self, rules: Mapping[str, Rule], parsed: cedarpy.PolicySet, digest: str) -> None:
        self._rules = rules
        self._parsed = parsed
        self._entities = cedarpy.Entities.from_json_str(_NO_ENTITIES)
        self._known: dict[tuple[str, Facts], Decision] = {}
        self.digest = digest
        """SHA-256 over all texts and their names, in hex."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, as they stand in the files."""
        return tuple(self._rules.values())

    def decide(self, call: Call, facts: Facts) -> Decision:
        """What the policies say of a call with these facts.

        Raises:
            PolicyError: a policy could not be evaluated. Policies that fit the schema always can.
        """
        known = self._known.get((call.agent, facts))
        if known is None:
            known = self._asked(call.agent, facts)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[(call.agent, facts)] = known
        return known

    def _asked(self, agent: str, facts: Facts) -> Decision:
        """The engine's answer. Agent and facts are all that a policy sees, so the same answer is due to the same."""
        request = {
            "principal": {"type": "Agent", "id": agent},
            "action": _ACTION,
            "resource": {"type": "Call", "id": facts.tool},
            "context": facts.context(),
        }
        result = cedarpy.is_authorized(request, self._parsed, self._entities)
        spoke = [self._rules[name] for name in result.diagnostics.reasons]
        is_allowed = result.decision is cedarpy.Decision.Allow
        decision = Decision(policy=self.digest) if is_allowed else self._refusal(spoke)
        # A policy that failed might have said more, but nothing outweighs a denial that others agree on.
        if result.diagnostics.errors and not (spoke and decision.effect is Effect.DENY):
            raise PolicyError(f"the policies cannot judge a call: {'; '.join(result.diagnostics.errors)}")
        return decision

    def _refusal(self, spoke: Sequence[Rule]) -> Decision:
        """What rules that spoke against a call make together: the strongest decides."""
        if not spoke:
            return Decision(effect=Effect.DENY, reason="No policy permits this call.", policy=self.digest)
        ordered = sorted(spoke, key=lambda rule: (_STRENGTH.index(rule.effect), rule.id))
        effect = ordered[0].effect
        reasons = dict.fromkeys(rule.reason for rule in ordered if rule.effect is effect and rule.reason)
        rules = tuple(dict.fromkeys(rule.id for rule in ordered))
        return Decision(effect=effect, rules=rules, reason=" ".join(reasons), policy=self.digest)


def load(files: Iterable[tuple[str, str]], schema: str) -> PolicySet:
    """A set of the policies in some files.

    Args:
        files: Names, which messages use, and texts.
        schema: The text of the schema that every policy must fit.

    Raises:
        PolicyError: one of them cannot be used, so none is. The message has file and line.
    """
    parsed_schema = _schema(schema)
    placed = [(name, line, text) for name, whole in files for line, text in policies_in(whole)]
    rules: dict[str, Rule] = {}
    for number, (name, line, text) in enumerate(placed):
        rules[f"policy{number}"] = _rule(name, line, text, parsed_schema)
    parsed = cedarpy.PolicySet.from_str("\n".join(text for _, _, text in placed))
    # The reasons of a decision name policies by position: a count that is not ours would name the wrong ones.
    if len(parsed) != len(rules):
        raise PolicyError(f"{len(rules)} policies were read, the engine has {len(parsed)}")
    return PolicySet(rules, parsed, _digest(placed, schema))


def _schema(text: str) -> cedarpy.Schema:
    try:
        return cedarpy.Schema.from_str(text)
    except ValueError as error:
        raise PolicyError(f"the schema of the policies is broken: {error}") from error


def _rule(file: str, line: int, text: str, schema: cedarpy.Schema) -> Rule:
    """One policy, checked by itself."""
    try:
        found = json.loads(cedarpy.policies_to_json_str(text))
        checked = cedarpy.validate_policies(text, schema)
    except ValueError as error:
        raise _refused(file, line, str(error)) from error
    if found["templates"] or len(found["staticPolicies"]) != 1:
        raise _refused(file, line, "a policy with ?principal or ?resource is a template, which nothing fills here")
    if not checked.validation_passed:
        reasons = "; ".join(error.error.removeprefix("for policy `policy0`, ") for error in checked.errors)
        raise _refused(file, line, reasons)
    (policy,) = found["staticPolicies"].values()
    return _annotated(file, line, policy.get("annotations", {}))


def _annotated(file: str, line: int, annotations: dict[str, str | None]) -> Rule:
    decision = annotations.get("decision") or Effect.DENY.value
    if decision not in _STRENGTH:
        raise _refused(file, line, f"@decision is {decision!r}", hint="deny, ask or warn")
    return Rule(
        id=annotations.get("id") or f"{file}:{line}",
        effect=Effect(decision),
        severity=annotations.get("severity") or "medium",
        reason=annotations.get("reason") or "",
        file=file,
        line=line,
    )


def _refused(file: str, line: int, why: str, *, hint: str | None = None) -> PolicyError:
    return PolicyError(
        f"{file}, the policy on line {line}: {why}", hint=hint or "nothing is decided with a set that is broken"
    )


def _digest(placed: Iterable[tuple[str, int, str]], schema: str) -> str:
    """Over names and texts, each with its length before it, so that no two sets look the same."""
    whole = sha256()
    for part in (schema, *(part for name, _, text in placed for part in (name, text))):
        data = part.encode()
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()

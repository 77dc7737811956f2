"""What a decision rests on, found by judging the call again with one thing changed at a time.

Owns which facts a rule needs to speak, and which single change would make the answer milder: a fact that is not so, another
profile, a setting. Nothing is guessed from a policy's text. Must not know how a decision is shown.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from tallystick.guard.policies import Texts, load_set, packs
from tallystick.model.decision import Decision, Effect
from tallystick.model.step import Json
from tallystick.policy.cedar.engine import PolicySet
from tallystick.policy.facts import Act, Context, Facts, FileFacts, Resource, attributes, name_of
from tallystick.policy.network.hosts import HostFacts
from tallystick.policy.settings import OutsideWrites, Profile, Settings

_GRAVITY = (Effect.ALLOW, Effect.WARN, Effect.ASK, Effect.DENY)
_MOST = 8
_NAMING = ("path", "name", "host", "tool", "program")
"""Members that say what an act is about: without them it is another act."""


class Fact(msgspec.Struct, frozen=True):
    """A fact without which a rule would not speak: a member, and its value or the word of it."""

    name: str
    value: Json


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Something that would change the answer, and the answer then."""

    what: str
    effect: Effect
    rules: tuple[str, ...]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One rule that speaks: what would be done, the facts that make the rule speak, and the rule."""

    action: str
    target: str
    facts: tuple[Fact, ...]
    rule: str
    effect: Effect


class Judge(msgspec.Struct, frozen=True):
    """All that a call is judged by."""

    policies: PolicySet
    facts: Facts
    settings: Settings
    own: Texts
    """The policies in force that do not come with the program."""
    judged_with: Callable[[Settings], Decision]
    """The decision on the call with other settings, its facts found again."""

    def rules(self, facts: Facts) -> tuple[str, ...]:
        """The rules that speak of some facts."""
        return self.policies.decide(facts, self.settings).rules


def findings(judge: Judge) -> tuple[Finding, ...]:
    """What speaks in a decision, the gravest first, each rule once."""
    decision = judge.policies.decide(judge.facts, judge.settings)
    known = {rule.id: rule.effect for rule in judge.policies.rules}
    acts: dict[str, Act] = {}
    for act in judge.facts.acts:
        for rule in judge.rules(replace(judge.facts, acts=(act,))):
            acts.setdefault(rule, act)
    return tuple(
        Finding(
            action=str(acts[rule].action),
            target=name_of(acts[rule].resource),
            facts=tuple(_needed(judge, acts[rule], rule)),
            rule=rule,
            effect=known.get(rule, Effect.DENY),
        )
        for rule in decision.rules[:_MOST]
        if rule in acts
    )


def _needed(judge: Judge, act: Act, rule: str) -> Iterator[Fact]:
    for fact, facts in _without_one(judge.facts, act):
        if rule not in judge.rules(facts):
            yield fact


def _without_one(facts: Facts, act: Act) -> Iterator[tuple[Fact, Facts]]:
    """Facts of one act, each time without one of them."""
    for fact, resource in _resources(act.resource):
        yield fact, replace(facts, acts=(replace(act, resource=resource),))
    for fact, context in _contexts(facts.context):
        yield fact, replace(facts, acts=(act,), context=context)


def _resources(resource: Resource) -> Iterator[tuple[Fact, Resource]]:
    for fact, member, value in _lessened(resource):
        yield fact, replace(resource, **{member: value})


def _contexts(context: Context) -> Iterator[tuple[Fact, Context]]:
    for fact, member, value in _lessened(context):
        yield fact, replace(context, **{member: value})


def _lessened(value: Resource | Context) -> Iterator[tuple[Fact, str, object]]:
    """Each fact of a value, and the member without it: a word less, the opposite, nothing known."""
    defaults = dict(zip(value.__struct_fields__[::-1], value.__struct_defaults__[::-1], strict=False))
    for member in attributes(value):
        found = getattr(value, member)
        is_usual = found == defaults.get(member)
        if member in _NAMING or (is_usual and not isinstance(found, bool)):
            continue
        match found:
            case frozenset():
                yield from ((Fact(member, word), member, found - {word}) for word in sorted(found))
            case bool():
                yield Fact(member, found), member, not found
            case str() if member == "place":
                yield Fact(member, str(found)), member, type(found)("workspace")
            case str():
                yield Fact(member, str(found)), member, defaults.get(member, "")
            case _:
                pass


# What would change it ------------------------------------------------------------------------------------------------


def changes(judge: Judge) -> tuple[Change, ...]:
    """The single changes that make the answer milder, each with the answer then; at most eight."""
    now = judge.policies.decide(judge.facts, judge.settings)
    found: dict[str, Change] = {}
    for what, then in (*_by_facts(judge, now), *_by_exceptions(judge, now), *_by_profiles(judge), *_by_settings(judge)):
        if _GRAVITY.index(then.effect) < _GRAVITY.index(now.effect):
            found.setdefault(what, Change(what=what, effect=then.effect, rules=then.rules))
    return tuple(found.values())[:_MOST]


def _by_facts(judge: Judge, now: Decision) -> Iterator[tuple[str, Decision]]:
    """With one fact of one act not so."""
    deciding = set(now.rules)
    for n, act in enumerate(judge.facts.acts):
        if deciding.isdisjoint(judge.rules(replace(judge.facts, acts=(act,)))):
            continue
        for fact, without in _without_one(judge.facts, act):
            acts = (*judge.facts.acts[:n], without.acts[0], *judge.facts.acts[n + 1 :])
            whole = replace(without, acts=acts)
            yield _untrue(fact), judge.policies.decide(whole, judge.settings)


def _untrue(fact: Fact) -> str:
    if isinstance(fact.value, bool):
        return f"{fact.name} is {'no' if fact.value else 'yes'}"
    return f"{fact.name} is not {fact.value}"


def _by_exceptions(judge: Judge, now: Decision) -> Iterator[tuple[str, Decision]]:
    """With a rule lifted for this call."""
    held = {rule.id for rule in judge.policies.rules if rule.holds_always}
    for rule in now.rules[:_MOST]:
        if rule not in held:
            text = f'@id("what-if")@lifts("{rule}")permit (principal, action, resource);'
            policies = load_set(
                judge.settings.profile, packs(judge.settings.packs), judge.own, (("/what-if.cedar", text),)
            )
            yield f"an exception lifts {rule}", policies.decide(judge.facts, judge.settings)


def _by_profiles(judge: Judge) -> Iterator[tuple[str, Decision]]:
    for profile in Profile:
        if profile is not judge.settings.profile:
            settings = replace(judge.settings, profile=profile)
            yield (
                f"policy.profile = {profile}",
                load_set(profile, packs(judge.settings.packs), judge.own).decide(judge.facts, settings),
            )


def _by_settings(judge: Judge) -> Iterator[tuple[str, Decision]]:
    tried = dict(setting for act in judge.facts.acts for setting in _settings(act, judge.settings))
    for what, settings in list(tried.items())[:_MOST]:
        yield what, judge.judged_with(settings)


def _settings(act: Act, settings: Settings) -> Iterator[tuple[str, Settings]]:
    """Settings that are about what an act is done to."""
    match act.resource:
        case FileFacts(place="home" | "outside", path=path):
            folder = posixpath.dirname(path)
            yield f"policy.trusted has {folder}", replace(settings, trusted=(*settings.trusted, folder))
            if settings.write_outside_workspace is not OutsideWrites.ASK:
                yield (
                    "policy.write_outside_workspace = ask",
                    replace(settings, write_outside_workspace=OutsideWrites.ASK),
                )
        case HostFacts(host=host) if host:
            yield f"policy.hosts has {host}", replace(settings, hosts=(*settings.hosts, host))
            yield f"policy.registries has {host}", replace(settings, registries=(*settings.registries, host))
        case _:
            pass
    if isinstance(act.resource, FileFacts) and not act.resource.kinds.isdisjoint(("secret", "credential")):
        path = act.resource.path
        yield f"policy.not_sensitive has {path}", replace(settings, not_sensitive=(*settings.not_sensitive, path))

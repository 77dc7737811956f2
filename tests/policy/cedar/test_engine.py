"""Sets of policies: what they answer together about the acts of a call."""

from importlib import resources
from itertools import combinations
from typing import Any

import cedarpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tallystick.errors import PolicyError
from tallystick.model.decision import Decision, Effect
from tallystick.policy.cedar.engine import PolicySet, load, shown
from tallystick.policy.facts import (
    Act,
    Action,
    CallFacts,
    Context,
    Facts,
    FileFacts,
    Place,
    ProgramFacts,
    Resource,
    attributes,
    name_of,
    type_of,
)
from tallystick.policy.network.hosts import HostFacts
from tallystick.policy.settings import Profile, Settings
from tests.support.cases import cases, each

SHIPPED = resources.files("tallystick.policy") / "shipped"
SCHEMA = (SHIPPED / "tallystick.cedarschema").read_text("utf-8")
PERMIT = "permit (principal, action, resource);\n"
FILE = FileFacts(path="/home/dev/notes.md", name="notes.md", place=Place.HOME)
RESOURCES: dict[Action, Resource] = {
    Action.READ: FILE,
    Action.SEND: HostFacts(host="example.org", port=443, scheme="https"),
    Action.RUN: ProgramFacts("curl"),
    Action.CALL: CallFacts(tool="Bash", kind="shell"),
}


def shipped() -> PolicySet:
    names = ("base.cedar", "self-protection.cedar")
    return load([(name, (SHIPPED / name).read_text("utf-8")) for name in names], SCHEMA)


def policy(name: str, decision: str, reason: str = "r", severity: str = "medium", more: str = "") -> str:
    return (
        f'@id("{name}")\n@decision("{decision}")\n@severity("{severity}")\n@reason("{reason}")\n{more}\n'
        "forbid (principal, action, resource);\n"
    )


def facts(*acts: Act, **context: Any) -> Facts:
    given = acts or (Act(action=Action.READ, resource=FILE),)
    return Facts(agent="claude-code", context=Context(tool="Bash", session="s", **context), acts=given)


def call(**found: Any) -> Facts:
    return facts(Act(action=Action.CALL, resource=CallFacts(tool="Bash", kind="shell", **found)))


def decide(text: str, given: Facts | None = None, settings: Settings | None = None) -> Decision:
    return load([("x", text)], SCHEMA).decide(given or facts(), settings or Settings())


@each("action", RESOURCES)
def test_facts_have_the_form_that_the_schema_says(action: Action) -> None:
    resource = RESOURCES[action]
    uid = {"type": type_of(resource), "id": name_of(resource)}
    request = {
        "principal": {"type": "Agent", "id": "a"},
        "action": {"type": "Action", "id": str(action)},
        "resource": uid,
        "context": attributes(facts().context),
    }
    attrs = attributes(resource)
    if isinstance(resource, FileFacts):  # found when the policies are known
        attrs |= {"meets": [], "within": []}
    entities = [{"uid": uid, "attrs": attrs, "parents": []}]
    result = cedarpy.is_authorized(request, PERMIT, entities, SCHEMA)
    assert (result.decision, result.diagnostics.errors) == (cedarpy.Decision.Allow, [])
    request["context"] = {**attributes(facts().context), "more": 1}
    assert cedarpy.is_authorized(request, PERMIT, entities, SCHEMA).decision is cedarpy.Decision.NoDecision


@each(
    "found, rule",
    [
        ({"touches": frozenset({"store"})}, "tally.store"),
        ({"touches": frozenset({"keys"})}, "tally.keys"),
        ({"risks": frozenset({"reads-signing-key"})}, "tally.keys"),
        ({"touches": frozenset({"hook_settings"})}, "tally.hook-settings"),
        ({"touches": frozenset({"other_settings"})}, "tally.other-hook-settings"),
        ({"touches": frozenset({"program"})}, "tally.program"),
        ({"touches": frozenset({"checkout"})}, "tally.checkout"),
        ({"risks": frozenset({"stops-recorder"})}, "tally.recorder"),
        ({"risks": frozenset({"weakens-record"})}, "tally.commands"),
        ({"risks": frozenset({"feeds-record"})}, "tally.recording-commands"),
        ({"opaque": frozenset({"eval"}), "mentions": frozenset({"store"})}, "tally.opaque"),
        ({"may_touch": frozenset({"store"})}, "tally.unknown-tool"),
    ],
)
def test_each_fact_about_the_record_has_its_policy(found: dict[str, object], rule: str) -> None:
    decision = shipped().decide(call(**found), Settings())
    assert decision.rules == (rule,)
    spoke = next(known for known in shipped().rules if known.id == rule)
    assert (decision.effect, decision.severity) == (spoke.effect, spoke.severity)
    assert decision.reason
    assert [(one.rule, one.action, one.target) for one in decision.evidence] == [(rule, "call", "Bash")]
    assert shipped().decide(call(**found), Settings(profile=Profile.OBSERVE)).effect is spoke.effect


@each("found", [{}, {"opaque": frozenset({"eval"})}, {"mentions": frozenset({"store"})}])
def test_what_no_policy_speaks_against_runs(found: dict[str, object]) -> None:
    decision = shipped().decide(call(**found), Settings())
    assert (decision.effect, decision.rules, decision.reason) == (Effect.ALLOW, (), "")
    assert decision.policy == shipped().digest


@given(st.permutations(["deny", "ask", "warn"]))
def test_the_strongest_decides_whatever_the_order(order: list[str]) -> None:
    for size in (1, 2, 3):
        for chosen in combinations(order, size):
            decision = decide(PERMIT + "".join(policy(name, name, f"because {name}") for name in chosen))
            strongest = min(chosen, key=("deny", "ask", "warn").index)
            assert (decision.effect.value, decision.reason) == (strongest, f"because {strongest}")
            assert decision.rules == tuple(sorted(chosen, key=("deny", "ask", "warn").index))


def test_another_forbid_never_turns_deny_into_allow() -> None:
    for extra in ("deny", "ask", "warn"):
        assert decide(PERMIT + policy("one", "deny") + policy("two", extra)).effect is Effect.DENY


def test_the_gravest_of_the_rules_that_decide_gives_the_severity() -> None:
    found = decide(
        PERMIT + policy("a", "ask", severity="low") + policy("b", "ask", severity="high") + policy("c", "warn")
    )
    assert (found.severity, found.rules) == ("high", ("b", "a", "c"))


def test_of_many_reasons_the_gravest_two_are_told_and_all_rules_are_named() -> None:
    names = ("a", "b", "c", "d")
    text = PERMIT + "".join(
        policy(name, "deny", f"Because {name}.", "high" if name == "d" else "low") for name in names
    )
    found = decide(text)
    assert (found.reason, found.rules) == ("Because d. Because a.", ("d", "a", "b", "c"))


def test_one_act_among_many_is_enough() -> None:
    text = PERMIT + '@id("x") @reason("Not {target}.") forbid (principal, action == Action::"delete", resource);'
    other = Act(action=Action.DELETE, resource=replace(FILE, path="/home/dev/thesis.md"), because=("rm", "thesis.md"))
    decision = decide(text, facts(Act(action=Action.READ, resource=FILE), other))
    assert (decision.effect, decision.reason) == (Effect.DENY, "Not /home/dev/thesis.md.")
    assert [(one.target, one.because) for one in decision.evidence] == [("/home/dev/thesis.md", ("rm", "thesis.md"))]
    assert decide(text).effect is Effect.ALLOW


def test_without_a_permit_nothing_runs() -> None:
    decision = decide("")
    assert (decision.effect, decision.reason) == (Effect.DENY, "No policy permits this: /home/dev/notes.md.")
    reading = 'permit (principal, action == Action::"read", resource);'
    assert decide(reading).effect is Effect.ALLOW
    both = facts(Act(action=Action.READ, resource=FILE), Act(action=Action.WRITE, resource=FILE))
    assert decide(reading, both).effect is Effect.DENY


def test_nobody_to_ask_makes_an_ask_a_denial() -> None:
    text = PERMIT + policy("a", "ask", "Ask first.")
    found = decide(text, settings=Settings(is_interactive=False))
    assert (found.effect, found.rules) == (Effect.DENY, ("a",))
    assert found.reason.startswith("Ask first. Nobody can be asked")
    warned = PERMIT + policy("a", "warn")
    assert decide(warned, settings=Settings(is_interactive=False)).effect is Effect.WARN


def test_observing_lets_through_and_says_what_it_would_have_said() -> None:
    text = PERMIT + policy("a", "deny")
    found = decide(text, settings=Settings(profile=Profile.OBSERVE))
    assert (found.effect, found.would, found.rules) == (Effect.ALLOW, Effect.DENY, ("a",))
    assert decide(PERMIT, settings=Settings(profile=Profile.OBSERVE)).would is None


# Exceptions ----------------------------------------------------------------------------------------------------------

ASKING = PERMIT + policy("site.ask", "ask", "Look first.")
LIFTING = (
    '@id("mine.notes") @lifts("site.ask") '
    'permit (principal, action, resource is File) when { resource.path like "/home/dev/*" };'
)


def test_an_exception_lifts_a_rule_for_what_it_permits_and_nothing_else() -> None:
    elsewhere = Act(action=Action.READ, resource=replace(FILE, path="/srv/notes.md"))
    here = Act(action=Action.READ, resource=FILE)
    assert decide(ASKING + LIFTING, facts(here)).effect is Effect.ALLOW
    assert decide(ASKING + LIFTING, facts(elsewhere)).effect is Effect.ASK
    assert decide(ASKING + LIFTING, facts(here, elsewhere)).effect is Effect.ASK
    assert decide(ASKING + LIFTING + policy("other", "deny"), facts(here)).rules == ("other",)


def test_an_exception_is_a_permit_where_nothing_else_permits() -> None:
    assert decide(policy("site.ask", "ask") + LIFTING).effect is Effect.ALLOW
    elsewhere = Act(action=Action.READ, resource=replace(FILE, path="/srv/notes.md"))
    unpermitted = decide(policy("site.ask", "ask") + LIFTING, facts(elsewhere))
    assert (unpermitted.effect, unpermitted.rules) == (Effect.DENY, ("default.no-permit", "site.ask"))


def test_nothing_lifts_what_holds_always() -> None:
    fixed = PERMIT + policy("site.ask", "ask", more='@holds("always")')
    with pytest.raises(PolicyError, match="holds always"):
        decide(fixed + LIFTING)


# What is remembered --------------------------------------------------------------------------------------------------

PLACES = st.sampled_from([*Place])
FILES = st.builds(
    FileFacts,
    path=st.sampled_from(["/home/dev/a", "/home/dev/b", "/srv/c"]),
    name=st.just("a"),
    place=PLACES,
    kinds=st.frozensets(st.sampled_from(["secret", "device"])),
    is_deep=st.booleans(),
)
LOOKING = cases(__file__, "looking", tuple[str, ...])


@given(
    st.lists(st.sampled_from(LOOKING), unique=True), st.lists(st.tuples(FILES, st.sampled_from(["", "/x"])), max_size=8)
)
def test_what_was_answered_before_never_changes_an_answer(texts: list[str], asked: list[tuple[FileFacts, str]]) -> None:
    text = PERMIT + "\n".join(texts)
    used = load([("x", text)], SCHEMA)
    for file, folder in asked:
        given = facts(Act(action=Action.DELETE, resource=file), folder=folder)
        assert used.decide(given, Settings()) == load([("x", text)], SCHEMA).decide(given, Settings())


# What goes wrong -----------------------------------------------------------------------------------------------------


def test_a_policy_that_fails_while_it_is_evaluated_is_an_error_and_no_answer() -> None:
    overflow = "forbid (principal, action, resource) when { 9223372036854775807 + 1 == 0 };"
    with pytest.raises(PolicyError, match="cannot judge"):
        decide(PERMIT + overflow)
    with pytest.raises(PolicyError, match="cannot judge"):
        decide(PERMIT + overflow + policy("a", "ask"))
    assert decide(PERMIT + overflow + policy("a", "deny")).effect is Effect.DENY


@given(st.text())
def test_a_reason_has_nothing_that_a_terminal_obeys(text: str) -> None:
    act = Act(action=Action.READ, resource=replace(FILE, path=text))
    said = decide(PERMIT + policy("a", "ask", "{target}"), facts(act)).reason
    assert all(sign.isprintable() for sign in said)
    assert said == shown(text)
    assert len(said) <= 201


def test_a_tool_may_have_any_name() -> None:
    odd = CallFacts(tool='a"\n\\::\ud800', kind="other")
    assert shipped().decide(facts(Act(action=Action.CALL, resource=odd)), Settings()).effect is Effect.ALLOW

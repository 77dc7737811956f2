"""Sets of policies: loading them whole, and what they answer together."""

from importlib import resources
from itertools import combinations

import cedarpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import PolicyError
from tallystick.model.decision import Call, Effect
from tallystick.policy.engine import PolicySet, load
from tallystick.policy.facts import Facts
from tallystick.policy.places import Kind

SHIPPED = resources.files("tallystick.policy") / "shipped"
SCHEMA = (SHIPPED / "tallystick.cedarschema").read_text("utf-8")
CALL = Call(agent="claude-code", session="s", tool="Bash")
PERMIT = "permit (principal, action, resource);\n"


def shipped() -> PolicySet:
    return load([("self-protection.cedar", (SHIPPED / "self-protection.cedar").read_text("utf-8"))], SCHEMA)


def policy(name: str, decision: str, reason: str = "r") -> str:
    return f'@id("{name}")\n@decision("{decision}")\n@reason("{reason}")\nforbid (principal, action, resource);\n'


def facts(**found: object) -> Facts:
    return Facts(tool="Bash", kind="shell", **found)  # type: ignore[arg-type]


def test_each_shipped_policy_says_what_it_does_and_why() -> None:
    rules = shipped().rules
    assert len({rule.id for rule in rules}) == len(rules) > 8
    for rule in rules:
        assert rule.id.startswith("tally.")
        assert rule.reason.endswith(".")
        assert rule.severity in ("low", "medium", "high", "critical")


def test_the_context_is_what_the_schema_says() -> None:
    request = {
        "principal": 'Agent::"a"',
        "action": 'Action::"tool_call"',
        "resource": 'Call::"Bash"',
        "context": facts(touches=frozenset(Kind), programs=("a",), writes=("b",)).context(),
    }
    result = cedarpy.is_authorized(request, PERMIT, [], SCHEMA)
    assert (result.decision, result.diagnostics.errors) == (cedarpy.Decision.Allow, [])
    request["context"] = {**facts().context(), "more": 1}
    assert cedarpy.is_authorized(request, PERMIT, [], SCHEMA).decision is cedarpy.Decision.NoDecision


@pytest.mark.parametrize(
    ("found", "rule"),
    [
        ({"touches": frozenset({Kind.STORE})}, "tally.store"),
        ({"touches": frozenset({Kind.KEYS})}, "tally.keys"),
        ({"reads_keys": True}, "tally.keys"),
        ({"touches": frozenset({Kind.HOOK_SETTINGS})}, "tally.hook-settings"),
        ({"touches": frozenset({Kind.OTHER_SETTINGS})}, "tally.other-hook-settings"),
        ({"touches": frozenset({Kind.PROGRAM})}, "tally.program"),
        ({"touches": frozenset({Kind.CHECKOUT})}, "tally.checkout"),
        ({"stops_recorder": True}, "tally.recorder"),
        ({"weakens_record": True}, "tally.commands"),
        ({"opaque": True, "mentions": frozenset({Kind.STORE})}, "tally.opaque"),
        ({"may_touch": frozenset({Kind.STORE})}, "tally.unknown-tool"),
    ],
)
def test_each_fact_has_its_policy(found: dict[str, object], rule: str) -> None:
    decision = shipped().decide(CALL, facts(**found))
    assert decision.rules == (rule,)
    assert decision.effect is next(known.effect for known in shipped().rules if known.id == rule)
    assert decision.reason


@pytest.mark.parametrize("found", [{}, {"opaque": True}, {"mentions": frozenset(Kind)}])
def test_what_no_policy_speaks_against_runs(found: dict[str, object]) -> None:
    decision = shipped().decide(CALL, facts(**found))
    assert (decision.effect, decision.rules, decision.reason) == (Effect.ALLOW, (), "")
    assert decision.policy == shipped().digest


@given(st.permutations(["deny", "ask", "warn"]))
def test_the_strongest_decides_whatever_the_order(order: list[str]) -> None:
    for size in (1, 2, 3):
        for chosen in combinations(order, size):
            text = PERMIT + "".join(policy(name, name, f"because {name}") for name in chosen)
            decision = load([("x", text)], SCHEMA).decide(CALL, facts())
            strongest = min(chosen, key=("deny", "ask", "warn").index)
            assert (decision.effect.value, decision.reason) == (strongest, f"because {strongest}")
            assert decision.rules == tuple(sorted(chosen, key=("deny", "ask", "warn").index))


def test_another_forbid_never_turns_deny_into_allow() -> None:
    for extra in ("deny", "ask", "warn"):
        text = PERMIT + policy("one", "deny") + policy("two", extra)
        assert load([("x", text)], SCHEMA).decide(CALL, facts()).effect is Effect.DENY


def test_without_a_permit_nothing_runs() -> None:
    decision = load([], SCHEMA).decide(CALL, facts())
    assert (decision.effect, decision.reason) == (Effect.DENY, "No policy permits this call.")


def test_a_policy_without_annotations_denies_under_the_name_of_its_place() -> None:
    decision = load([("mine.cedar", PERMIT + "\nforbid (principal, action, resource);")], SCHEMA).decide(CALL, facts())
    assert (decision.effect, decision.rules) == (Effect.DENY, ("mine.cedar:3",))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\n\nforbid (principal, action, resource)\nwhen { context. };", "line 3: unexpected token"),
        ("\nhello", "line 2: "),
        (PERMIT + "\nforbid (principal, action, resource) when { context.nope };", "line 3: .*`nope`"),
        (PERMIT + "forbid (principal, action, resource) when { context.tool == 1 };", "line 2: .*not compatible"),
        ("permit (principal == ?principal, action, resource);", "line 1: .*template"),
        ('@decision("maybe") forbid (principal, action, resource);', "line 1: @decision is 'maybe'"),
        ("forbid (principal, action, resource)", "line 1: "),
    ],
)
def test_a_policy_that_cannot_be_used_is_named_with_its_line(text: str, why: str) -> None:
    with pytest.raises(PolicyError, match=rf"^mine\.cedar, the policy on {why}"):
        load([("good.cedar", PERMIT), ("mine.cedar", text)], SCHEMA)


def test_a_broken_schema_is_said_so() -> None:
    with pytest.raises(PolicyError, match="schema of the policies is broken"):
        load([], "entity ;")


def test_a_policy_that_fails_while_it_is_evaluated_is_an_error_and_no_answer() -> None:
    overflow = "forbid (principal, action, resource) when { 9223372036854775807 + 1 == 0 };"
    with pytest.raises(PolicyError, match="cannot judge"):
        load([("x", PERMIT + overflow)], SCHEMA).decide(CALL, facts())
    with pytest.raises(PolicyError, match="cannot judge"):
        load([("x", PERMIT + overflow + policy("a", "ask"))], SCHEMA).decide(CALL, facts())
    assert load([("x", PERMIT + overflow + policy("a", "deny"))], SCHEMA).decide(CALL, facts()).effect is Effect.DENY


def test_a_request_that_the_engine_cannot_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Facts, "context", lambda self: {"tool": None})
    with pytest.raises(PolicyError, match="cannot judge"):
        shipped().decide(CALL, facts())


def test_the_digest_tells_sets_apart() -> None:
    one = load([("a", PERMIT), ("b", policy("x", "deny"))], SCHEMA).digest
    assert one == load([("a", PERMIT), ("b", policy("x", "deny"))], SCHEMA).digest
    assert len({one, load([("a", PERMIT)], SCHEMA).digest, load([("b", PERMIT)], SCHEMA).digest}) == 3


def test_a_tool_may_have_any_name() -> None:
    odd = Facts(tool='a"\n\\::', kind="other")
    assert shipped().decide(CALL, odd).effect is Effect.ALLOW

"""Policies that fit the schema and never speak."""

import pytest

from tallystick.errors import PolicyError
from tallystick.guard.policies import load_set, shipped_policies
from tallystick.guard.policy_rules import refuse_unmatchable
from tallystick.policy.settings import Profile

NEVER = {
    'action == Action::"write", resource is File) when { resource.path like "infra/prod/**" }': "a path is absolute",
    'action == Action::"write", resource is File) when { resource.path == "infra" }': "a path is absolute",
    'action == Action::"write", resource is File) when { ["infra"].contains(resource.path) }': "a path is absolute",
    'action, resource == File::"infra/prod") when { true }': "a path is absolute",
    'action == Action::"write", resource is File) unless { resource.path like "docs/*" }': "a path is absolute",
    'action == Action::"read", resource is File) when { resource.name like "*/x" || resource.name == "a/b" }': "last part",
    'action == Action::"send", resource is Host) when { resource.host == "https://example.org" }': "without scheme",
    'action == Action::"send", resource is Host) when { resource.host like "*.Example.org" || resource.host == "A" }': "A",
    'action == Action::"run", resource == Program::"/usr/bin/curl") when { true }': "without its folder",
    'action == Action::"read", resource is File) when { resource.kinds.contains("secrets") }': "tally policy words",
    'action == Action::"call", resource is Call) when { resource.risks.containsAny(["elevates", "elvates"]) }': "elvates",
    'action == Action::"read", resource is File) when { resource.place == "inside" }': "workspace",
    'action == Action::"read", resource is File) when { context.markers.contains("read-secret") }': "markers",
    'action == Action::"read", resource is File) when { resource.meets.contains("../x") }': "part that is empty",
    'action == Action::"read", resource is File) when { false }': "contradict",
    'action == Action::"read", resource is File) when { resource.exists && !resource.exists }': "contradict",
    'action == Action::"read", resource is File) when { resource.exists } unless { resource.exists }': "contradict",
    'action == Action::"read", resource is File) when { resource.name == "a" && resource.name == "b" }': "contradict",
    "action, resource) when { resource is File && resource is Host }": "contradict",
    'action == Action::"run", resource is Program) unless { resource is Program }': "contradict",
}
MAY = [
    'action == Action::"write", resource is File) when { resource.path like "/srv/*" || resource.path like "*/prod/*" }',
    'action == Action::"write", resource is File) when { resource.meets.contains("infra/prod/**") }',
    'action == Action::"read", resource is File) when { resource.name == "a" || resource.name == "b" }',
    'action == Action::"read", resource is File) when { resource.exists } unless { resource.is_tracked }',
    'action == Action::"read", resource is File) when { resource.exists && (!resource.exists || resource.is_new) }',
    'action == Action::"send", resource is Host) when { resource.host like "*.example.org" && resource.port == 443 }',
    'action == Action::"run", resource == Program::"curl")',
    'action == Action::"call", resource is Call) when { resource.risks.contains("elevates") }',
]


def policy(rest: str) -> str:
    return f'@id("mine.one")\nforbid (principal, {rest};'


@pytest.mark.parametrize("rest", NEVER)
def test_a_rule_that_never_matches_is_refused_with_the_reason(rest: str) -> None:
    text = policy(rest)
    load_set(Profile.STANDARD, (("/mine.cedar", text),))  # the schema has nothing against it
    with pytest.raises(PolicyError, match=r"mine\.cedar, the policy on line 1: it can never match") as refused:
        refuse_unmatchable([("/mine.cedar", text)])
    assert NEVER[rest] in str(refused.value)


@pytest.mark.parametrize("rest", MAY)
def test_a_rule_that_may_match_is_not(rest: str) -> None:
    refuse_unmatchable([("/mine.cedar", policy(rest))])


@pytest.mark.parametrize(
    "rest",
    [
        'action == Action::"delet", resource is File)',
        'action == Action::"write", resource is Host)',
        'action == Action::"write", resource is File) when { resource.kinds.contains(1) }',
        'action == Action::"write", resource is File) when { resource.path < "a" }',
        'action == Action::"write", resource is File) when { resource.risks.contains("elevates") }',
    ],
)
def test_what_does_not_fit_the_schema_cannot_be_used_at_all(rest: str) -> None:
    with pytest.raises(PolicyError, match=r"mine\.cedar, the policy on line 1"):
        load_set(Profile.STANDARD, (("/mine.cedar", policy(rest)),))


def test_every_shipped_rule_may_match() -> None:
    refuse_unmatchable((*shipped_policies(Profile.STANDARD), *shipped_policies(Profile.STRICT)))

"""What a decision rests on, and what would change it."""

from __future__ import annotations

from tallystick.guard.policies import load_set
from tallystick.guard.what_if import Change, Fact, Judge, changes, findings
from tallystick.model.decision import NO_OPINION, Decision, Effect
from tallystick.policy.facts import Act, Action, CallFacts, Context, Facts, FileFacts, Place
from tallystick.policy.settings import Profile, Settings

OUTSIDE = FileFacts(path="/srv/www/a", name="a", place=Place.OUTSIDE, exists=True)


def judge(*acts: Act) -> Judge:
    facts = Facts(agent="codex", context=Context(tool="Bash", session="s"), acts=acts)
    asked: list[Settings] = []

    def judged_with(settings: Settings) -> Decision:
        asked.append(settings)
        return NO_OPINION if "/srv/www" in settings.trusted else Decision(effect=Effect.ASK)

    return Judge(load_set(Profile.STANDARD), facts, Settings(), (), judged_with)


def test_facts_are_those_without_which_the_rule_is_silent() -> None:
    (found,) = findings(judge(Act(action=Action.WRITE, resource=OUTSIDE)))
    assert (found.action, found.target, found.rule, found.effect) == (
        "write",
        "/srv/www/a",
        "outside.write",
        Effect.ASK,
    )
    assert Fact("place", "outside") in found.facts
    assert Fact("exists", True) not in found.facts, "the rule does not look at it"


def test_only_what_makes_the_answer_milder_is_said() -> None:
    found = changes(judge(Act(action=Action.WRITE, resource=OUTSIDE)))
    said = {change.what: change.effect for change in found}
    assert said["place is not outside"] is Effect.ALLOW
    assert said["policy.trusted has /srv/www"] is Effect.ALLOW
    assert said["an exception lifts outside.write"] is Effect.ALLOW
    assert "policy.profile = strict" not in said
    assert changes(judge()) == ()


def test_what_holds_always_is_not_lifted() -> None:
    whole = CallFacts(tool="Bash", kind="shell", touches=frozenset({"store", "keys"}))
    one = judge(Act(action=Action.CALL, resource=whole))
    assert {found.rule for found in findings(one)} == {"tally.store", "tally.keys"}
    assert changes(one) == ()


def test_of_two_rules_one_change_leaves_the_other() -> None:
    whole = CallFacts(tool="Bash", kind="shell", risks=frozenset({"elevates", "writes-disk"}))
    found = changes(judge(Act(action=Action.CALL, resource=whole)))
    milder = Change(what="risks is not writes-disk", effect=Effect.ASK, rules=("privilege.elevate",))
    assert milder in found

"""An alert becomes a policy that lets just the same through."""

import json

import pytest

from tallystick.errors import PolicyError
from tallystick.guard.alert_exception import exceptions
from tallystick.guard.policies import load_set
from tallystick.model.decision import Effect
from tallystick.policy.facts import Act, Action, CallFacts, Context, Facts, FileFacts, Place
from tallystick.policy.settings import Profile, Settings

RULES = {rule.id: rule for rule in load_set(Profile.STANDARD).rules}
OUTSIDE = {"rule": "outside.write", "action": "write", "target": "/home/dev/notes.md", "because": ["notes.md"]}
SUDO = {"rule": "privilege.elevate", "action": "call", "target": "Bash", "because": ["elevates: sudo make"]}


def evidence(*found: object) -> str:
    return json.dumps({"found": found, "rules": []})


def effect(text: str, act: Act, folder: str = "/home/dev/project") -> Effect:
    policies = load_set(Profile.STANDARD, (("/mine.cedar", text),))
    context = Context(tool="Bash", session="s", folder=folder)
    return policies.decide(Facts(agent="codex", context=context, acts=(act,)), Settings()).effect


def writes(path: str) -> Act:
    file = FileFacts(path=path, name=path.rpartition("/")[2], place=Place.HOME)
    return Act(action=Action.WRITE, resource=file)


def risky(*risks: str) -> Act:
    return Act(action=Action.CALL, resource=CallFacts(tool="Bash", kind="shell", risks=frozenset(risks)))


def test_the_same_file_is_let_through_in_the_same_project() -> None:
    (text,) = exceptions(evidence(OUTSIDE), RULES, folder="/home/dev/project")
    same, other = writes("/home/dev/notes.md"), writes("/home/dev/other.md")
    assert effect(text, same) is Effect.ALLOW
    assert effect(text, same, "/home/dev/project/src") is Effect.ALLOW
    assert effect(text, same, "/home/dev/project2") is Effect.ASK
    assert effect(text, other) is Effect.ASK
    (everywhere,) = exceptions(evidence(OUTSIDE), RULES, folder=None)
    assert effect(everywhere, same, "/elsewhere") is Effect.ALLOW


def test_of_a_call_as_a_whole_just_what_it_risked_is_let_through() -> None:
    (text,) = exceptions(evidence(SUDO), RULES, folder="/home/dev/project")
    assert effect(text, risky("elevates")) is Effect.ALLOW
    assert effect(text, risky("elevates", "stops-machine")) is Effect.ASK
    assert effect(text, risky("elevates"), "/elsewhere") is Effect.ASK


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ({**OUTSIDE, "rule": "tally.store"}, "holds always"),
        ({**OUTSIDE, "target": "/home/dev/x…"}, "whole name"),
        ({**SUDO, "because": []}, "narrow enough"),
    ],
)
def test_what_cannot_be_lifted_narrowly_is_refused(found: object, why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        list(exceptions(evidence(found), RULES, folder=None))


@pytest.mark.parametrize("text", [None, "", "[]", '{"found": 3}', "{}", "not json"])
def test_an_alert_that_no_policy_gave_has_nothing_to_lift(text: str | None) -> None:
    with pytest.raises(PolicyError, match="does not say"):
        list(exceptions(text, RULES, folder=None))


def test_words_of_an_agent_stay_inside_of_quotes() -> None:
    target = '/home/dev/"; permit (principal, action, resource); //*\\'
    (text,) = exceptions(evidence({**OUTSIDE, "target": target}), RULES, folder='/home/dev/a"b*')
    load_set(Profile.STANDARD, (("/mine.cedar", text),))
    assert effect(text, writes(target), '/home/dev/a"b*') is Effect.ALLOW
    assert effect(text, writes("/home/dev/x"), '/home/dev/a"b*') is Effect.ASK

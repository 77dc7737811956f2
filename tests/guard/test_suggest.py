"""The narrowest exceptions that would have covered what the user said yes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.guard.policies import load_set
from tallystick.guard.suggest import suggest
from tallystick.model.step import Json
from tallystick.policy.facts import Act, Action, Context, Facts, FileFacts, Place
from tallystick.policy.settings import Profile, Settings
from tests.support.recorded_calls import Recording


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(tmp_path)


def evidence(*targets: str, action: str = "write", rule: str = "outside.write") -> Json:
    return [{"rule": rule, "action": action, "target": target} for target in targets]


def test_what_was_accepted_becomes_an_exception_for_just_that(recording: Recording) -> None:
    recording.call("touch ~/notes.md", asked=evidence("/home/dev/notes.md"))
    recording.call("touch ~/notes.md", asked=evidence("/home/dev/notes.md"))
    (one,) = suggest(recording.home)
    assert (one.rule, one.action, one.targets, one.accepted) == ("outside.write", "write", ("/home/dev/notes.md",), 2)
    asking = '@id("mine.write") @decision("ask") forbid (principal, action == Action::"write", resource);'
    texts = (("mine.cedar", asking + one.policy.replace('"outside.write"', '"mine.write"')),)
    policies = load_set(Profile.STANDARD, texts)
    assert "mine.write" not in policies.decide(writing("/home/dev/notes.md"), Settings()).rules
    assert "mine.write" in policies.decide(writing("/home/dev/other.md"), Settings()).rules


def writing(path: str) -> Facts:
    file = FileFacts(path=path, name=path.rpartition("/")[2], place=Place.HOME)
    act = Act(action=Action.WRITE, resource=file)
    return Facts(agent="claude-code", context=Context(tool="Write", session="s"), acts=(act,))


def test_what_was_refused_is_not_suggested_and_keeps_its_folder_from_it(recording: Recording) -> None:
    names = [f"/home/dev/site/{name}" for name in ("a", "b", "c", "d")]
    for name in names[:3]:
        recording.call(f"touch {name}", asked=evidence(name))
    assert [one.targets for one in suggest(recording.home)] == [("/home/dev/site/*",)]
    recording.call(f"touch {names[3]}", asked=evidence(names[3]), success=None)
    (one,) = suggest(recording.home)
    assert (one.targets, one.refused) == (tuple(names[:3]), 1)


@pytest.mark.parametrize(
    "asked",
    [
        evidence("/home/dev/x" + "y" * 200 + "…"),
        evidence("/home/dev/\ufffd"),
        evidence("Bash", action="call"),
        [{"rule": 1}],
        "text",
        {},
    ],
)
def test_what_has_no_whole_target_is_not_suggested(recording: Recording, asked: Json) -> None:
    recording.call("x", asked=asked)
    assert suggest(recording.home) == ()


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a*b", "a\\*b"])
def test_a_name_is_not_taken_for_a_pattern(recording: Recording, name: str) -> None:
    for one in ("x", "y", "z"):
        recording.call("x", asked=evidence(f"/home/dev/{name}/{one}"))
    (found,) = suggest(recording.home)
    policies = load_set(Profile.STANDARD, (("mine.cedar", found.policy),))
    assert found.targets == (f"/home/dev/{name}/*",)
    assert "outside.write" not in policies.decide(writing(f"/home/dev/{name}/new"), Settings()).rules
    assert "outside.write" in policies.decide(writing("/home/dev/aXb/new"), Settings()).rules

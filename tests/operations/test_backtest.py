"""Policies held against the record: what they would have said, and which of that would have been in the way."""

from pathlib import Path

import pytest

from tallystick.errors import PolicyError
from tallystick.journal.home import Home
from tallystick.model.decision import Effect
from tallystick.model.step import Json, Opening, Source, Step
from tallystick.operations.backtest import hold_against_record
from tallystick.operations.policies import load_set
from tallystick.operations.scribe import Scribe
from tallystick.operations.store import init_store
from tallystick.operations.suggest import suggest
from tallystick.policy.facts import Act, Action, Context, Facts, FileFacts, Place
from tallystick.policy.settings import Profile, Settings

FOLDER = "/home/dev/project"


class Recording:
    """A store in which calls are recorded one after another."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "store")
        init_store(self.home)
        self._made = 0

    def call(
        self, command: str, *, ts: str = "2026-11-20T10:00:00Z", success: bool | None = True, asked: Json = None
    ) -> None:
        """Record a command; `success` None: it has no result. `asked`: evidence of the ask before it."""
        self._made += 1
        corr = f"call-{self._made}"
        meta: dict[str, Json] = {"corr": corr, "tool": "Bash", "ts": ts}
        steps = [self._step("tool_call", corr, meta, {"content.args": {"command": command}})]
        if asked is not None:
            said: dict[str, Json] = {**meta, "effect": "ask", "rules": ["outside.write"]}
            steps.append(self._step("decision", corr, said, {"content.evidence": asked}))
        if success is not None:
            steps.append(self._step("tool_result", corr, {**meta, "success": success}, {}))
        with Scribe(self.home) as scribe:
            if self._made == 1:
                values: dict[str, Json] = {"personal.cwd": FOLDER}
                scribe.open(Opening(session="s", agent="claude-code", source=Source.HOOK, values=values))
            for step in steps:
                scribe.add("claude-code", step)
            scribe.seal()

    @staticmethod
    def _step(kind: str, corr: str, meta: dict[str, Json], values: dict[str, Json]) -> Step:
        return Step(session="s", type=kind, source=Source.HOOK, source_id=f"{corr}/{kind}", meta=meta, values=values)


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(tmp_path)


def candidate(folder: Path, text: str) -> Path:
    path = folder / "candidate.cedar"
    path.write_text(text)
    return path


NO_LS = '@id("mine.no-ls") @decision("ask") forbid (principal, action == Action::"run", resource == Program::"ls");'


def test_what_a_candidate_would_have_said_stands_beside_what_is_in_force(recording: Recording, tmp_path: Path) -> None:
    for command in ("ls", "ls -la", "git status"):
        recording.call(command)
    recording.call("ls nowhere", success=False)
    found = hold_against_record(recording.home, [candidate(tmp_path, NO_LS)])
    assert (found.sessions, found.calls) == (1, 4)
    assert (found.in_force.silent, found.candidate.asked, found.candidate.silent) == (4, 3, 1)
    assert (found.in_force.false_alarms, found.candidate.false_alarms) == (0, 2), "one of them failed anyway"
    assert [(one.call, one.in_force, one.candidate, one.rules) for one in found.differing] == [
        (command, Effect.ALLOW, Effect.ASK, ("mine.no-ls",)) for command in ("ls", "ls -la", "ls nowhere")
    ]


def test_only_calls_since_a_time_are_looked_at(recording: Recording) -> None:
    recording.call("ls", ts="2026-11-01T10:00:00Z")
    recording.call("pwd", ts="2026-11-20T10:00:00Z")
    assert hold_against_record(recording.home, since="2026-11-10").calls == 1


def test_another_profile_is_a_candidate(recording: Recording) -> None:
    recording.call("echo hello")
    found = hold_against_record(recording.home, profile="default-deny")
    assert (found.in_force.silent, found.candidate.denied) == (1, 1)
    assert found.differing[0].rules == ("default.no-permit",)


def test_what_is_in_force_is_held_against_the_record_by_itself(recording: Recording) -> None:
    recording.call("rm -rf ~/.tally")
    found = hold_against_record(recording.home)
    assert (found.in_force, found.differing) == (found.candidate, ())
    assert [one.candidate for one in found.examples] == [Effect.DENY]


def test_no_file_of_now_changes_what_is_said_of_then(recording: Recording, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("rm -rf ~/.tally\n")
    recording.call(f"sh {script}")
    assert hold_against_record(recording.home).candidate.denied == 0


def test_a_candidate_that_cannot_be_used_is_named(recording: Recording, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"candidate\.cedar, the policy on line 1"):
        hold_against_record(recording.home, [candidate(tmp_path, "forbid everything;")])


# What was accepted ---------------------------------------------------------------------------------------------------


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

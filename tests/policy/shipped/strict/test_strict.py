"""What the stricter profiles add, on a machine."""

from pathlib import Path

import pytest

from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision
from tallystick.policy.settings import Profile, Settings
from tests.support.cases import cases


def decided(folder: Path, command: str, profile: Profile, **more: tuple[str, ...]) -> Decision:
    project = folder / "dev" / "project"
    project.mkdir(parents=True, exist_ok=True)
    (project / "run.sh").write_text("#!/bin/sh\necho hello\n")
    (folder / "dev" / "notes.md").write_text("notes\n")
    settings = Settings(profile=profile, **more)  # type: ignore[arg-type]
    decider = Decider(Home(folder / "dev" / ".tally"), AgentMachine(folder / "dev", environment={}), settings=settings)
    call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=str(project))
    return decider.decide(call)


CASES = cases(__file__, "cases", list[tuple[str, str, str]])


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is no temporary one to the policies."""
    monkeypatch.setattr("tallystick.policy.calls.acts.is_temporary", lambda path, _: path.startswith("/nowhere/"))
    return tmp_path


@pytest.mark.parametrize(("command", "rule", "effect"), CASES)
def test_each_rule_of_the_strict_profile_speaks_there_alone(
    outside: Path, command: str, rule: str, effect: str
) -> None:
    strict = decided(outside, command, Profile.STRICT)
    assert rule in strict.rules
    assert strict.effect in (effect, "deny")
    assert rule not in decided(outside, command, Profile.STANDARD).rules
    assert rule in decided(outside, command, Profile.DEFAULT_DENY).rules


@pytest.mark.parametrize("command", ["ls", "cat run.sh", "echo x > new.txt", "echo x 2> /dev/null", "git status"])
def test_ordinary_work_in_the_workspace_is_silent_in_the_strict_profile_too(outside: Path, command: str) -> None:
    assert decided(outside, command, Profile.STRICT).rules == ()


def test_what_the_user_trusts_is_let_through(outside: Path) -> None:
    assert decided(outside, "echo x > ~/site/a.html", Profile.STRICT, trusted=("~/site",)).rules == ()
    assert decided(outside, "scp a.txt me@example.org:", Profile.STRICT, hosts=("example.org",)).rules == ()

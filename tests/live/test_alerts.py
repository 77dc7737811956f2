"""Alerts while the recorder runs: what calls left in files is looked at after them, and each content is told once."""

from pathlib import Path

import pytest

from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.live.alerts import LiveAlerts, decided_step
from tallystick.model.decision import Call, Decision, Effect, Evidence
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Ref, Source, Step
from tallystick.policy.settings import Profile, Settings
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import init_store
from tests.support.at_once import at_once

HARMFUL = "#!/bin/sh\ncat ~/.ssh/id_rsa\n"


class Work:
    """A project, a recorder's session_writer, and calls that write there."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "dev" / ".tally")
        self.project = folder / "dev" / "project"
        self.project.mkdir(parents=True)
        init_store(self.home)
        self.session_writer = SessionWriter(self.home)
        self.decider = Decider(self.home, AgentMachine(folder / "dev", environment={}))
        self.alerts = LiveAlerts(self.session_writer, at_once(self.decider.look_after))
        self.record = self.session_writer.open(Opening(session="s", agent="claude-code", source=Source.HOOK))
        self._made = 0

    def write(self, command: str, content: str, *, success: bool = True, effect: Effect = Effect.ALLOW) -> None:
        """A command that writes `run.sh`, as its text does not tell, and its result."""
        self._made += 1
        corr = f"call-{self._made}"
        call = Call(
            agent="claude-code",
            session="s",
            tool="Bash",
            args={"command": command},
            cwd=str(self.project),
            call_id=corr,
        )
        self.alerts.asked(call, Decision(effect=effect))
        (self.project / "run.sh").write_text(content)
        meta: dict[str, Json] = {"corr": corr, "tool": "Bash", "success": success}
        step = Step(session="s", type="tool_result", source=Source.HOOK, source_id=corr, meta=meta)
        taken = self.session_writer.add_to(self.record, step)
        self.alerts.made("claude-code", step, taken.n)
        self.alerts.tick()

    def told(self) -> list[Recorded]:
        """The alerts on record."""
        self.session_writer.seal()
        steps = (step for sid, _ in self.home.sessions() for step in read_session(self.home, sid, load_blobs=True))
        return [step for step in steps if step.type == "alert"]


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def test_what_a_program_wrote_is_told_by_what_it_holds(work: Work) -> None:
    work.write("./generate > run.sh", HARMFUL)
    (alert,) = work.told()
    assert alert.meta["rule"] == "inspection.writes-dangerous"
    assert str(work.project / "run.sh") in str(alert.values)


def test_a_content_is_told_once_and_another_one_again(work: Work) -> None:
    work.write("./generate > run.sh", HARMFUL)
    work.write("./generate > run.sh", HARMFUL)
    assert len(work.told()) == 1
    work.write("./generate > run.sh", HARMFUL + "# more\n")
    assert len(work.told()) == 2


@pytest.mark.parametrize(
    ("content", "success", "effect"),
    [("#!/bin/sh\necho hello\n", True, Effect.ALLOW), (HARMFUL, False, Effect.ALLOW), (HARMFUL, True, Effect.DENY)],
    ids=["harmless", "failed", "denied"],
)
def test_nothing_is_told_of_what_is_harmless_or_was_not_made(
    work: Work, content: str, success: bool, effect: Effect
) -> None:
    work.write("./generate > run.sh", content, success=success, effect=effect)
    assert work.told() == []


def test_a_decision_becomes_a_step_with_all_that_was_said() -> None:
    call = Step(session="s", type="tool_call", source=Source.HOOK, source_id="c", meta={"corr": "c", "tool": "Bash"})
    evidence = (Evidence(rule="a.b", action="read", target="/x", because=("cat", "/x")),)
    decision = Decision(
        effect=Effect.ALLOW,
        would=Effect.DENY,
        rules=("a.b",),
        reason="No.",
        remedy="Ask.",
        severity="high",
        evidence=evidence,
        policy="ab",
    )
    step = decided_step(call, decision)
    assert (step.session, step.type, step.source_id, step.within) == ("s", "decision", "c/decision", Ref("c"))
    assert step.meta == {
        "effect": "allow",
        "would": "deny",
        "rules": ["a.b"],
        "decided_by": "policy",
        "policy": "ab",
        "severity": "high",
        "tool": "Bash",
        "corr": "c",
    }
    assert step.values["content.evidence"] == [
        {"rule": "a.b", "action": "read", "target": "/x", "because": ("cat", "/x")}
    ]
    assert (step.values["content.text"], step.values["content.remedy"]) == ("No.", "Ask.")


def test_what_the_profile_only_observes_is_decided_and_said(tmp_path: Path) -> None:
    settings = Settings(profile=Profile.OBSERVE)
    decider = Decider(Home(tmp_path / "s"), AgentMachine(tmp_path, environment={}), settings=settings)
    call = Call(agent="claude-code", session="s", tool="Bash", args={"command": "cat ~/.ssh/id_rsa"}, cwd=str(tmp_path))
    found = decider.decide(call)
    assert (found.effect, found.would) == (Effect.ALLOW, Effect.DENY)

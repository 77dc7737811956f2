"""An answer that the record does not bear out becomes an alert with both answers."""

from pathlib import Path

import orjson
import pytest

from tallystick.guard.differing import Compared, Difference, Outcome
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.live.agreement import LiveAgreement
from tallystick.live.alerts import LiveAlerts
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.recorded import Recorded
from tallystick.model.step import Opening, Source, Step
from tallystick.policy.alert import DISAGREEMENT
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import init_store

ASKED = Decision(
    effect=Effect.ASK, rules=("provenance.other-session",), reason="Another session wrote it.", policy="ab"
)
ALLOWED = Decision(policy="ab")


class Work:
    """A store with a session, and one who hears of decisions that were made again."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / ".tally")
        init_store(self.home)
        self.session_writer = SessionWriter(self.home)
        self.agreement = LiveAgreement(self.session_writer, LiveAlerts(self.session_writer, None))
        record = self.session_writer.open(Opening(session="s", agent="claude-code", source=Source.HOOK))
        self.sid = record.sid

    def differ(self, then: Decision, now: Decision, *, session: str = "s") -> None:
        call = Call(agent="claude-code", session=session, tool="Bash", call_id="c1")
        found = Difference(call=call, sid=self.sid, n=3, then=then, now=now)
        self.agreement.note(Compared(outcome=Outcome.DIFFERENT, difference=found))

    def alerts(self) -> list[Recorded]:
        self.session_writer.seal()
        steps = (step for sid, _ in self.home.sessions() for step in read_session(self.home, sid, load_blobs=True))
        return [step for step in steps if step.type == "alert"]


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def test_the_alert_has_both_answers_and_the_step(work: Work) -> None:
    work.differ(ALLOWED, ASKED)
    (alert,) = work.alerts()
    assert alert.session == work.sid
    assert (alert.meta["rule"], alert.meta["severity"], alert.meta["corr"]) == (DISAGREEMENT, "high", "c1")
    assert alert.values["content.text"] == (
        "This call was answered allow. Decided again from the record, the answer is ask (provenance.other-session)."
    )
    assert orjson.loads(str(alert.values["content.evidence"])) == {
        "call": f"{work.sid}:3",
        "then": {"effect": "allow", "policy": "ab"},
        "now": {
            "effect": "ask",
            "rules": ["provenance.other-session"],
            "reason": "Another session wrote it.",
            "policy": "ab",
        },
        "tool": "Bash",
    }
    assert work.agreement.told()["different"] == 1


def test_an_answer_that_was_graver_than_the_record_is_less_grave(work: Work) -> None:
    work.differ(ASKED, ALLOWED)
    assert [alert.meta["severity"] for alert in work.alerts()] == ["medium"]


def test_of_a_session_that_has_ended_or_is_unknown_the_recorder_s_own_says_it(work: Work) -> None:
    work.session_writer.add("claude-code", Step(session="s", type="session_end", source=Source.HOOK))
    work.differ(ALLOWED, ASKED)
    work.differ(ALLOWED, ASKED, session="never-seen")
    found = work.alerts()
    assert len(found) == 2
    assert work.sid not in {alert.session for alert in found}


def test_all_are_counted_and_only_differences_are_told(work: Work) -> None:
    for outcome in (Outcome.SAME, Outcome.SAME, Outcome.CHANGED, Outcome.UNKNOWN, Outcome.OTHER_RULES):
        work.agreement.note(Compared(outcome=outcome))
    assert work.agreement.told() == {"same": 2, "different": 0, "changed": 1, "other-rules": 1, "unknown": 1}
    assert work.alerts() == []

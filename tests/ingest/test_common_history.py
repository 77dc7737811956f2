"""Whose an event is: the session's own, another's, or not decided yet."""

from __future__ import annotations

import pytest

from tallystick.ingest.common_history import CommonHistory, Whose
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter

AGENT = "claude-code"


def step(name: str, kind: str = "assistant", source: Source = Source.TRANSCRIPT) -> Step:
    return Step(session="fork", type=kind, source=source, source_id=name)


@pytest.fixture
def ancestor(home: Home) -> SessionRecord:
    """A session whose prompt a hook told by another id, which its transcript's is an alias of."""
    session_writer = SessionWriter(home)
    record = session_writer.open(Opening(session="s", agent=AGENT))
    values = {"content.text": "go"}
    for source, name in ((Source.HOOK, "hook/p"), (Source.TRANSCRIPT, "p")):
        session_writer.add_to(record, Step(session="s", type="user", source=source, source_id=name, values=values))
    session_writer.add_to(record, Step(session="s", type="assistant", source_id="a"))
    return record


class Known:
    """An index that knows the ids of entries, and no aliases."""

    def __init__(self, record: SessionRecord) -> None:
        self.record = record
        self.asked: list[str] = []
        self.common: CommonHistory[int] = CommonHistory(self.elsewhere, lambda sid, agent: record)

    def elsewhere(self, agent: str, source_id: str) -> tuple[str, str] | None:
        self.asked.append(source_id)
        return (self.record.sid, self.record.last) if source_id == "a" else None


def test_a_prompt_is_decided_by_what_follows_it(ancestor: SessionRecord) -> None:
    known = Known(ancestor)
    assert known.common.judge(step("p", "user"), None, AGENT) is Whose.UNDECIDED
    known.common.hold(step("p", "user"), 1)
    assert known.common.left() == ["fork"]
    assert known.common.judge(step("a"), None, AGENT) is Whose.ANOTHERS
    assert known.common.released("fork", AGENT) == []
    assert known.common.forks == {"fork": f"{ancestor.sid}#{ancestor.last}"}
    assert known.common.judge(step("p", "user"), None, AGENT) is Whose.ANOTHERS


def test_what_no_one_has_is_the_sessions_own_and_so_is_what_waited_for_it(ancestor: SessionRecord) -> None:
    known = Known(ancestor)
    known.common.judge(step("q", "user"), None, AGENT)
    known.common.hold(step("q", "user"), 1)
    assert known.common.judge(step("b"), None, AGENT) is Whose.OWN
    assert known.common.released("fork", AGENT) == [(step("q", "user"), 1)]
    assert not known.common.may_share(step("c"), None)
    assert known.common.left() == []


def test_what_is_recorded_here_or_has_no_id_is_not_asked_for(ancestor: SessionRecord) -> None:
    known = Known(ancestor)
    assert not known.common.may_share(step("a"), ancestor)
    assert not known.common.may_share(Step(session="fork", type="assistant"), None)
    assert known.common.may_share(step("x"), ancestor)
    assert known.common.judge(step("a"), ancestor, AGENT) is Whose.OWN


def test_no_more_than_a_few_wait(ancestor: SessionRecord) -> None:
    known = Known(ancestor)
    verdicts = []
    for number in range(20):
        verdicts.append(known.common.judge(step(f"p{number}", "user"), None, AGENT))
        if verdicts[-1] is Whose.UNDECIDED:
            known.common.hold(step(f"p{number}", "user"), number)
    assert verdicts.count(Whose.UNDECIDED) == 16


def test_a_file_that_is_read_again_shares_what_it_shared_before(ancestor: SessionRecord) -> None:
    known = Known(ancestor)
    assert known.common.judge(step("a"), None, AGENT) is Whose.ANOTHERS
    assert known.common.judge(step("b"), None, AGENT) is Whose.OWN
    known.common.hold(step("q", "user"), 1)
    known.common.restart()
    assert known.common.left() == []
    assert known.common.may_share(step("a"), None)
    assert known.common.judge(step("a"), None, AGENT) is Whose.ANOTHERS

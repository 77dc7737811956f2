"""Marking a position of a session."""

from __future__ import annotations

import multiprocessing
import threading
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import CheckpointError, UsageError
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.checkpoints.write import MOST_LABEL, Mark, mark, read_rules
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.checkpoints import Trigger
from tallystick.trust.verify import verify_store
from tallystick.workspace.settings import set_setting
from tests.support.shown import shown


@pytest.fixture
def record(session_writer: SessionWriter) -> SessionRecord:
    record = session_writer.open(Opening(session="one", agent="demo", source=Source.SDK))
    say(session_writer, record, "user", values={"content.text": "go"})
    return record


def say(session_writer: SessionWriter, record: SessionRecord, kind: str, **rest: Any) -> int:
    return session_writer.add_to(record, Step(session="one", type=kind, source=Source.SDK, **rest)).n


def manual(label: str, **rest: Any) -> Mark:
    return Mark(trigger=Trigger.MANUAL, label=label, **rest)


def kinds(record: SessionRecord) -> list[str]:
    return [step.type for n in range(record.journal.size) if (step := record.read(n)) is not None]


def test_a_mark_holds_the_hash_of_the_newest_step_and_the_tokens_so_far(
    session_writer: SessionWriter, record: SessionRecord
) -> None:
    say(session_writer, record, "model_call", meta={"tokens": {"input": 100, "output": 7}})
    taken = mark(session_writer, record, manual(" before the merge ", git={"head": "ab"}, metadata={"ticket": "4711"}))
    step = record.read(taken.n)
    assert step is not None
    assert (step.type, step.meta["trigger"], step.meta["position"]) == ("checkpoint", "manual", 2)
    assert step.meta["position_hash"] == step.prev == record.known.hash_at(2)
    assert step.meta["tokens_used"] == {"input": 100, "output": 7, "cache_read": 0, "cache_write": 0, "reasoning": 0}
    assert "tokens" not in step.meta  # it would be counted
    assert step.values["content.label"] == "before the merge"
    assert (step.values["content.git"], step.values["content.metadata"]) == ({"head": "ab"}, {"ticket": "4711"})


def test_an_older_step_can_be_marked(session_writer: SessionWriter, record: SessionRecord) -> None:
    say(session_writer, record, "assistant")
    step = record.read(mark(session_writer, record, manual("the prompt", position=1)).n)
    assert step is not None
    assert (step.meta["position"], step.meta["position_hash"]) == (1, record.known.hash_at(1))
    for position in (-1, 4, 1 << 60):
        with pytest.raises(UsageError, match="has no step"):
            mark(session_writer, record, manual("no such step", position=position))


def test_a_session_that_has_ended_ends_again_as_it_had(session_writer: SessionWriter, record: SessionRecord) -> None:
    say(session_writer, record, "session_end", meta={"status": "failed", "reason": "crash"})
    taken = mark(session_writer, record, manual("after the fact"))
    assert kinds(record) == ["session_start", "user", "session_end", "session_start", "checkpoint", "session_end"]
    start, marking, end = (record.read(n) for n in (3, taken.n, 5))
    assert start is not None
    assert marking is not None
    assert end is not None
    assert (start.meta["resumed"], start.meta["reason"]) == (True, "checkpoint")
    assert marking.meta["position"] == 2
    assert (end.meta["status"], end.meta["reason"]) == ("failed", "crash")
    session_writer.seal()
    assert verify_store(session_writer.home).exit_code == 0


def test_a_refused_mark_leaves_a_session_that_has_ended_alone(
    session_writer: SessionWriter, record: SessionRecord
) -> None:
    say(session_writer, record, "session_end")
    set_setting(session_writer.home, "checkpoints.max_per_session", "1")
    mark(session_writer, record, manual("one"))
    before = kinds(record)
    with pytest.raises(CheckpointError):
        mark(session_writer, record, manual("two"))
    assert kinds(record) == before
    assert record.journal.ended


def test_a_label_may_hold_what_is_no_unicode(session_writer: SessionWriter, record: SessionRecord) -> None:
    step = record.read(mark(session_writer, record, manual("a\ud800b", metadata={"k\ud800": "v\udfff"})).n)
    assert step is not None
    assert step.values["content.label"] == "a\ud800b"
    assert step.values["content.metadata"] == {"k\ud800": "v\udfff"}


@pytest.mark.parametrize("label", ["", "  \n\t ", "x" * (MOST_LABEL + 1)])
def test_a_label_is_required_and_bounded(session_writer: SessionWriter, record: SessionRecord, label: str) -> None:
    with pytest.raises(UsageError, match="label"):
        mark(session_writer, record, manual(label))
    assert "checkpoint" not in kinds(record)


def test_the_third_manual_one_of_at_most_two_is_refused(session_writer: SessionWriter, record: SessionRecord) -> None:
    set_setting(session_writer.home, "checkpoints.max_per_session", "2")
    mark(session_writer, record, manual("one"))
    mark(session_writer, record, manual("two"))
    with pytest.raises(CheckpointError, match="has 2 checkpoints; the maximum is 2") as refusal:
        mark(session_writer, record, manual("three"))
    assert "max_per_session" in (refusal.value.hint or "")
    with pytest.raises(CheckpointError):  # an automatic one too: whoever makes it counts that
        mark(session_writer, record, Mark(trigger=Trigger.STEP_COMPLETE, label="auto"))
    set_setting(session_writer.home, "checkpoints.max_per_session", "0")
    mark(session_writer, record, manual("three"))


def test_a_new_one_rolls_over_the_oldest_automatic_one_and_says_so(
    session_writer: SessionWriter, record: SessionRecord
) -> None:
    set_setting(session_writer.home, "checkpoints.max_per_session", "2")
    mark(session_writer, record, manual("kept"))
    first = record.read(mark(session_writer, record, Mark(trigger=Trigger.STEP_COMPLETE, label="auto")).n)
    second = record.read(mark(session_writer, record, manual("new")).n)
    assert first is not None
    assert second is not None
    assert second.meta["replaces"] == [first.hash]
    set_setting(session_writer.home, "checkpoints.when_full", "refuse")
    with pytest.raises(CheckpointError):
        mark(session_writer, record, manual("newer"))


def test_an_event_is_marked_once(session_writer: SessionWriter, record: SessionRecord) -> None:
    auto = Mark(trigger=Trigger.POLICY_APPLIED, label="deny Bash", position=1)
    first, again = mark(session_writer, record, auto), mark(session_writer, record, auto)
    assert (again.n, again.outcome) == (first.n, Outcome.KNOWN)
    assert mark(session_writer, record, manual("the same step", position=1)).n != first.n


def test_a_mark_that_is_sealed_later_says_what_held_at_its_position(
    session_writer: SessionWriter, record: SessionRecord
) -> None:
    at = say(session_writer, record, "model_call", meta={"tokens": {"input": 100}}, source_id="m")
    digest = record.known.hash_at(at)
    say(session_writer, record, "model_call", meta={"tokens": {"input": 100, "output": 9}}, source_id="m")  # revised
    say(session_writer, record, "model_call", meta={"tokens": {"input": 50}})
    late = Mark(
        trigger=Trigger.STEP_COMPLETE,
        label="late",
        position=at,
        meta={"position_hash": digest, "run": "r1", "position": 17, "trigger": "manual"},
    )
    step = record.read(mark(session_writer, record, late).n)
    assert step is not None
    assert (step.meta["tokens_used"]["input"], step.meta["tokens_used"]["output"]) == (100, 0)
    assert (step.meta["position"], step.meta["trigger"], step.meta["run"]) == (at, "step_complete", "r1")
    newest = record.read(mark(session_writer, record, manual("now")).n)
    assert newest is not None
    assert (newest.meta["tokens_used"]["input"], newest.meta["tokens_used"]["output"]) == (150, 9)


def test_metadata_is_bounded(session_writer: SessionWriter, record: SessionRecord) -> None:
    step = record.read(
        mark(session_writer, record, manual("much", metadata={f"k{n}": "x" * 9_000 for n in range(200)})).n
    )
    assert step is not None
    assert len(shown(step.values["content.metadata"])) == 64
    assert max(map(len, shown(step.values["content.metadata"]).values())) == 4_000


def test_nothing_is_marked_where_checkpoints_are_off(session_writer: SessionWriter, record: SessionRecord) -> None:
    set_setting(session_writer.home, "checkpoints.enabled", "off")
    with pytest.raises(CheckpointError, match="checkpoints are off") as refusal:
        mark(session_writer, record, manual("no"))
    assert "checkpoints.enabled on" in (refusal.value.hint or "")


def test_the_rules_are_those_of_the_settings(home: Home) -> None:
    rules = read_rules(home)
    assert (rules.is_enabled, rules.on_policy, rules.on_step_complete) == (True, True, True)
    assert (rules.max_per_session, rules.when_full.value, rules.retention_days) == (100, "roll", 30)
    for key, text in (("auto_on_policy", "off"), ("max_per_session", "0"), ("retention_days", "7")):
        set_setting(home, f"checkpoints.{key}", text)
    changed = read_rules(home)
    assert (changed.on_policy, changed.max_per_session, changed.retention_days) == (False, 0, 7)


def test_several_recorders_at_once_never_make_more_than_the_maximum(home: Home, record: SessionRecord) -> None:
    set_setting(home, "checkpoints.max_per_session", "5")
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_mark_much, args=(home.folder,)) for _ in range(2)]
    threads = [threading.Thread(target=_mark_much, args=(home.folder,)) for _ in range(2)]
    for process in processes:
        process.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    marks = [step for step in read_session(home, record.sid) if step.type == "checkpoint"]
    assert [step.meta["trigger"] for step in marks] == ["manual"] * 5


def _mark_much(folder: Path) -> None:
    """What one of several processes does: ask for more checkpoints than there may be."""
    with SessionWriter(Home(folder)) as session_writer:
        record = session_writer.open(Opening(session="one", agent="demo", source=Source.SDK))
        for n in range(4):
            try:
                mark(session_writer, record, manual(f"mark {n}"))
            except CheckpointError:
                return

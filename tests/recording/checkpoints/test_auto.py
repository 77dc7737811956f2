"""Checkpoints that make themselves."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Source, Step
from tallystick.recording.checkpoints.auto import Checkpointing, folder_of, git_of
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.settings import set_setting
from tests.support.shown import shown

GIT = {"head": "1234", "ref": "refs/heads/main"}


@pytest.fixture
def record(session_writer: SessionWriter) -> SessionRecord:
    opening = Opening(session="one", agent="demo", source=Source.SDK, values={"personal.cwd": "/work"})
    return session_writer.open(opening)


def happen(session_writer: SessionWriter, record: SessionRecord, marks: Checkpointing, kind: str, **rest: Any) -> int:
    step = Step(session="one", type=kind, source=Source.SDK, **rest)
    taken = session_writer.add_to(record, step)
    marks.saw(record, taken, step)
    return taken.n


def checkpoints(home: Home, session: str) -> list[Recorded]:
    return [step for step in read_session(home, session) if step.type == "checkpoint"]


def test_a_goal_that_ended_and_a_refusal_are_marked_where_they_are(
    session_writer: SessionWriter, record: SessionRecord
) -> None:
    asked: list[str] = []

    def git(folder: str) -> Mapping[str, Json]:
        asked.append(folder)
        return GIT

    marks = Checkpointing(session_writer, git=git)
    happen(session_writer, record, marks, "model_call", meta={"tokens": {"input": 10, "output": 1}})
    goal = happen(session_writer, record, marks, "goal_end", values={"content.label": "write\nthe test"})
    denied = happen(
        session_writer,
        record,
        marks,
        "decision",
        meta={"effect": "deny", "tool": "Bash"},
        values={"content.text": "no"},
    )
    happen(session_writer, record, marks, "decision", meta={"effect": "allow"})
    happen(session_writer, record, marks, "model_call", meta={"tokens": {"input": 90, "output": 1}})
    marks.settle()
    first, second = checkpoints(session_writer.home, record.sid)
    assert (first.meta["trigger"], first.meta["position"]) == ("step_complete", goal)
    assert (second.meta["trigger"], second.meta["position"]) == ("policy_applied", denied)
    assert first.meta["position_hash"] == record.known.hash_at(goal)
    assert first.meta["tokens_used"]["input"] == 10
    assert first.values["content.label"] == f"goal_end {goal}: write"
    assert second.values["content.label"] == "deny Bash: no"
    assert first.values["content.git"] == GIT
    assert asked == ["/work", "/work"]
    assert (marks.counts.made, marks.counts.refused, marks.counts.failed) == (2, 0, 0)


def test_nobody_waits_for_git(session_writer: SessionWriter, record: SessionRecord) -> None:
    may_answer = threading.Event()

    def git(folder: str) -> Mapping[str, Json]:
        may_answer.wait(60)
        return GIT

    marks = Checkpointing(session_writer, git=git)
    goal = happen(session_writer, record, marks, "goal_end")
    marks.tick()
    assert checkpoints(session_writer.home, record.sid) == []
    happen(session_writer, record, marks, "assistant")
    may_answer.set()
    marks.settle()
    assert not marks.is_due
    assert [step.meta["position"] for step in checkpoints(session_writer.home, record.sid)] == [goal]


def test_what_git_does_not_say_in_time_is_left_out(session_writer: SessionWriter, record: SessionRecord) -> None:
    may_answer = threading.Event()
    marks = Checkpointing(session_writer, git=lambda _: {"head": str(may_answer.wait(60))})
    happen(session_writer, record, marks, "goal_end")
    marks.settle(seconds=0.01)
    (step,) = checkpoints(session_writer.home, record.sid)
    assert "content.git" not in step.values
    may_answer.set()


def test_a_fault_in_looking_at_git_costs_no_mark(session_writer: SessionWriter, record: SessionRecord) -> None:
    def git(folder: str) -> Mapping[str, Json]:
        raise ZeroDivisionError

    marks = Checkpointing(session_writer, git=git)
    happen(session_writer, record, marks, "goal_end")
    marks.settle()
    assert len(checkpoints(session_writer.home, record.sid)) == 1


def test_what_waited_in_the_spool_says_nothing_of_git_now(session_writer: SessionWriter, record: SessionRecord) -> None:
    marks = Checkpointing(session_writer, git=lambda _: GIT)
    happen(session_writer, record, marks, "decision", meta={"effect": "ask", "spooled": True})
    marks.settle()
    (step,) = checkpoints(session_writer.home, record.sid)
    assert "content.git" not in step.values


@pytest.mark.parametrize(
    ("key", "left"),
    [
        ("checkpoints.enabled", []),
        ("checkpoints.auto_on_policy", ["step_complete"]),
        ("checkpoints.auto_on_step_complete", ["policy_applied"]),
    ],
)
def test_the_settings_say_which_are_made(
    session_writer: SessionWriter, record: SessionRecord, key: str, left: list[str]
) -> None:
    set_setting(session_writer.home, key, "off")
    marks = Checkpointing(session_writer, git=lambda _: None)
    happen(session_writer, record, marks, "goal_end")
    happen(session_writer, record, marks, "decision", meta={"effect": "deny"})
    marks.settle()
    assert [step.meta["trigger"] for step in checkpoints(session_writer.home, record.sid)] == left
    assert marks.counts.made == len(left)
    assert marks.counts.last_error is None


def test_one_that_there_is_no_room_for_is_counted(session_writer: SessionWriter, record: SessionRecord) -> None:
    set_setting(session_writer.home, "checkpoints.max_per_session", "1")
    set_setting(session_writer.home, "checkpoints.when_full", "refuse")
    marks = Checkpointing(session_writer, git=lambda _: None)
    for _ in range(3):
        happen(session_writer, record, marks, "goal_end")
    marks.settle()
    assert (marks.counts.made, marks.counts.refused) == (1, 2)
    assert "the maximum is 1" in (marks.counts.last_error or "")


def test_an_event_that_was_known_is_not_marked_again(session_writer: SessionWriter, record: SessionRecord) -> None:
    marks = Checkpointing(session_writer, git=lambda _: None)
    happen(session_writer, record, marks, "goal_end", source_id="g1")
    happen(session_writer, record, marks, "goal_end", source_id="g1")
    marks.settle()
    assert len(checkpoints(session_writer.home, record.sid)) == 1


def test_settings_that_are_damaged_cost_the_mark_and_nothing_else(
    session_writer: SessionWriter, record: SessionRecord
) -> None:
    session_writer.home.config.write_text("checkpoints = 1 1")
    marks = Checkpointing(session_writer, git=lambda _: None)
    happen(session_writer, record, marks, "goal_end")
    marks.settle()
    assert marks.counts.failed == 1
    assert "FormatError" in (marks.counts.last_error or "")


def test_the_folder_is_the_one_that_the_session_began_in(session_writer: SessionWriter, record: SessionRecord) -> None:
    assert folder_of(record) == "/work"
    assert folder_of(session_writer.open(Opening(session="two", agent="demo", source=Source.SDK))) is None


def test_a_folder_without_a_repository_says_nothing(tmp_path: Path) -> None:
    assert git_of(str(tmp_path)) is None


def test_whatever_a_step_says_its_label_is_one(session_writer: SessionWriter, record: SessionRecord) -> None:
    marks = Checkpointing(session_writer, git=lambda _: None)
    hostile = "\u2028\x1b[2J" * 5_000
    happen(
        session_writer,
        record,
        marks,
        "decision",
        meta={"effect": "deny", "tool": hostile},
        values={"content.text": hostile},
    )
    happen(session_writer, record, marks, "goal_end", values={"content.label": ["no", "text"], "content.text": " \n "})
    marks.settle()
    assert marks.counts.failed == 0
    first, second = checkpoints(session_writer.home, record.sid)
    assert len(shown(first.values["content.label"])) <= 500
    assert shown(second.values["content.label"]).startswith("goal_end ")

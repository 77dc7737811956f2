"""The checkpoints of a session that a program records."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tallystick import Recorder
from tallystick.errors import CheckpointError, UsageError
from tallystick.journal.read import read_session
from tallystick.workspace.settings import set_setting


def test_a_program_that_records_gets_its_marks_before_its_session_ends(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        with recorder.session("demo", "s") as session:
            session.step("goal_end", content={"label": "done"})
            kept = session.checkpoint("by hand", keep=True, metadata={"k": "v"})
        steps = list(read_session(recorder.home, session.id))
    assert sorted(step.type for step in steps) == [
        "checkpoint",
        "checkpoint",
        "goal_end",
        "session_end",
        "session_start",
    ]
    assert steps[-1].type == "session_end"
    assert (kept.meta["keep"], kept.meta["trigger"], kept.values["content.metadata"]) == (True, "manual", {"k": "v"})


def test_a_forked_child_leaves_what_waits_to_its_parent(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "s")
        session.step("goal_end", content={"label": "done"})
        child = os.fork()
        if child == 0:
            session.step("assistant", content={"text": "from the child"})
            recorder.close()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        session.close()
        steps = list(read_session(recorder.home, session.id))
    assert [step.type for step in steps].count("checkpoint") == 1


def test_one_that_a_program_asks_for_may_be_refused(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "s")
        with pytest.raises(UsageError):
            session.checkpoint("")
        assert session.checkpoint("the start", at=0).meta["position"] == 0
        set_setting(recorder.home, "checkpoints.max_per_session", "1")
        with pytest.raises(CheckpointError):
            session.checkpoint("one more")


def test_in_an_event_loop_the_end_of_a_session_does_not_wait_for_git(tmp_path: Path) -> None:
    async def work(recorder: Recorder) -> str:
        with recorder.session("demo", "s", cwd=str(tmp_path)) as session:
            session.step("goal_end", content={"label": "done"})
        return session.id

    with Recorder(tmp_path / "store") as recorder:
        sid = asyncio.run(work(recorder))
    kinds = [step.type for step in read_session(recorder.home, sid)]
    assert kinds == ["session_start", "goal_end", "checkpoint", "session_end"]

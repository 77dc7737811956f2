"""Forks, merges, discards and checkpoints of sessions that a program records."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from pathlib import Path

import pytest

from tallystick import Recorder, verify
from tallystick.errors import CheckpointError, UsageError
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.recording.session import Session, end_of
from tallystick.review.sessions import Tree, session_tree
from tallystick.sessions.states import ENDS, Status
from tallystick.workspace.indexing import open_index
from tallystick.workspace.settings import set_setting
from tests.support.cases import each


def steps(session: Session) -> list[Recorded]:
    return list(session)


def types(session: Session) -> list[str]:
    return [step.type for step in session]


def tree_of(recorder: Recorder, session: Session) -> Tree:
    recorder.seal()
    with open_index(recorder.home) as index:
        return session_tree(recorder.home, index, session.id)


def test_a_fork_is_told_where_it_happened_and_names_the_fork(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "main")
        shared = session.prompt("go")
        fork = session.fork("other-way", goal="try it so")
        told = steps(session)[-1]
        assert steps(fork)[0].parents == (f"{session.id}#{shared.hash}",)
        assert told.type == "fork"
        assert told.parents == (shared.hash, f"{fork.id}#{steps(fork)[0].hash}")
        assert (told.meta["child"], told.values["content.goal"]) == ("other-way", "try it so")
    assert verify(home=tmp_path / "store").exit_code == 0


@pytest.mark.parametrize(("way", "status"), [("merge", "merged"), ("discard", "discarded")])
def test_a_fork_that_is_settled_ends_so_and_the_step_that_says_it_lists_both_tips(
    tmp_path: Path, way: str, status: str
) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo")
        fork = session.fork()
        fork.step("assistant", content={"text": "so"})
        before = steps(session)[-1]
        told = getattr(session, way)(fork, reason="because", lines=3)
        assert (told.type, told.values["content.reason"], told.meta["lines"]) == (way, "because", 3)
        end = steps(fork)[-1]
        assert (end.type, end.meta["status"]) == ("session_end", status)
        assert told.parents == (before.hash, f"{fork.id}#{end.hash}")
        assert [branch.session.status for branch in tree_of(recorder, fork).branches] == ["active", status]
    assert verify(home=tmp_path / "store").exit_code == 0


def test_a_sub_agent_that_completed_can_be_merged_afterwards(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder, recorder.session("demo") as session:
        with session.subagent("helper", goal="find it") as child:
            pass
        assert child.record().status is Status.COMPLETED
        session.merge(child)
        assert child.record().status is Status.MERGED
        assert types(child)[-3:] == ["session_end", "session_start", "session_end"]
        assert types(session)[-3:] == ["subagent_start", "subagent_end", "merge"]


def test_what_was_merged_or_discarded_is_that_for_good(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo")
        fork = session.fork()
        session.discard(fork)
        size = len(steps(session))
        for again in (session.merge, session.discard):
            with pytest.raises(UsageError, match="is already discarded"):
                again(fork)
        with pytest.raises(UsageError, match="by itself"):
            session.merge(session)
        assert len(steps(session)) == size
        assert fork.record().status is Status.DISCARDED


def test_of_many_who_merge_one_fork_one_does(tmp_path: Path) -> None:
    refused: list[UsageError] = []

    def merge(session: Session, fork: Session) -> None:
        try:
            session.merge(fork)
        except UsageError as error:
            refused.append(error)

    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo")
        fork = session.fork()
        threads = [threading.Thread(target=merge, args=(session, fork)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 7
        assert types(session).count("merge") == types(fork).count("session_end") == 1
    assert verify(home=tmp_path / "store").exit_code == 0


def test_a_session_that_has_ended_can_be_forked_and_take_over_and_stays_ended(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo")
        session.close("failed")
        session.merge(session.fork())
        assert session.record().status is Status.FAILED
        told = [(step.type, step.meta.get("reason")) for step in session]
        assert told == [
            ("session_start", None),
            ("session_end", None),
            ("session_start", "fork"),
            ("fork", None),
            ("session_end", None),
            ("session_start", "merge"),
            ("merge", None),
            ("session_end", None),
        ]
    assert verify(home=tmp_path / "store").exit_code == 0


def test_an_end_is_final_and_a_second_one_is_told_and_not_followed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo")
        session.close("error")
        with caplog.at_level(logging.WARNING, logger="tallystick"):
            session.close("completed")
        assert "has ended and stays as it is: it is not completed" in caplog.text
        assert [step.meta.get("status") for step in session] == [None, "failed"]
        session.step("assistant", content={"text": "one more thing"})
        assert session.record().status is Status.ACTIVE
        session.close("merged")
        assert session.record().status is Status.MERGED


@pytest.mark.parametrize("word", ["", "running", "active", "odd", "\x1b[31m"])
def test_what_is_no_end_is_refused_and_nothing_is_recorded(tmp_path: Path, word: str) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo")
        with pytest.raises(UsageError, match="is not an end of a session"):
            session.close(word)
        assert types(session) == ["session_start"]


@each("status", ENDS)
def test_every_end_means_itself(status: Status) -> None:
    assert end_of(status) is end_of(status.value.upper()) is status


def test_sub_agents_of_sub_agents_hang_below_each_other_to_any_depth(tmp_path: Path) -> None:
    def work(session: Session, level: int) -> Session:
        with session.subagent(f"level-{level}", goal=f"goal {level}") as child:
            return work(child, level + 1) if level < 40 else child

    with Recorder(tmp_path / "store") as recorder:
        with recorder.session("demo", "root", run="run-1", workspace="shop", goal="ship it") as root:
            deepest = work(root, 1)
        found = tree_of(recorder, deepest)
        assert [branch.about.depth for branch in found.branches] == list(range(41))
        assert {branch.session.status for branch in found.branches} == {"completed"}
        assert {(branch.session.run, branch.session.workspace) for branch in found.branches} == {("run-1", "shop")}
        assert [branch.session.goal for branch in found.branches] == ["ship it", *(f"goal {n}" for n in range(1, 41))]
    assert verify(home=tmp_path / "store").exit_code == 0


def test_run_and_workspace_pass_on_from_a_session_that_another_program_began(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        recorder.session("demo", "root", run="run-1", workspace="shop")
    with Recorder(tmp_path / "store") as recorder:
        root = recorder.session("demo", "root")
        other = root.child(run="run-2")
        following = root.compact("so far")
        for session, run in ((other, "run-2"), (following, "run-1")):
            start = steps(session)[0]
            assert (start.meta["run"], start.values["content.workspace"]) == (run, "shop")


def test_a_failed_sub_agent_of_a_sub_agent_is_failed_and_the_one_above_is_what_it_is(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder, recorder.session("demo") as root:
        with root.subagent("outer") as outer, pytest.raises(RuntimeError), outer.subagent("inner") as inner:
            raise RuntimeError("no")
        assert (inner.record().status, outer.record().status) == (Status.FAILED, Status.COMPLETED)


def test_a_sub_agent_that_is_open_when_its_root_closes_is_reported(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        with recorder.session("demo") as root:
            child, fork = root.child(), root.fork()
            below = child.child()
        found = {branch.session.session: branch.left_open for branch in tree_of(recorder, root).branches}
        assert found == {root.id: False, child.id: True, below.id: False, fork.id: False}


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

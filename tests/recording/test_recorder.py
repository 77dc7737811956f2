from __future__ import annotations

import math
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from multiprocessing.context import ForkContext, SpawnContext
from pathlib import Path

import pytest

import tallystick
from tallystick import Recorder, verify, verify_session, walk_dag
from tallystick.errors import FormatError
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Ref
from tallystick.recording import flush_timer
from tallystick.recording.session import Session
from tallystick.seal.tagged import as_sealed


def steps(recorder: Recorder, sid: str) -> list[Recorded]:
    return list(read_session(recorder.home, sid))


def test_a_recorded_session_verifies_and_is_sealed(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        with recorder.session("demo", cwd="/home/dev", model="m1") as session:
            session.prompt("do it")
            session.model_call("m1", tokens={"input": 10, "output": 2})
            with session.tool_call("Bash", {"command": "ls"}) as call:
                call.output = "a\nb"
        recorded = steps(recorder, session.id)
    assert [step.type for step in recorded] == [
        "session_start",
        "user",
        "model_call",
        "tool_call",
        "tool_result",
        "session_end",
    ]
    call_step, result = recorded[3], recorded[4]
    assert call_step.meta["corr"] == result.meta["corr"] == call_step.meta["source_id"]
    assert result.meta["success"] is True
    assert recorded[5].meta["status"] == "completed"
    verdict = verify_session(session.id[:8], home=tmp_path / "store")
    assert (verdict.exit_code, verdict.completeness, verdict.steps) == (0, "sealed", 6)


def test_a_failing_call_and_session_are_recorded_as_such(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "store")
    with pytest.raises(RuntimeError), recorder.session("demo") as session, session.tool_call("Bash", {}):
        raise RuntimeError("no")
    recorder.close()
    result, end = steps(recorder, session.id)[-2:]
    assert (result.meta["success"], result.values["content.error"]) == (False, "RuntimeError: no")
    assert end.meta["status"] == "failed"


def test_forks_children_and_continuations_hang_where_they_began(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "main")
        session.prompt("one")
        child, fork = session.child(), session.fork()
        other = session.child("another-agent")
        assert steps(recorder, other.id)[0].parents == (f"{session.id}#{steps(recorder, session.id)[2].hash}",)
        fork.step("assistant", content={"text": "another way"})
        following = session.compact("all that was said")
        following.close()
        last = steps(recorder, session.id)
        for other, kind, parent in (
            (child, "child", last[1]),
            (fork, "fork", last[1]),
            (following, "continuation", last[3]),
        ):
            start = steps(recorder, other.id)[0]
            assert start.meta["kind"] == kind
            assert start.parents == (f"{session.id}#{parent.hash}",)
        assert [step.type for step in last[2:]] == ["fork", "compaction", "session_end"]
        assert following.source_session == "main~1"
        assert recorder.session("demo", "main~1").id == following.id
    assert verify(home=tmp_path / "store").exit_code == 0


def test_continuations_are_numbered_on(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        second = recorder.session("demo", "main").compact("a").compact("b")
        assert second.source_session == "main~2"


def test_values_that_json_cannot_hold_are_kept_as_tagged_strings(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo")
        step = session.step("assistant", content={"text": math.nan, "args": [2**60, "\ud800", math.inf]})
    assert step.values["content.text"] == "NaN"
    assert step.values["content.args"] == ["1152921504606846976", "\ud800", "Infinity"]
    sealed = as_sealed(step).values
    assert sealed["content.text"] == "\x10tally:nan"
    assert sealed["content.args"] == ["\x10tally:num:1152921504606846976", "\x10tally:utf16:d800", "\x10tally:inf"]
    assert verify(home=tmp_path / "store").exit_code == 0


def test_a_step_that_cannot_be_sealed_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo")
        with pytest.raises(FormatError):
            session.step("assistant", content={"NO NAME": "x"})
        with pytest.raises(TypeError):
            session.step("assistant", content={"text": object()})
        session.step("assistant", content={"text": "fine"})
    assert verify(home=tmp_path / "store").steps == 2


def test_callbacks_see_every_step_and_following_gives_them_all(tmp_path: Path) -> None:
    seen: list[str] = []
    with Recorder(tmp_path / "store") as recorder:
        recorder.on_step(lambda step: seen.append(step.type))
        with recorder.session("demo") as session:
            session.prompt("x")
        followed = [step.type for step in session.follow()]
    assert seen == followed == ["session_start", "user", "session_end"]


def test_thirty_two_steps_are_sealed_without_asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flush_timer, "SEAL_SECONDS", 3_600.0)  # it is the count that seals
    recorder = Recorder(tmp_path / "store")
    session = recorder.session("demo")
    for _ in range(40):
        session.step("assistant", content={"text": "x"})
    while verify(home=tmp_path / "store").unsealed >= 10:
        time.sleep(0.02)
    recorder.close()
    assert verify(home=tmp_path / "store").unsealed == 0


def test_who_records_does_not_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    durable = os.fdatasync

    begun, goes_on = threading.Event(), threading.Event()

    def slow(descriptor: int) -> None:
        begun.set()
        goes_on.wait()
        durable(descriptor)

    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo")
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", slow)
            session.step("assistant", content={"text": "x"})
            begun.wait()
            for _ in range(299):
                session.step("assistant", content={"text": "x"})  # while the disk is busy
            goes_on.set()
    verdict = verify(home=tmp_path / "store")
    assert (verdict.exit_code, verdict.unsealed, verdict.steps) == (0, 0, 301)


def test_a_callback_may_ask_for_a_seal_while_its_step_is_being_written(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        recorder.on_step(lambda step: recorder.seal())
        session = recorder.session("demo")
        for _ in range(100):
            session.step("assistant")
    assert (verify(home=tmp_path / "store").exit_code, verify(home=tmp_path / "store").unsealed) == (0, 0)


def test_more_sessions_than_are_kept_open_are_all_sealed(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        sessions = [recorder.session("demo", f"s{number}") for number in range(150)]

        def work(part: int) -> None:
            for turn in range(3):
                for session in sessions[part::2]:
                    session.step("assistant", content={"text": f"turn {turn}"})

        threads = [threading.Thread(target=work, args=(part,)) for part in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    verdict = verify(home=tmp_path / "store")
    assert (verdict.exit_code, verdict.unsealed, verdict.steps) == (0, 0, 600)


def test_walking_the_dag_gives_what_follows_from_a_step(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo")
        session.step("assistant", source_id="a")
        session.step("assistant", source_id="b", after=(Ref("a"),))
        session.step("assistant", source_id="c", after=(Ref("a"),))
        session.step("assistant", source_id="d", after=(Ref("b"),))
        recorded = steps(recorder, session.id)
    assert [step.n for step in walk_dag(recorded, recorded[2].hash)] == [2, 4]
    assert [step.n for step in walk_dag(recorded)] == [0, 1, 2, 3, 4]


def test_the_public_names_are_there_and_no_others() -> None:
    for name in tallystick.__all__:
        assert callable(getattr(tallystick, name))
    with pytest.raises(AttributeError):
        tallystick.nothing_of_that_name  # noqa: B018


pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # that is the point


def record(session: Session, name: str) -> None:
    with session.tool_call(name, {}) as call:
        call.output = os.getpid()


def fork_and(work: str, session: Session) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            record(session, work)
            session.recorder.seal()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def test_forked_children_record_into_the_call_they_were_forked_in_while_the_parent_goes_on(tmp_path: Path) -> None:
    stop = threading.Event()

    def noise(session: Session) -> None:
        while not stop.is_set():
            session.step("assistant", content={"text": "meanwhile"})

    with Recorder(tmp_path / "s") as recorder, recorder.session("demo", "s") as session:
        session.prompt("go")
        thread = threading.Thread(target=noise, args=(session,))
        thread.start()
        with session.tool_call("outer", {}):
            for number in range(8):
                fork_and(f"child{number}", session)
        stop.set()
        thread.join()
        steps = list(session)
    outer = next(step for step in steps if step.meta.get("tool") == "outer")
    made = [step for step in steps if str(step.meta.get("tool")).startswith("child")]
    assert len(made) == 16
    assert {step.meta["parent"] for step in made} == {outer.n}
    assert len({step.values["content.output"] for step in made if step.type == "tool_result"}) == 8
    verdict = verify(home=tmp_path / "s")
    assert (verdict.exit_code, verdict.unsealed) == (0, 0)


@pytest.mark.parametrize(
    "context", [multiprocessing.get_context("fork"), multiprocessing.get_context("spawn")], ids=["fork", "spawn"]
)
def test_processes_of_multiprocessing_record_what_they_are_handed(
    tmp_path: Path, context: ForkContext | SpawnContext
) -> None:
    with Recorder(tmp_path / "s") as recorder, recorder.session("demo", "s") as session:
        with session.tool_call("outer", {}):
            processes = [context.Process(target=record, args=(session, f"child{number}")) for number in range(2)]
            for process in processes:
                process.start()
            for process in processes:
                process.join()
                assert process.exitcode == 0
        steps = list(session)
    outer = next(step for step in steps if step.meta.get("tool") == "outer")
    made = [step for step in steps if str(step.meta.get("tool")).startswith("child")]
    assert [step.meta["parent"] for step in made] == [outer.n] * 4
    assert verify(home=tmp_path / "s").exit_code == 0


def test_a_session_that_only_a_child_knew_is_sealed_when_the_child_ends(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "s")
    session = recorder.session("demo", "s")
    process = multiprocessing.get_context("fork").Process(target=open_another, args=(recorder,))
    process.start()
    process.join()
    assert process.exitcode == 0
    session.close()
    recorder.close()
    verdict = verify(home=tmp_path / "s")
    assert (verdict.exit_code, verdict.unsealed, len(verdict.sessions)) == (0, 0, 2)


def open_another(recorder: Recorder) -> None:
    recorder.session("demo", "of the child").step("assistant")


def test_a_recorder_that_nobody_closed_is_sealed_when_the_program_ends(tmp_path: Path) -> None:
    code = """
import sys
from tallystick import Recorder
recorder = Recorder(sys.argv[1])
recorder.session("demo").step("assistant")
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], check=True)
    verdict = verify(home=tmp_path / "s")
    assert (verdict.exit_code, verdict.unsealed, verdict.steps) == (0, 0, 2)


def test_a_child_leaves_its_parents_descriptors_alone(tmp_path: Path) -> None:
    with Recorder(tmp_path / "s") as recorder:
        session = recorder.session("demo", "s")
        before = len(list(Path("/dev/fd").iterdir()))
        for _ in range(5):
            fork_and("child", session)
        assert len(list(Path("/dev/fd").iterdir())) == before
        session.step("assistant")

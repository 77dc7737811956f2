from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from multiprocessing.context import ForkContext, SpawnContext
from pathlib import Path

import pytest

from tallystick import Recorder, verify
from tallystick.recording.recorder import Session

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

from __future__ import annotations

import math
import os
import threading
import time
from pathlib import Path

import pytest

import tallystick
from tallystick import Recorder, verify, verify_session, walk_dag
from tallystick.errors import FormatError
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Ref
from tallystick.recording import flush_timer


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
    assert step.values["content.text"] == "\x10tally:nan"
    assert step.values["content.args"] == ["\x10tally:num:1152921504606846976", "\x10tally:utf16:d800", "\x10tally:inf"]
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

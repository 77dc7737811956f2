from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from tallystick import Recorder, verify
from tallystick.errors import JournalError
from tallystick.recording import flush_timer
from tallystick.recording.flush_timer import SYNC_SECONDS, FlushTimer


def test_what_was_noted_is_synced_and_then_sealed_without_being_asked() -> None:
    calls: list[str] = []
    sealed = threading.Event()

    def seal() -> None:
        calls.append("seal")
        sealed.set()

    keeper = FlushTimer(lambda: calls.append("sync"), seal)
    keeper.note()
    assert sealed.wait(120)
    keeper.stop()
    assert calls == ["sync", "seal"]


def test_nothing_is_done_while_nothing_is_pending() -> None:
    calls: list[str] = []
    keeper = FlushTimer(lambda: calls.append("sync"), lambda: calls.append("seal"))
    keeper.note()
    keeper.sealed()
    time.sleep(SYNC_SECONDS * 3)
    keeper.stop()
    keeper.stop()
    assert calls == []


def test_a_failure_is_raised_by_the_next_step() -> None:
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise JournalError("the disk is gone")

    keeper = FlushTimer(fail, fail)
    keeper.note()
    assert failed.wait(120)
    keeper.stop()
    with pytest.raises(JournalError, match="the disk is gone"):
        keeper.note()


def test_after_a_failure_that_was_reported_promises_are_kept_again() -> None:
    calls: list[str] = []
    failed, sealed = threading.Event(), threading.Event()

    def sync() -> None:
        if not failed.is_set():
            failed.set()
            raise JournalError("the disk is full")
        calls.append("sync")

    keeper = FlushTimer(sync, sealed.set)
    keeper.note()
    assert failed.wait(120)
    deadline = time.monotonic() + 120
    while keeper._thread is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(JournalError, match="the disk is full"):
        keeper.note()
    assert sealed.wait(120)
    keeper.note()
    keeper.stop()
    assert calls


def test_a_fault_of_ours_is_told_too_and_not_only_by_silence() -> None:
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise ValueError("nobody thought of this")

    keeper = FlushTimer(fail, fail)
    keeper.note()
    assert failed.wait(120)
    keeper.stop()
    with pytest.raises(JournalError, match="ValueError: nobody thought of this"):
        keeper.note()


def test_a_step_is_sealed_though_no_other_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flush_timer, "SEAL_SECONDS", 0.3)
    recorder = Recorder(tmp_path / "store")
    recorder.session("demo").step("assistant")
    deadline = time.monotonic() + 120
    while verify(home=tmp_path / "store").unsealed and time.monotonic() < deadline:
        time.sleep(0.05)
    assert verify(home=tmp_path / "store").unsealed == 0
    recorder.close()


@pytest.mark.parametrize(("setting", "at_once"), [('fsync = "always"', True), ("", False)])
def test_the_setting_says_when_a_step_is_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, at_once: bool
) -> None:
    store = tmp_path / "store"
    Recorder(store).close()
    (store / "config.toml").write_text(f"[journal]\n{setting}\n")
    recorder = Recorder(store)
    session = recorder.session("demo")
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    session.step("assistant")
    assert bool(synced) == at_once
    recorder.close()


def test_threads_of_one_recorder_do_not_disturb_each_other(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:

        def record(name: str) -> None:
            with recorder.session("demo", name) as session:
                for number in range(40):
                    session.step("assistant", content={"text": str(number)})

        threads = [threading.Thread(target=record, args=(f"s{number}",)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    verdict = verify(home=tmp_path / "store")
    assert (verdict.exit_code, verdict.completeness, verdict.steps) == (0, "sealed", 4 * 42)


def test_only_the_first_of_many_steps_wakes_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = FlushTimer(lambda: None, lambda: None)
    monkeypatch.setattr(flush_timer, "SYNC_SECONDS", 60.0)
    monkeypatch.setattr(flush_timer, "SEAL_SECONDS", 60.0)
    woken: list[None] = []
    monkeypatch.setattr(keeper._changed, "notify", lambda: woken.append(None))
    for _ in range(3):
        keeper.note()
    assert len(woken) == 1
    monkeypatch.undo()
    keeper.stop()

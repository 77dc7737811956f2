"""What the recorder bears: kills, small disks, floods, strangers, moved folders. Each fault is made for real.

The questions are always the same: was the agent answered, is everything acknowledged there, does verification raise no
alarm, and does the recorder, or the next one, go on?
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.capture.surroundings import Surroundings
from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.model.step import Json
from tallystick.setup.check import State
from tallystick.setup.doctor import examine
from tests.service import faults
from tests.service.faults import (
    SmallDisk,
    answers,
    before,
    call_ids,
    connect,
    gaps,
    is_sound,
    needs_mount,
    run_hook,
    send,
    steps,
    wait_for,
    wait_for_calls,
)
from tests.support import hooks, recorders

small_disk = faults.small_disk
_IS_ROOT = os.getuid() == 0
_NOBODY = 65534


# Killed --------------------------------------------------------------------------------------------------------------


class Burst:
    """Senders that do not stop, and what each was told to be recorded."""

    def __init__(self, home: Home, senders: int) -> None:
        self.acknowledged: list[str] = []
        self._home = home
        self._numbers = iter(range(1, 100_000))
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(senders - 2)]
        self._threads += [threading.Thread(target=self._hook) for _ in range(2)]

    def __enter__(self) -> Burst:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def wait_for_more(self, number: int) -> None:
        """Wait until some more deliveries were acknowledged."""
        wanted = len(self.acknowledged) + number
        wait_for(lambda: len(self.acknowledged) >= wanted, 60)

    def _next(self) -> tuple[str, dict[str, Json]]:
        with self._lock:
            number = next(self._numbers)
        return f"call_{number:05}", {**before("claude-code", number), "session_id": f"burst-{number % 5}"}

    def _send(self) -> None:
        while not self._stopped.is_set():
            name, said = self._next()
            try:
                if send(self._home, said) == b"0 0 0\n":
                    self.acknowledged.append(name)
            except OSError:
                time.sleep(0.01)

    def _hook(self) -> None:
        """A whole hook, which keeps in the spool what the recorder does not take."""
        while not self._stopped.is_set():
            name, said = self._next()
            if run_hook(self._home.folder, said).returncode == 0:
                self.acknowledged.append(name)


def killed_in_bursts(home: Home, rounds: int) -> int:
    recorders.start(home.folder)
    with Burst(home, 8) as burst:
        for _ in range(rounds):
            burst.wait_for_more(10)  # a new one takes its time to start
            owner = Place(home.folder).owner()
            if owner is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(owner, signal.SIGKILL)
    with contextlib.suppress(TallystickError):
        recorders.start(home.folder)
    wait_for(lambda: not list(Place(home.folder).spool.glob("*.spool")), 60)
    recorder.stop(home.folder)
    found = call_ids(home)
    assert set(burst.acknowledged) - set(found) == set()
    assert len(found) == len(set(found)), "each once"
    assert is_sound(home)
    return len(burst.acknowledged)


def test_a_recorder_killed_again_and_again_under_eight_senders_loses_nothing(home: Home) -> None:
    assert killed_in_bursts(home, 2) > 15


def killed_alerts(home: Home) -> list[Json]:
    """The pids of the recorders that were killed, as alerts say."""
    told = [step for step in steps(home, "tallystick") if step.meta.get("rule") == "tally.killed"]
    return [json.loads(str(step.text("content.evidence")))["pid"] for step in told]


def test_a_recorder_that_was_killed_is_told_by_the_next_one_and_one_that_ended_is_not(home: Home) -> None:
    first = recorders.start(home.folder)
    recorder.stop(home.folder)
    second = recorders.start(home.folder)
    assert killed_alerts(home) == []
    os.kill(second, signal.SIGKILL)
    wait_for(lambda: not Path(f"/proc/{second}").exists() or not Place(home.folder).is_claimed)
    recorders.start(home.folder)
    wait_for(lambda: killed_alerts(home) == [second])
    assert first != second
    assert (recorder.status(home.folder) or {})["killed_before"] == second
    found = examine(home, Surroundings(user=home.folder.parent))
    checks = [check.found for check in found if check.state is State.WARN]
    assert f"the one before it (process {second}) was killed, or failed" in checks


def test_a_machine_that_went_down_killed_no_one(home: Home) -> None:
    place = Place(home.folder)
    claim = place.claim()
    assert claim is not None
    os.close(claim)
    os.utime(place.pid, (1, 1))
    claim = place.claim()
    assert claim is not None
    found = [place.killed]
    os.close(claim)
    claim = place.claim()
    assert claim is not None
    found.append(place.killed)
    place.leave(claim)
    assert found == [None, os.getpid()]


@pytest.mark.soak
def test_a_recorder_killed_a_hundred_times_under_eight_senders_loses_nothing(home: Home) -> None:
    assert killed_in_bursts(home, 100) > 500


def test_a_killed_hook_does_not_disturb_the_recorder(home: Home) -> None:
    running = recorders.start(home.folder)
    os.kill(running, signal.SIGSTOP)
    waiting = subprocess.Popen(
        [sys.executable, "-I", "-S", str(faults.HOOK), "--home", str(home.folder), "claude-code"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert waiting.stdin is not None
    waiting.stdin.write(json.dumps(before("claude-code", 1)).encode())
    waiting.stdin.close()
    time.sleep(0.3)
    waiting.kill()
    waiting.wait()
    assert waiting.stdout is not None
    waiting.stdout.close()
    os.kill(running, signal.SIGCONT)
    wait_for(lambda: recorder.status(home.folder) is not None)
    assert answers(home, 2)
    assert recorder.status(home.folder) is not None


# Disks ---------------------------------------------------------------------------------------------------------------


@needs_mount
def test_a_full_disk_stops_nobody_and_leaves_a_gap(small_disk: SmallDisk) -> None:
    home = Home(small_disk.path / "store")
    recorders.start(home.folder)
    try:
        assert answers(home, 1)
        small_disk.fill()
        for number in range(2, 22):
            assert send(home, before("claude-code", number)) == b"0 0 0\n"
        refused = send(home, before("claude-code", 22, command=f"rm -rf {home.folder}"))
        assert b'"deny"' in refused
        assert (recorder.status(home.folder) or {})["unrecorded"] > 0
        small_disk.free()
        assert answers(home, 30)
        assert gaps(home) == ["not-writable"]
        assert "call_00001" in call_ids(home)
        recorder.stop(home.folder)
        assert is_sound(home)
    finally:
        recorder.stop(home.folder)


@needs_mount
def test_a_store_on_a_read_only_disk_stops_nobody_and_doctor_says_it(small_disk: SmallDisk) -> None:
    home = Home(small_disk.path / "store")
    recorders.start(home.folder)
    assert answers(home, 1)
    recorder.stop(home.folder)
    small_disk.mount("ro")
    try:
        hasty = hooks.hook(**hooks.HASTY)
        done = run_hook(home.folder, before("claude-code", 2), hook=hasty)
        assert (done.returncode, done.stdout) == (0, b"")
        refused = run_hook(home.folder, before("claude-code", 4, command=f"rm -rf {home.folder}"), hook=hasty)
        assert b'"deny"' in refused.stdout or b'"ask"' in refused.stdout
        found = [check for check in examine(home, Surroundings(user=home.folder.parent)) if check.state is State.BAD]
        assert [check.name for check in found][:1] == ["store"]
        small_disk.mount("rw")
        recorders.start(home.folder)
        assert answers(home, 5)
        recorder.stop(home.folder)
        assert is_sound(home)
    finally:
        recorder.stop(home.folder)


@needs_mount
def test_a_recorder_starts_and_answers_on_a_full_disk(small_disk: SmallDisk) -> None:
    home = Home(small_disk.path / "store")
    recorders.start(home.folder)
    assert answers(home, 1)
    recorder.stop(home.folder)
    small_disk.fill()
    try:
        recorders.start(home.folder)
        assert send(home, before("claude-code", 2)) == b"0 0 0\n"
        small_disk.free()
        assert answers(home, 3)
        recorder.stop(home.folder)
        assert is_sound(home)
    finally:
        recorder.stop(home.folder)


def remove_folder(folder: Path) -> None:
    """Take a folder away in one go: a recorder that writes to it meanwhile makes nothing in it."""
    gone = folder.with_name(f"{folder.name}.gone")
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


# What was there is gone ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["socket", "run", "lock", "pid", "http.json", "spool"])
def test_what_is_removed_in_the_store_is_made_anew_and_nothing_is_lost(home: Home, what: str) -> None:
    recorders.start(home.folder)
    place = Place(home.folder)
    assert run_hook(home.folder, before("claude-code", 1)).returncode == 0
    if what in ("run", "spool"):
        remove_folder(home.folder / what)
    else:
        {"socket": place.socket, "lock": place.lock, "pid": place.pid, "http.json": place.http}[what].unlink(
            missing_ok=True
        )
    for number in range(2, 8):
        assert run_hook(home.folder, before("claude-code", number)).returncode == 0
        time.sleep(0.1)
    recorders.start(home.folder)
    wait_for_calls(home, *range(1, 8))
    assert answers(home, 9)


def test_a_recorder_whose_folder_was_replaced_leaves_the_new_one_alone(home: Home) -> None:
    first = recorders.start(home.folder)
    remove_folder(home.folder / "run")
    second = recorders.start(home.folder)
    assert second != first
    wait_for(lambda: not Path(f"/proc/{first}").exists() or _is_zombie(first))
    assert Place(home.folder).socket.exists()
    assert (recorder.status(home.folder) or {})["pid"] == second


def _is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "Z"
    return True


@pytest.mark.parametrize("number", [3, pytest.param(20, marks=pytest.mark.soak)])
def test_of_many_recorders_started_at_once_one_answers_and_the_others_end_well(home: Home, number: int) -> None:
    words = [sys.executable, "-I", "-m", "tallystick.service", str(home.folder)]
    started = [subprocess.Popen(words) for _ in range(number)]
    try:
        wait_for(lambda: sum(each.poll() is None for each in started) == 1, 60)
        alive = next(each for each in started if each.poll() is None)
        assert [each.returncode for each in started if each is not alive] == [0] * (number - 1)
        wait_for(lambda: (recorder.status(home.folder) or {}).get("pid") == alive.pid)
        assert answers(home, 1)
    finally:
        recorder.stop(home.folder)
        for each in started:
            each.wait(120)


# Upgrades, clocks ---------------------------------------------------------------------------------------------------


def test_a_hook_of_another_version_changes_recorders_and_no_delivery_is_lost(home: Home) -> None:
    first = recorders.start(home.folder)
    with ThreadPoolExecutor(3) as threads:

        def hooked(number: int) -> int:
            if number == 5:
                send(home, before("claude-code", number), version="99.0")
                return 0
            return run_hook(home.folder, before("claude-code", number)).returncode

        assert set(threads.map(hooked, range(1, 13))) == {0}
    wait_for(lambda: _is_zombie(first))
    recorders.start(home.folder)
    wait_for_calls(home, *range(1, 13))


@pytest.mark.parametrize("shift", [-400 * 86400, -1, 1, pytest.param(400 * 86400, marks=pytest.mark.soak), 10**12])
def test_a_clock_that_jumped_is_only_another_time(home: Home, shift: int) -> None:
    recorders.start(home.folder)
    assert answers(home, 1)
    said = json.dumps(before("claude-code", 2)).encode()
    moment = max(time.time_ns() + shift * 10**9, 0)
    with connect(home) as connection:
        connection.sendall(b"TALLY1 %d claude-code - 0.1.0 %d 7.7 -\n" % (len(said), moment) + said)
        assert connection.recv(100) == b"0 0 0\n"
    assert answers(home, 3)
    assert call_ids(home) == ["call_00001", "call_00002", "call_00003"]
    recorder.stop(home.folder)
    assert is_sound(home)


# Transcripts ---------------------------------------------------------------------------------------------------------


def with_transcript(number: int, path: Path) -> dict[str, Json]:
    return {**before("claude-code", number), "transcript_path": str(path)}


def line(number: int) -> str:
    """A line as Claude Code writes it."""
    said = {
        "type": "user",
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "sessionId": faults.SESSION,
        "timestamp": f"2026-11-22T01:00:{number % 60:02}.000Z",
        "cwd": "/home/dev/project",
        "version": "2.1.330",
        "message": {"role": "user", "content": f"prompt {number}"},
    }
    return json.dumps(said) + "\n"


@pytest.mark.parametrize("what", ["deleted", "cut", "secret", "fifo", "sparse", "long", "folder", "loop", "device"])
def test_a_transcript_that_becomes_something_else_neither_hangs_nor_leaks(
    home: Home, tmp_path: Path, what: str
) -> None:
    path, secret = tmp_path / f"{faults.SESSION}.jsonl", tmp_path / "shadow"
    path.write_text("".join(map(line, range(5))))
    secret.write_text("root:$6$PLANTED$SECRET:19000:0:99999:7:::\n" * 3)
    recorders.start(home.folder)
    assert send(home, with_transcript(1, path)) == b"0 0 0\n"
    wait_for(lambda: any(step.type == "user" for step in steps(home)))
    become(path, what, secret)
    for number in range(2, 8):
        assert send(home, with_transcript(number, path)) == b"0 0 0\n"
        time.sleep(0.03)
    end = {"session_id": faults.SESSION, "cwd": "/", "hook_event_name": "SessionEnd", "reason": "other"}
    assert send(home, end) == b"0 0 0\n"
    assert len(call_ids(home)) == 7
    assert recorder.stop(home.folder)
    assert is_sound(home)
    stored = b"".join(file.read_bytes() for file in home.folder.rglob("*") if file.is_file())
    assert b"PLANTED" not in stored


def become(path: Path, what: str, secret: Path) -> None:
    if what == "cut":
        os.truncate(path, 100)
    elif what in ("sparse", "long"):
        os.truncate(path, 10 << 30 if what == "sparse" else 8 << 20)
    else:
        path.unlink()
    {
        "secret": lambda: path.symlink_to(secret),
        "fifo": lambda: os.mkfifo(path),
        "folder": lambda: path.mkdir(),
        "loop": lambda: path.symlink_to(path.name),
        "device": lambda: path.symlink_to("/dev/zero"),
    }.get(what, lambda: None)()

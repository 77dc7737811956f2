"""The record survives: killed writers, failing system calls, a full disk. Each test ends with the same three questions:

is every acknowledged step there, does verification raise no alarm, and does the store open again by itself?
"""

from __future__ import annotations

import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.recording.recorder import Recorder
from tallystick.trust.verify import verify_store

WRITER = Path(__file__).with_name("crash_writer.py")
STRACE = shutil.which("strace")
CALLS = ("openat", "write", "fdatasync", "fsync", "rename", "ftruncate", "unlink", "mkdir", "flock", "read")
FAULTS = ("error=EIO", "error=ENOSPC", "signal=SIGKILL")
FEW = {
    "plain": (
        ("write", "error=ENOSPC"),
        ("write", "signal=SIGKILL"),
        ("fdatasync", "error=EIO"),
        ("rename", "signal=SIGKILL"),
    ),
    "erase": (("write", "signal=SIGKILL"), ("unlink", "signal=SIGKILL")),
}
"""What fails in each run of the tests; `make soak` has each call fail, in each way, at many places."""


def command(store: Path, name: str, steps: int, mode: str = "plain") -> list[str]:
    return [sys.executable, str(WRITER), str(store), name, str(steps), mode]


def assert_survived(store: Path, acknowledged: bytes) -> None:
    home = Home(store)
    promised = re.findall(rb"^([0-9a-f]{32}) (\d+) ([0-9a-f]{64})$", acknowledged, re.MULTILINE)
    if not home.exists:
        assert not promised
        return
    before = verify_store(home)
    assert before.exit_code in (0, 3), (before.first_bad, before.remarks)
    found = {(step.session, step.n): step for sid, _ in home.sessions() for step in read_session(home, sid)}
    for sid, n, digest in promised:
        assert found[sid.decode(), int(n)].hash == digest.decode()
    for sid, n in re.findall(rb"^([0-9a-f]{32}) erased (\d+)$", acknowledged, re.MULTILINE):
        assert found[sid.decode(), int(n)].withheld
    begun = {str(step.meta["source_session"]) for step in found.values() if step.n == 0}
    with Recorder(store) as recorder:
        for name in sorted(begun):
            recorder.session("crash", name).step("assistant", content={"text": "afterwards"})
    after = verify_store(home)
    assert (after.exit_code, after.unsealed) == (0, 0), (after.first_bad, after.remarks)


def killed_round(store: Path, seed: int) -> None:
    """Run a few writers on one session and kill them at a random moment; twice, on the same store."""
    chance = random.Random(seed)
    outputs: list[bytes] = []
    for _ in range(2):
        writers = [
            subprocess.Popen(command(store, "shared", 20_000), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            for _ in range(chance.choice((1, 1, 2)))
        ]
        time.sleep(0.15 + chance.random() * 0.6)
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
        outputs += [writer.communicate()[0] for writer in writers]
    assert_survived(store, b"".join(outputs))


@pytest.mark.parametrize("seed", [0, 3, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2, 4, 5))])
def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path, seed: int) -> None:
    killed_round(tmp_path / "store", seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 300))
def test_a_killed_writer_loses_nothing_it_acknowledged_200_times(tmp_path: Path, seed: int) -> None:
    killed_round(tmp_path / "store", seed)


def test_a_full_disk_stops_the_recording_and_harms_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    result = subprocess.run(command(store, "full", 400, "small-disk"), capture_output=True, timeout=120, check=False)
    assert result.returncode == 1
    assert b"cannot append" in result.stderr or b"cannot write" in result.stderr
    assert_survived(store, result.stdout)


# Failing system calls -------------------------------------------------------------------------------------------------


def traced(store: Path, mode: str, *options: str, log: Path) -> subprocess.CompletedProcess[bytes]:
    assert STRACE is not None
    return subprocess.run(
        [STRACE, "-f", "-qq", "-o", str(log), *options, *command(store, "traced", 12, mode)],
        capture_output=True,
        timeout=120,
        check=False,
    )


def counted_calls(tmp_path: Path, mode: str) -> dict[str, tuple[int, int]]:
    """How often each call is made before the writer's work begins, and in all."""
    log = tmp_path / "count.log"
    result = traced(tmp_path / "dry", mode, "-e", f"trace={','.join(CALLS)},stat,newfstatat,statx", log=log)
    assert result.returncode == 0, result.stderr
    counts: dict[str, tuple[int, int]] = {}
    begun = False
    for line in log.read_text(errors="replace").splitlines():
        begun |= "tallystick-begin" in line
        call = line.split("(")[0].split()[-1]
        if call in CALLS:
            before, total = counts.get(call, (0, 0))
            counts[call] = (before + (not begun), total + 1)
    return counts


def fault_cases(counts: dict[str, tuple[int, int]], chance: random.Random, per_call: int) -> list[tuple[str, int]]:
    cases: list[tuple[str, int]] = []
    for call, (before, total) in sorted(counts.items()):
        positions = range(before + 1, total + 1)
        cases += [(call, k) for k in chance.sample(positions, min(per_call, len(positions)))]
    return cases


def run_fault(tmp_path: Path, mode: str, case: tuple[str, int], fault: str) -> None:
    call, k = case
    store = tmp_path / f"{call}-{k}-{fault[-7:]}"
    result = traced(
        store, mode, "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={k}", log=tmp_path / "run.log"
    )
    assert_survived(store, result.stdout)
    shutil.rmtree(store, ignore_errors=True)


def can_trace() -> bool:
    if STRACE is None:
        return False
    probe = subprocess.run([STRACE, "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return probe.returncode == 0


needs_strace = pytest.mark.skipif(not can_trace(), reason="strace is not installed, or may not trace here")


@needs_strace
@pytest.mark.parametrize("mode", ["plain", "erase"])
def test_no_failing_system_call_loses_or_disturbs_anything(tmp_path: Path, mode: str) -> None:
    counts, chance = counted_calls(tmp_path, mode), random.Random(11)
    for call, fault in FEW[mode]:
        (case,) = fault_cases({call: counts[call]}, chance, 1)
        run_fault(tmp_path, mode, case, fault)


@needs_strace
@pytest.mark.soak
@pytest.mark.parametrize("mode", ["plain", "erase"])
def test_no_failing_system_call_loses_or_disturbs_anything_at_many_places(tmp_path: Path, mode: str) -> None:
    cases = fault_cases(counted_calls(tmp_path, mode), random.Random(11), 25)
    assert len(cases) * len(FAULTS) >= 200
    for case in cases:
        for fault in FAULTS:
            run_fault(tmp_path, mode, case, fault)

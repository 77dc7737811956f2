from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tallystick.capture import processes
from tallystick.capture.processes import Holders, ProcessTree, Seen, adopt_orphans

PATIENCE_S = 20


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()


def shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def seen_until(tree: ProcessTree, *wanted: tuple[str, ...]) -> dict[tuple[int, int], Seen]:
    """What is seen, until processes with these arguments were, or a long time has passed."""
    found: dict[tuple[int, int], Seen] = {}
    until = time.monotonic() + PATIENCE_S
    while not {seen.args for seen in found.values()} >= set(wanted) and time.monotonic() < until:
        found |= {seen.key: seen for seen in tree.look()}
        time.sleep(tree.pause)
    return found


def test_the_processes_below_a_command_are_seen_with_their_parents(started: list[subprocess.Popen[bytes]]) -> None:
    tree = ProcessTree()
    command = shell("sleep 60 & (sleep 61; true) & wait")
    started.append(subprocess.Popen(command))
    root = tree.begin(started[0].pid, command)
    assert (root.pid, root.args, root.parent) == (started[0].pid, tuple(command), None)
    found = seen_until(tree, ("sleep", "60"), ("sleep", "61"))
    below = {seen.args: seen for seen in found.values()}
    assert below["sleep", "60"].parent == root.key
    inner = below["sleep", "61"].parent
    assert inner is not None
    assert found[inner].parent == root.key
    assert tree.left() == 3


def test_other_processes_are_nobodys(started: list[subprocess.Popen[bytes]]) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(shell("read x; sleep 60 & echo $!; wait"), stdin=pipe, stdout=pipe) as other:
        tree = ProcessTree()
        started.append(subprocess.Popen(shell("sleep 61 & wait")))
        tree.begin(started[0].pid, ["sh"])
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdin.write(b"go\n")
        other.stdin.flush()
        stranger = int(other.stdout.readline())
        pids = {seen.pid for seen in seen_until(tree, ("sleep", "61")).values()}
        assert pids
        assert not pids & {stranger, other.pid}
        os.kill(stranger, signal.SIGKILL)
        other.kill()


def test_a_command_that_has_ended_at_once_is_known_all_the_same() -> None:
    tree = ProcessTree()
    process = subprocess.Popen(["true"])
    process.wait()
    assert tree.begin(process.pid, ["true"]).args == ("true",)
    assert tree.look() == []
    assert tree.left() == 0


def test_a_process_that_becomes_another_program_is_told_again(started: list[subprocess.Popen[bytes]]) -> None:
    tree = ProcessTree()
    command = shell("sleep 0.3; exec sleep 60")
    started.append(subprocess.Popen(command))
    root = tree.begin(started[0].pid, command)
    until = time.monotonic() + PATIENCE_S
    again: list[Seen] = []
    while not again and time.monotonic() < until:
        again = [seen for seen in tree.look() if seen.key == root.key and seen.args == ("sleep", "60")]
        time.sleep(0.02)
    assert again


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_an_orphan_stays_in_sight(started: list[subprocess.Popen[bytes]]) -> None:
    script = """
import subprocess, sys, time
from tallystick.capture.processes import ProcessTree, adopt_orphans
assert adopt_orphans()
tree = ProcessTree()
command = ["/bin/sh", "-c", "(sleep 0.5; exec sleep 60) & exit 0"]
process = subprocess.Popen(command)
root = tree.begin(process.pid, command)
process.wait()
time.sleep(0.1)
seen = tree.look()
until = time.monotonic() + 120
while not any(each.args == ("sleep", "60") for each in seen) and time.monotonic() < until:
    time.sleep(0.05)
    seen += tree.look()
print(sorted({each.args[0] for each in seen}), {each.parent == root.key for each in seen if each.args[-1:] == ("60",)})
import os, signal
for each in seen:
    try: os.kill(each.pid, signal.SIGKILL)
    except ProcessLookupError: pass
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "sleep" in done.stdout
    assert "{True}" in done.stdout


def test_arguments_without_end_are_cut(started: list[subprocess.Popen[bytes]]) -> None:
    tree = ProcessTree()
    command = ["/bin/sh", "-c", "sleep 60 & wait", "x" * 100_000]
    started.append(subprocess.Popen(command))
    tree.begin(started[0].pid, ["sh"])
    told = [seen for seen in tree.look() if seen.pid == started[0].pid]
    assert sum(len(arg) for seen in told for arg in seen.args) <= 64 << 10


def test_adopting_is_harmless_where_it_cannot_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not adopt_orphans()


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there are processes named")
HOLD = "import sys; file = open(sys.argv[1], sys.argv[2]); print('open', flush=True); sys.stdin.read()"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def holding(path: Path, mode: str) -> Iterator[int]:
    """A child process that has a file open; its number."""
    command = [sys.executable, "-c", HOLD, str(path), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        yield process.pid


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_child_that_writes_is_named(tmp_path: Path, clock: Clock) -> None:
    holders = Holders(os.getpid(), clock=clock)
    with holding(tmp_path / "a", "w") as pid:
        holders.stir()
        found = holders.of(str(tmp_path / "a"))
        assert found is not None
        assert found.pid == pid
        assert found.name.startswith("python")
        assert holders.of(str(tmp_path / "b")) is None


def test_who_only_reads_is_not_named(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "a").touch()
    holders = Holders(os.getpid(), clock=clock)
    with holding(tmp_path / "a", "r"):
        holders.stir()
        assert holders.of(str(tmp_path / "a")) is None


def test_who_does_not_descend_from_the_process_is_not_named(tmp_path: Path, clock: Clock) -> None:
    with holding(tmp_path / "other", "w") as other, holding(tmp_path / "a", "w"):
        holders = Holders(other, clock=clock)
        holders.stir()
        assert holders.of(str(tmp_path / "a")) is None
        assert holders.of(str(tmp_path / "other")) is not None


def test_this_process_itself_is_not_named(tmp_path: Path, clock: Clock) -> None:
    holders = Holders(os.getpid(), clock=clock)
    with (tmp_path / "a").open("w"):
        holders.stir()
        assert holders.of(str(tmp_path / "a")) is None


def test_a_name_is_forgotten_after_two_seconds(tmp_path: Path, clock: Clock) -> None:
    holders = Holders(os.getpid(), clock=clock)
    with holding(tmp_path / "a", "w"):
        holders.stir()
    clock.now += 1.9
    assert holders.of(str(tmp_path / "a")) is not None
    clock.now += 0.2
    assert holders.of(str(tmp_path / "a")) is None


def test_there_is_sampling_only_for_a_while_after_effects(tmp_path: Path, clock: Clock) -> None:
    holders = Holders(os.getpid(), clock=clock)
    with holding(tmp_path / "a", "w"):
        holders.tick()
        assert holders.of(str(tmp_path / "a")) is None
        holders.stir()
    with holding(tmp_path / "b", "w"):
        clock.now += 0.5
        holders.tick()
        assert holders.of(str(tmp_path / "b")) is not None
    with holding(tmp_path / "c", "w"):
        clock.now += 5
        holders.tick()
        assert holders.of(str(tmp_path / "c")) is None


def test_sampling_takes_a_small_share_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    holders = Holders(os.getpid(), clock=clock)
    samples = []

    def slow(now: float) -> None:
        samples.append(now)
        clock.now += 0.1

    monkeypatch.setattr(holders, "_sample", slow)
    for _ in range(300):
        holders.stir()
        clock.now += 0.02
    assert 0 < len(samples) * 0.1 / (clock.now - 100.0) < 0.07


def test_a_process_that_is_gone_has_nothing_open(clock: Clock) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    holders = Holders(process.pid, clock=clock)
    holders.stir()
    assert holders.of("/dev/null") is None


def test_more_paths_than_are_remembered_are_forgotten(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_MOST_PATHS", 0)
    holders = Holders(os.getpid(), clock=clock)
    with holding(tmp_path / "a", "w"):
        holders.stir()
    clock.now += 0.5
    with holding(tmp_path / "b", "w"):
        holders.tick()
    assert holders.of(str(tmp_path / "a")) is None
    assert holders.of(str(tmp_path / "b")) is not None
